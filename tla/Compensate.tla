----------------------------- MODULE Compensate -----------------------------
(***************************************************************************)
(* One operation at a provider that has no keys, whose client cannot wait  *)
(* until a lost send is dead: it is sent again at once, which may charge   *)
(* twice, and what was charged too much is given back.  "One net charge"   *)
(* holds in the end and not always; this module says when, and what it     *)
(* takes.  It is the design journal-and-compensate of the gallery.         *)
(*                                                                         *)
(*  - Before the first send two things are known to be stored: a second    *)
(*    record, the audit, and in the operation's record the mark `sent'.    *)
(*  - Who finds the lease over looks up, completes with the oldest charge  *)
(*    it finds, and sends again if it finds none: at once before the       *)
(*    second lease ends, and later only if no other send can land.         *)
(*  - The kept charge is journaled with the reply, and only then is every  *)
(*    other one refunded, in full and by its id.                           *)
(*  - A refund without an answer is looked up before it is repeated.       *)
(*    Where the provider would then give back twice, refunds are sent as   *)
(*    charges are: the audit is taken over first, and taken over again     *)
(*    only when all that was asked for is dead.                            *)
(*  - The audit ends when the operation is final, its sends are dead and   *)
(*    look-up shows nothing to give back.                                  *)
(*                                                                         *)
(* What is kept small, and why nothing is lost by it, as in ChargeOnce:    *)
(* clocks are facts that come true, losing a message is not delivering it, *)
(* a write without acknowledgement goes into the set `late'.  Beyond that: *)
(*  - A run remembers whether the record is as it has read it, which is    *)
(*    all that a compare-and-swap asks; so nothing is counted.             *)
(*  - To find the lease over, to read the clock and to look up is one      *)
(*    step.  What is decided on older knowledge is refused by the compare- *)
(*    and-swap, or is the same decision made sooner.                       *)
(*  - A run whose clock is behind may send while others see its lease      *)
(*    over: as if it had sent before, and the message were slow.           *)
(*  - "In progress" tells nothing and ends the run.  An attempt that hears *)
(*    it and an audit that only says when it is due next are left out.     *)
(*  - A message somebody waits for is part of the run that waits: losing   *)
(*    it, or giving it up, is a fault.  The others are only counted.       *)
(*  - Fingerprints, retention and a person's review are the matter of      *)
(*    ChargeOnce.                                                          *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS
    Handlers,        \* how many runs of the handler there may be at once
    Reconcilers,     \* how many runs of the reconciler there may be at once
    Attempts,        \* how often the client asks, not counting for nothing
    Faults,          \* how many faults there may be, of all kinds together
    RollForward,     \* TRUE: the reconciler may charge although nobody asks
    Declines,        \* TRUE: the provider may decline
    RefundsOnce,     \* TRUE: it refuses a second refund of one charge
    RefundKeys,      \* TRUE: it takes refunds under one key for one refund
    Ages,            \* TRUE: the time to try may end
    GivesUp,         \* TRUE: the retry horizon may end
    Persistent       \* TRUE: the client asks until it has its answer

CONSTANTS            \* Defects.  The protocol has none of them.
    NoMark,                \* no mark before the send
    MarkFirst,             \* the mark is stored before the audit
    NoAudit,               \* no audit: who completes gives back what it sees
    AuditUnproven,         \* an audit that was not acknowledged counts as stored
    AuditStopsEarly,       \* the audit ends although a send may land
    AuditBeforeEnd,        \* the audit ends although the operation is open
    AuditClockLast,        \* the audit reads the clock after its look-up
    RefundOwnChoice,       \* each audit chooses which charge stays
    RefundBeforeComplete,  \* refunds before it is journaled which charge stays
    LoserRefunds,          \* who loses the race gives its own charge back
    RefundAssumed,         \* the audit ends once it has asked for the refunds
    BlindRefundRetry,      \* a refund without an answer is repeated at once
    UnkeyedRefund,         \* refunds have no key
    RefundUnheld,          \* the audit is not taken over before it refunds
    RefundUndead,          \* repeats a refund although the first may land
    RefundAfterLease,      \* refunds although the audit's lease is over
    LaterDeclines,         \* a decline counts although another send may land
    SettleAtOnce,          \* "not found" counts although a send may land
    SendAfterLease,        \* sends although its lease is over
    KeepsNewest,           \* completes with the newest charge that it finds
    NoGuard,               \* sends although the time to try is over
    LeaseIgnored,          \* resolves although the lease runs
    EagerForEver,          \* sends again at once, however often it has
    AuditUnfenced,         \* writes of the audit do not compare its version
    NoReadBack,            \* a write that was not acknowledged counts as applied
    ReadBackIgnoresOwner,  \* the read after it does not ask whose record it is
    NoFence,               \* updates do not compare the version
    OwnReply,              \* who loses the race tells what it knows itself
    ReplyBeforeSave        \* the client hears the provider's answer first

CONSTANTS            \* Assumptions that are dropped.
    BreakA2,               \* a message outlives its lifetime
    BreakA3,               \* the registry loses an audit that it acknowledged
    BreakA5,               \* look-up hides a charge longer than its lag
    BreakA6                \* the network doubles requests

VARIABLES
    rec,      \* the record of the operation in the registry
    audit,    \* the record of its audit
    late,     \* writes that were not acknowledged and may still be applied
    run,      \* the runs: handlers 1..Handlers, then the reconcilers
    stray,    \* how many charge requests travel that nobody waits for
    ledger,   \* the provider's charges, and the refunds of each
    told,     \* the final replies that were told
    tries,    \* the attempts that are left
    asking,   \* FALSE when the retry horizon is over
    budget    \* the faults that are left

vars == <<rec, audit, late, run, stray, ledger, told, tries, asking, budget>>

-----------------------------------------------------------------------------
(* Values *)

Clients == 1..Handlers
Sweeps  == (Handlers + 1)..(Handlers + Reconcilers)
Slots   == Clients \union Sweeps
Gone    == 0                        \* the owner of what a finished run wrote

Answer(says, charge) == [says |-> says, charge |-> charge]
Nothing  == Answer("-", 0)
Paid(i)  == Answer("paid", i)
Declined == Answer("declined", 0)
Final(a) == a.says # "-"

NoRecord == [state |-> "none", owner |-> Gone, lease |-> "-", window |-> "-",
             eager |-> FALSE, reply |-> Nothing]
Terminal == rec.state \in {"succeeded", "declined"}
Open     == rec.state \in {"claimed", "sent"}
LeaseOver == rec.lease \in {"over", "dead"}

(* alone: no other send can land, said the clock. fresh: the record that    *)
(* the run works on, the operation's or the audit's, is as it has read it.  *)
(* todo: the charges that it is going to give back.                         *)
Idle == [pc |-> "idle", step |-> "-", ans |-> Nothing, alone |-> FALSE,
         fresh |-> FALSE, todo |-> {}]

First(s) == CHOOSE i \in s : \A j \in s : i <= j

(* The audit's own places; at all others a run works on the operation.      *)
Auditing(r) == \/ r.pc \in {"hold", "refund", "refunding", "close"}
               \/ r.pc = "read-back" /\ r.step = "hold"

(* Where a second refund would be made, the audit is taken over for each.   *)
Held == ~RefundsOnce /\ ~RefundUnheld

(* A charge stays where the reply names it, and none after a decline.       *)
Kept == IF rec.state = "succeeded" THEN {rec.reply.charge} ELSE {}
Net  == {i \in DOMAIN ledger : ledger[i].refunds = 0}

Travels     == stray > 0 \/ \E h \in Slots : run[h].pc = "sent"
Refunding(i) == \/ ledger[i].loose > 0
                \/ \E h \in Slots : run[h].pc = "refunding" /\ First(run[h].todo) = i
RefundTravels == \E i \in DOMAIN ledger : Refunding(i)

Spend(n) == budget >= n /\ budget' = budget - n

-----------------------------------------------------------------------------
Init ==
    /\ rec = NoRecord
    /\ audit = [state |-> "none", lease |-> "-"]
    /\ late = {}
    /\ run = [h \in Slots |-> Idle]
    /\ stray = 0
    /\ ledger = <<>>
    /\ told = {}
    /\ tries = Attempts
    /\ asking = TRUE
    /\ budget = Faults

-----------------------------------------------------------------------------
(* The registry *)

OfAudit(step) == step \in {"audit", "hold", "close"}

(* A write by a run.                                                        *)
Write(h, step) ==
    [step |-> step, owner |-> h,
     reply |-> IF step \in {"complete", "settle"} THEN run[h].ans ELSE Nothing]

Written(w) ==
    LET next == [rec EXCEPT !.owner = w.owner]
    IN CASE w.step = "claim" ->
              [next EXCEPT !.state = "claimed", !.lease = "runs", !.window = "open", !.eager = TRUE]
         [] w.step = "take-over" -> [next EXCEPT !.state = IF @ = "claimed" THEN "claimed" ELSE "sent",
                                                 !.lease = "runs", !.eager = EagerForEver, !.reply = Nothing]
         [] w.step = "mark-sent" -> [next EXCEPT !.state = "sent", !.reply = Nothing]
         [] OTHER -> [next EXCEPT !.state = IF w.reply.says = "paid" THEN "succeeded" ELSE "declined",
                                  !.eager = FALSE, !.reply = w.reply]

(* A write makes all others out of date: runs, and writes under way.        *)
Overtaken(h) ==
    [g \in Slots |-> IF g = h \/ Auditing(run[g]) THEN run[g] ELSE [run[g] EXCEPT !.fresh = FALSE]]
AuditOvertaken(h) ==
    [g \in Slots |-> IF g = h \/ ~Auditing(run[g]) THEN run[g] ELSE [run[g] EXCEPT !.fresh = FALSE]]
Remaining      == {w \in late : OfAudit(w.step) \/ (NoFence /\ w.step # "claim")}
AuditRemaining == {w \in late : ~OfAudit(w.step)}

(* Where a run goes on that owns the record in order to send.  A record     *)
(* that is marked has its audit.                                            *)
Sender(h, state, alone) ==
    [run[h] EXCEPT !.pc = CASE state = "sent" -> "charge"
                            [] NoAudit        -> IF NoMark THEN "charge" ELSE "mark-sent"
                            [] MarkFirst      -> "mark-sent"
                            [] OTHER          -> "audit",
                   !.step = "-", !.alone = alone, !.fresh = TRUE]

Telling(a) == [Idle EXCEPT !.pc = "reply", !.ans = a]

(* How a run goes on once its write is applied.                             *)
Went(h, step) ==
    CASE step = "claim"     -> Sender(h, "claimed", TRUE)
      [] step = "take-over" -> Sender(h, rec.state, run[h].alone)
      [] step = "mark-sent" -> [run[h] EXCEPT !.pc = IF MarkFirst THEN "audit" ELSE "charge",
                                              !.step = "-", !.fresh = TRUE]
      [] OTHER -> IF NoAudit /\ h \in Clients /\ run[h].ans.says = "paid"
                  THEN [Telling(run[h].ans) EXCEPT !.pc = "tidy"]
                  ELSE Telling(run[h].ans)

(* The token of a run that is over becomes 0 wherever it was written, and   *)
(* nobody waits for its message any more.                                   *)
Retire(h, r) == [r EXCEPT !.owner = IF @ = h THEN Gone ELSE @]

End(h) ==
    /\ run' = [run EXCEPT ![h] = Idle]
    /\ rec' = Retire(h, rec)
    /\ late' = {Retire(h, w) : w \in late}

-----------------------------------------------------------------------------
(* The handler, and the reconciler where it resolves *)

MayAsk == asking /\ (IF Persistent THEN told = {} ELSE tries > 0)
Asked  == tries' = IF Persistent THEN tries ELSE tries - 1

(* An attempt arrives and claims the operation: insert if absent.           *)
Claim(h) ==
    /\ h \in Clients /\ run[h].pc = "idle" /\ rec.state = "none"
    /\ MayAsk /\ Asked
    /\ rec' = Written(Write(h, "claim"))
    /\ late' = Remaining
    /\ run' = [Overtaken(h) EXCEPT ![h] = Went(h, "claim")]
    /\ UNCHANGED <<audit, stray, ledger, told, asking, budget>>

(* The claim is not acknowledged: it may land, now or later.                *)
ClaimUnanswered(h) ==
    /\ h \in Clients /\ run[h].pc = "idle" /\ rec.state = "none"
    /\ MayAsk /\ Asked /\ Spend(1)
    /\ late' = late \union {Write(h, "claim")}
    /\ run' = [run EXCEPT ![h] = IF NoReadBack THEN [Went(h, "claim") EXCEPT !.fresh = FALSE]
                                 ELSE [Idle EXCEPT !.pc = "read-back", !.step = "claim"]]
    /\ UNCHANGED <<rec, audit, stray, ledger, told, asking>>

(* An attempt finds the operation finished and is told the stored reply.    *)
Replay(h) ==
    /\ h \in Clients /\ run[h].pc = "idle" /\ Terminal
    /\ MayAsk /\ Asked
    /\ told' = told \union {rec.reply}
    /\ UNCHANGED <<rec, audit, late, run, stray, ledger, asking, budget>>

(* What a run decides that has found the lease over, read the clock and     *)
(* looked up, and was shown a charge or none.                               *)
Decided(h, shown) ==
    LET dead   == rec.lease = "dead"
        alone  == dead \/ rec.state = "claimed"
        wanted == h \in Clients \/ RollForward
        open   == rec.window = "open" \/ NoGuard
        me(pc) == [Idle EXCEPT !.pc = pc, !.fresh = TRUE]
    IN CASE shown -> [me("complete") EXCEPT !.ans = Paid(IF KeepsNewest THEN Len(ledger) ELSE 1)]
         [] wanted /\ open /\ (alone \/ rec.eager) -> [me("take-over") EXCEPT !.alone = alone]
         [] (dead \/ SettleAtOnce) /\ (~asking \/ ~open) -> [me("settle") EXCEPT !.ans = Declined]
         [] OTHER -> Idle

ResolveAs(h, shown) ==
    /\ run[h].pc = "idle" /\ Open
    /\ LeaseOver \/ (LeaseIgnored /\ h \in Clients)
    /\ Decided(h, shown) # Idle
    /\ IF h \in Clients THEN MayAsk /\ Asked ELSE UNCHANGED tries
    /\ run' = [run EXCEPT ![h] = Decided(h, shown)]
    /\ UNCHANGED <<rec, audit, late, stray, ledger, told, asking, budget>>

(* A retry, or a sweep, finds the lease over; charges are shown oldest      *)
(* first.                                                                   *)
Resolve(h) == ResolveAs(h, ledger # <<>>)

(* While a send may still land, look-up may not yet show what has landed.   *)
ResolveLags(h) ==
    /\ ledger # <<>>
    /\ rec.lease # "dead" \/ BreakA5
    /\ ResolveAs(h, FALSE)

(* The audit is stored before anything is sent.  One that is there already  *)
(* is as good.                                                              *)
Audited(h) ==
    [run[h] EXCEPT !.pc = IF NoMark \/ MarkFirst THEN "charge" ELSE "mark-sent", !.step = "-"]
NewAudit   == [state |-> "open", lease |-> IF Held THEN "dead" ELSE "-"]

InsertAudit(h) ==
    /\ run[h].pc = "audit"
    /\ audit' = IF audit.state = "none" THEN NewAudit ELSE audit
    /\ late' = IF audit.state = "none" THEN AuditRemaining ELSE late
    /\ run' = [run EXCEPT ![h] = Audited(h)]
    /\ UNCHANGED <<rec, stray, ledger, told, tries, asking, budget>>

InsertAuditUnanswered(h) ==
    /\ run[h].pc = "audit"
    /\ Spend(1)
    /\ late' = IF audit.state = "none"
               THEN late \union {[step |-> "audit", owner |-> Gone, reply |-> Nothing]} ELSE late
    /\ run' = [run EXCEPT ![h] = IF AuditUnproven THEN Audited(h)
                                 ELSE [run[h] EXCEPT !.pc = "read-back", !.step = "audit"]]
    /\ UNCHANGED <<rec, audit, stray, ledger, told, tries, asking>>

(* An update: compare-and-swap on the record as it was read.  A conflict,   *)
(* too, is followed by a read.                                              *)
Update(h, step) ==
    /\ IF run[h].fresh \/ (NoFence /\ rec.state # "none")
       THEN /\ rec' = Written(Write(h, step))
            /\ late' = Remaining
            /\ run' = [Overtaken(h) EXCEPT ![h] = Went(h, step)]
       ELSE /\ run' = [run EXCEPT ![h].pc = "read-back", ![h].step = step]
            /\ UNCHANGED <<rec, late>>
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

TakeOver(h) == run[h].pc = "take-over" /\ Update(h, "take-over") \* a new owner, in order to send
MarkSent(h) == run[h].pc = "mark-sent" /\ Update(h, "mark-sent") \* a send may follow
Complete(h) == run[h].pc = "complete"  /\ Update(h, "complete")  \* the reply, and with it the kept charge
Settle(h)   == run[h].pc = "settle"    /\ Update(h, "settle")    \* not charged: nothing found, all sends dead

(* An update is not acknowledged: it may land, now or later, while the      *)
(* record is as it was read.                                                *)
UpdateUnanswered(h) ==
    /\ run[h].pc \in {"take-over", "mark-sent", "complete", "settle"}
    /\ run[h].fresh \/ (NoFence /\ rec.state # "none")
    /\ Spend(1)
    /\ late' = late \union {Write(h, run[h].pc)}
    /\ run' = [run EXCEPT ![h] =
          IF NoReadBack THEN [Went(h, run[h].pc) EXCEPT !.fresh = FALSE]
          ELSE [run[h] EXCEPT !.pc = "read-back", !.step = run[h].pc, !.fresh = FALSE]]
    /\ UNCHANGED <<rec, audit, stray, ledger, told, tries, asking>>

(* The state that a write of this step leaves.                              *)
Target(h, step) ==
    CASE step = "claim"     -> {"claimed"}
      [] step = "take-over" -> {"claimed", "sent"}
      [] step = "mark-sent" -> {"sent"}
      [] OTHER -> {IF run[h].ans.says = "paid" THEN "succeeded" ELSE "declined"}

(* The read after a write that was not acknowledged as applied: go on only  *)
(* if the record shows this run's token in the state that it wrote.  Who    *)
(* lost the race tells the winner's reply.                                  *)
ReadBack(h) ==
    /\ run[h].pc = "read-back" /\ run[h].step \notin {"audit", "hold"}
    /\ LET step == run[h].step
           mine == /\ rec.state \in Target(h, step)
                   /\ ReadBackIgnoresOwner \/ rec.owner = h
           own  == run[h].ans
       IN CASE mine -> /\ run' = [run EXCEPT ![h] = Went(h, step)]
                       /\ UNCHANGED <<rec, late>>
            [] ~mine /\ LoserRefunds /\ own.says = "paid" ->
                 /\ run' = [run EXCEPT ![h] = [Idle EXCEPT !.pc = "refund", !.todo = {own.charge},
                                                          !.ans = IF h \in Clients THEN rec.reply ELSE Nothing]]
                 /\ UNCHANGED <<rec, late>>
            [] ~mine /\ OwnReply /\ Final(own) /\ h \in Clients ->
                 /\ run' = [run EXCEPT ![h] = Telling(own)]
                 /\ UNCHANGED <<rec, late>>
            [] ~mine /\ Terminal /\ h \in Clients ->
                 /\ run' = [run EXCEPT ![h] = Telling(rec.reply)]
                 /\ UNCHANGED <<rec, late>>
            [] OTHER -> End(h)
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

(* The same for the audit.  Whoever has inserted it, it is there.           *)
ReadAuditBack(h) ==
    /\ run[h].pc = "read-back" /\ run[h].step = "audit"
    /\ IF audit.state # "none"
       THEN run' = [run EXCEPT ![h] = Audited(h)] /\ UNCHANGED <<rec, late>>
       ELSE End(h)
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

(* The send, once per run and only while its lease and the time to try run. *)
Charge(h) ==
    /\ run[h].pc = "charge"
    /\ IF /\ \/ run[h].fresh /\ rec.lease = "runs"
             \/ SendAfterLease
             \/ NoReadBack /\ rec.lease \in {"-", "runs"}
          /\ NoGuard \/ rec.window # "closed"
       THEN run' = [run EXCEPT ![h].pc = "sent"] /\ UNCHANGED <<rec, late>>
       ELSE End(h)
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

(* The request reaches the provider, and its sender hears the answer.       *)
(* Approved is definite.  Declined is definite if no other send can land;   *)
(* otherwise it is nothing.                                                 *)
LandApproved(h) ==
    /\ run[h].pc = "sent"
    /\ ledger' = Append(ledger, [refunds |-> 0, loose |-> 0])
    /\ run' = [run EXCEPT ![h].pc = "complete", ![h].alone = FALSE, ![h].ans = Paid(Len(ledger) + 1)]
    /\ UNCHANGED <<rec, audit, late, stray, told, tries, asking, budget>>

LandDeclined(h) ==
    /\ run[h].pc = "sent" /\ Declines
    /\ IF run[h].alone \/ LaterDeclines
       THEN /\ run' = [run EXCEPT ![h].pc = "complete", ![h].alone = FALSE, ![h].ans = Declined]
            /\ UNCHANGED <<rec, late>>
       ELSE End(h)
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

(* The request is lost: the sender waits in vain.                           *)
Lost(h) ==
    /\ run[h].pc = "sent"
    /\ Spend(1)
    /\ End(h)
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking>>

(* The sender gives up on an answer, and the request is still under way (or *)
(* its answer was lost, which is the same thing seen later).                *)
TimeOut(h) ==
    /\ run[h].pc = "sent"
    /\ Spend(1)
    /\ End(h)
    /\ stray' = stray + 1
    /\ UNCHANGED <<audit, ledger, told, tries, asking>>

(* The run is over: the final reply is told to whoever asked.               *)
Reply(h) ==
    /\ run[h].pc = "reply"
    /\ told' = IF h \in Clients THEN told \union {run[h].ans} ELSE told
    /\ End(h)
    /\ UNCHANGED <<audit, stray, ledger, tries, asking, budget>>

(* The defect of telling first and saving then.                             *)
ReplyEarly(h) ==
    /\ ReplyBeforeSave
    /\ run[h].pc = "complete" /\ h \in Clients
    /\ told' = told \union {run[h].ans}
    /\ UNCHANGED <<rec, audit, late, run, stray, ledger, tries, asking, budget>>

(* A process dies; what it had in memory is lost, what it sent is not.      *)
Crash(h) ==
    /\ run[h].pc # "idle"
    /\ Spend(1)
    /\ End(h)
    /\ stray' = IF run[h].pc = "sent" THEN stray + 1 ELSE stray
    /\ ledger' = IF run[h].pc = "refunding" THEN [ledger EXCEPT ![First(run[h].todo)].loose = @ + 1] ELSE ledger
    /\ UNCHANGED <<audit, told, tries, asking>>

-----------------------------------------------------------------------------
(* The audit *)

(* What is to be given back: every charge that look-up shows and does not   *)
(* show as refunded, but the kept one.                                      *)
Surplus(shown, hides, keep) ==
    {i \in 1..shown : i \notin keep /\ (hides \/ ledger[i].refunds = 0)}

(* One look at the audit: the clock, the operation, the look-up, and what   *)
(* follows.  Nothing is given back before the operation is final.           *)
AuditAs(h, shown, hides, keep) ==
    LET todo  == Surplus(shown, hides, keep)
        dead  == rec.lease = "dead" \/ AuditStopsEarly
        me(pc) == [Idle EXCEPT !.pc = pc, !.fresh = TRUE, !.todo = todo, !.alone = RefundAssumed /\ todo # {} /\ dead]
    IN /\ h \in Sweeps /\ run[h].pc = "idle" /\ audit.state = "open"
       /\ IF todo # {}
          THEN /\ Terminal \/ RefundBeforeComplete
               /\ Held => audit.lease = "dead" \/ RefundUndead
               /\ run' = [run EXCEPT ![h] = me(IF Held THEN "hold" ELSE "refund")]
          ELSE /\ Terminal \/ AuditBeforeEnd
               /\ dead \/ AuditClockLast
               /\ run' = [run EXCEPT ![h] = me("close")]
       /\ UNCHANGED <<rec, audit, late, stray, ledger, told, tries, asking>>

(* Which charge stays is what the reply says, and nobody's own choice.      *)
Keeps(shown) ==
    IF RefundOwnChoice /\ shown > 0 THEN {{i} : i \in 1..shown}
    ELSE IF ~Terminal /\ shown > 0 THEN {{1}} ELSE {Kept}

Audit(h) ==
    \E keep \in Keeps(Len(ledger)) : AuditAs(h, Len(ledger), FALSE, keep) /\ UNCHANGED budget

(* While a send may still land, look-up may not yet show what has landed.   *)
AuditLags(h) ==
    \E shown \in 0..(Len(ledger) - 1) :
        /\ rec.lease # "dead" \/ BreakA5
        /\ \E keep \in Keeps(shown) : AuditAs(h, shown, FALSE, keep) /\ UNCHANGED budget

(* Nor, and that is counted as a fault, that a charge was refunded.         *)
AuditHides(h) ==
    \E keep \in Keeps(Len(ledger)) :
        /\ ~\A i \in DOMAIN ledger : ledger[i].refunds = 0
        /\ Held => audit.lease # "dead"
        /\ Spend(1)
        /\ AuditAs(h, Len(ledger), TRUE, keep)

(* Where a refund might be made twice the audit is taken over first, so     *)
(* that no two runs refund at once.                                         *)
Hold(h) ==
    /\ run[h].pc = "hold"
    /\ IF run[h].fresh \/ AuditUnfenced
       THEN /\ audit' = [audit EXCEPT !.lease = "runs"]
            /\ late' = AuditRemaining
            /\ run' = [AuditOvertaken(h) EXCEPT ![h].pc = "refund", ![h].fresh = TRUE]
       ELSE /\ run' = [run EXCEPT ![h] = Idle]
            /\ UNCHANGED <<audit, late>>
    /\ UNCHANGED <<rec, stray, ledger, told, tries, asking, budget>>

HoldUnanswered(h) ==
    /\ run[h].pc = "hold" /\ run[h].fresh
    /\ Spend(1)
    /\ late' = late \union {Write(h, "hold")}
    /\ run' = [run EXCEPT ![h] =
          IF NoReadBack THEN [run[h] EXCEPT !.pc = "refund", !.fresh = FALSE]
          ELSE [run[h] EXCEPT !.pc = "read-back", !.step = "hold", !.fresh = FALSE]]
    /\ UNCHANGED <<rec, audit, stray, ledger, told, tries, asking>>

(* The read after it: at this place a run is fresh if its own token is what *)
(* the audit shows, see LandLateAudit.                                      *)
ReadHoldBack(h) ==
    /\ run[h].pc = "read-back" /\ run[h].step = "hold"
    /\ IF run[h].fresh \/ (ReadBackIgnoresOwner /\ audit.state = "open")
       THEN /\ run' = [run EXCEPT ![h].pc = "refund", ![h].step = "-", ![h].fresh = TRUE]
            /\ UNCHANGED <<rec, late>>
       ELSE End(h)
    /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

(* What a run does once it has asked for the first refund of its list.      *)
AfterRefund(h, todo) ==
    CASE todo # {}              -> [run[h] EXCEPT !.pc = "refund", !.todo = todo]
      [] todo = {} /\ h \in Sweeps /\ run[h].alone -> [run[h] EXCEPT !.pc = "close", !.todo = {}, !.alone = FALSE]
      [] todo = {} /\ Final(run[h].ans) -> Telling(run[h].ans)
      [] OTHER                  -> Idle

(* A refund is asked for, in full and by the charge's id, from which its    *)
(* key is derived.                                                          *)
Refund(h) ==
    /\ run[h].pc = "refund"
    /\ run' = [run EXCEPT ![h] =
          IF ~Held \/ (run[h].fresh /\ audit.lease = "runs") \/ RefundAfterLease \/ NoReadBack
          THEN [run[h] EXCEPT !.pc = "refunding"] ELSE Idle]
    /\ UNCHANGED <<rec, audit, late, stray, ledger, told, tries, asking, budget>>

(* The provider gives the charge back: again, unless it refuses that or     *)
(* knows the key.  2 stands for more.                                       *)
Bound == RefundsOnce \/ (RefundKeys /\ ~UnkeyedRefund)
Refunded(i) ==
    [ledger EXCEPT ![i].refunds = IF @ = 0 THEN 1 ELSE IF Bound THEN @ ELSE 2]

LandRefund(h) ==
    /\ run[h].pc = "refunding"
    /\ LET i == First(run[h].todo)
       IN /\ ledger' = Refunded(i)
          /\ run' = [run EXCEPT ![h] = AfterRefund(h, run[h].todo \ {i})]
    /\ UNCHANGED <<rec, audit, late, stray, told, tries, asking, budget>>

(* A refund is lost, or its sender gives up on an answer.  It is not        *)
(* repeated: a later audit looks up first.                                  *)
Unanswered(h) == AfterRefund(h, IF BlindRefundRetry THEN run[h].todo ELSE run[h].todo \ {First(run[h].todo)})

RefundLost(h) ==
    /\ run[h].pc = "refunding"
    /\ Spend(1)
    /\ run' = [run EXCEPT ![h] = Unanswered(h)]
    /\ UNCHANGED <<rec, audit, late, stray, ledger, told, tries, asking>>

RefundTimeOut(h) ==
    /\ run[h].pc = "refunding"
    /\ Spend(1)
    /\ run' = [run EXCEPT ![h] = Unanswered(h)]
    /\ ledger' = [ledger EXCEPT ![First(run[h].todo)].loose = @ + 1]
    /\ UNCHANGED <<rec, audit, late, stray, told, tries, asking>>

(* The audit is over: no more charges can come, and none is left over.      *)
Close(h) ==
    /\ run[h].pc = "close"
    /\ IF (run[h].fresh \/ AuditUnfenced) /\ (AuditClockLast => rec.lease = "dead")
       THEN /\ audit' = [state |-> "done", lease |-> "-"]
            /\ late' = AuditRemaining
            /\ run' = [AuditOvertaken(h) EXCEPT ![h] = Idle]
       ELSE /\ run' = [run EXCEPT ![h] = Idle]
            /\ UNCHANGED <<audit, late>>
    /\ UNCHANGED <<rec, stray, ledger, told, tries, asking, budget>>

(* Unacknowledged, it is left to a later audit.                             *)
CloseUnanswered(h) ==
    /\ run[h].pc = "close" /\ run[h].fresh
    /\ Spend(1)
    /\ late' = late \union {[step |-> "close", owner |-> Gone, reply |-> Nothing]}
    /\ run' = [run EXCEPT ![h] = Idle]
    /\ UNCHANGED <<rec, audit, stray, ledger, told, tries, asking>>

(* The defect of having no audit: who completes looks once and gives back   *)
(* what it sees then.                                                       *)
Tidy(h) ==
    /\ run[h].pc = "tidy"
    /\ \E shown \in 0..Len(ledger) :
         /\ shown = Len(ledger) \/ rec.lease # "dead"
         /\ LET todo == Surplus(shown, FALSE, {run[h].ans.charge})
            IN run' = [run EXCEPT ![h] = IF todo = {} THEN Telling(run[h].ans)
                                         ELSE [run[h] EXCEPT !.pc = "refund", !.todo = todo]]
    /\ UNCHANGED <<rec, audit, late, stray, ledger, told, tries, asking, budget>>

-----------------------------------------------------------------------------
(* The network, and writes that land late *)

(* A charge request that nobody waits for lands and is approved.            *)
LandStray ==
    /\ stray > 0
    /\ stray' = stray - 1
    /\ ledger' = Append(ledger, [refunds |-> 0, loose |-> 0])
    /\ UNCHANGED <<rec, audit, late, run, told, tries, asking, budget>>

(* It is lost, or declined.                                                 *)
LoseStray ==
    /\ stray > 0
    /\ stray' = stray - 1
    /\ UNCHANGED <<rec, audit, late, run, ledger, told, tries, asking, budget>>

(* A refund that nobody waits for is made after all, or is lost.            *)
LandLooseRefund ==
    \E i \in DOMAIN ledger :
        /\ ledger[i].loose > 0
        /\ ledger' = [Refunded(i) EXCEPT ![i].loose = @ - 1]
        /\ UNCHANGED <<rec, audit, late, run, stray, told, tries, asking, budget>>

LoseLooseRefund ==
    \E i \in DOMAIN ledger :
        /\ ledger[i].loose > 0
        /\ ledger' = [ledger EXCEPT ![i].loose = @ - 1]
        /\ UNCHANGED <<rec, audit, late, run, stray, told, tries, asking, budget>>

(* Assumption A6 dropped: something below the service doubles a request.    *)
Duplicate ==
    /\ BreakA6 /\ Travels
    /\ Spend(1)
    /\ stray' = stray + 1
    /\ UNCHANGED <<rec, audit, late, run, ledger, told, tries, asking>>

(* A refund may be doubled where the provider is meant to notice.           *)
DuplicateRefund ==
    \E i \in DOMAIN ledger :
        /\ (RefundsOnce \/ RefundKeys \/ BreakA6) = TRUE
        /\ Refunding(i) = TRUE
        /\ Spend(1)
        /\ ledger' = [ledger EXCEPT ![i].loose = @ + 1]
        /\ UNCHANGED <<rec, audit, late, run, stray, told, tries, asking>>

(* A write that was not acknowledged is applied after all.                  *)
LandLate ==
    \E w \in late :
        /\ ~OfAudit(w.step)
        /\ rec' = Written(w)
        /\ late' = Remaining \ {w}
        /\ run' = Overtaken(Gone)
        /\ UNCHANGED <<audit, stray, ledger, told, tries, asking, budget>>

LandLateAudit ==
    \E w \in late :
        /\ OfAudit(w.step)
        /\ audit' = CASE w.step = "audit" -> NewAudit
                      [] w.step = "hold"  -> [audit EXCEPT !.lease = "runs"]
                      [] OTHER            -> [state |-> "done", lease |-> "-"]
        /\ late' = AuditRemaining
        /\ run' = [h \in Slots |-> IF w.step = "hold" /\ w.owner = h
                                   THEN [run[h] EXCEPT !.fresh = TRUE] ELSE AuditOvertaken(Gone)[h]]
        /\ UNCHANGED <<rec, stray, ledger, told, tries, asking, budget>>

(* Assumption A3 dropped: a failover loses an acknowledged audit.           *)
Failover ==
    /\ BreakA3
    /\ audit.state # "none"
    /\ Spend(1)
    /\ audit' = [state |-> "none", lease |-> "-"]
    /\ late' = AuditRemaining
    /\ run' = AuditOvertaken(Gone)
    /\ UNCHANGED <<rec, stray, ledger, told, tries, asking>>

-----------------------------------------------------------------------------
(* Time *)

(* The lease ends: by itself when its owner is gone, and as a fault (a      *)
(* pause, a slow call) while the owner lives.                               *)
Lapse ==
    /\ rec.lease = "runs"
    /\ rec' = [rec EXCEPT !.lease = "over"]
    /\ UNCHANGED <<audit, late, run, stray, ledger, told, tries, asking>>

LeaseEnds      == rec.owner = Gone /\ Spend(0) /\ Lapse
LeaseEndsEarly == rec.owner # Gone /\ Spend(1) /\ Lapse

(* Every send that a lease permitted has landed or is lost, and is shown.   *)
SendsDie ==
    /\ rec.lease = "over"
    /\ ~Travels \/ BreakA2
    /\ rec' = [rec EXCEPT !.lease = "dead"]
    /\ UNCHANGED <<audit, late, run, stray, ledger, told, tries, asking, budget>>

(* Two leases after the claim.  Who has taken the record over before has    *)
(* moved its lease beyond that, so nobody sends again at once twice.        *)
HurryEnds ==
    /\ rec.eager /\ LeaseOver /\ ~EagerForEver
    /\ rec' = [rec EXCEPT !.eager = FALSE]
    /\ UNCHANGED <<audit, late, run, stray, ledger, told, tries, asking, budget>>

(* The time to try is over: from now on nobody may send.                    *)
WindowCloses ==
    /\ Ages
    /\ Open /\ rec.window = "open"
    /\ rec' = [rec EXCEPT !.window = "closed"]
    /\ UNCHANGED <<audit, late, run, stray, ledger, told, tries, asking, budget>>

(* The retry horizon is over: nobody asks any more.                         *)
HorizonEnds ==
    /\ GivesUp
    /\ asking /\ rec.state # "none"
    /\ asking' = FALSE
    /\ UNCHANGED <<rec, audit, late, run, stray, ledger, told, tries, budget>>

(* The lease under which refunds are sent ends, and then they die.          *)
Refunds == ~\A h \in Sweeps : run[h].pc \in {"refund", "refunding", "read-back"} => ~run[h].fresh

AuditLapse ==
    /\ audit.lease = "runs"
    /\ audit' = [audit EXCEPT !.lease = "over"]
    /\ UNCHANGED <<rec, late, run, stray, ledger, told, tries, asking>>

AuditLeaseEnds      == ~Refunds /\ Spend(0) /\ AuditLapse
AuditLeaseEndsEarly == Refunds  /\ Spend(1) /\ AuditLapse

RefundsDie ==
    /\ audit.lease = "over"
    /\ ~RefundTravels \/ BreakA2
    /\ audit' = [audit EXCEPT !.lease = "dead"]
    /\ UNCHANGED <<rec, late, run, stray, ledger, told, tries, asking, budget>>

-----------------------------------------------------------------------------
(* What a run does by itself once it was begun.                             *)
Step(h) ==
    \/ InsertAudit(h) \/ TakeOver(h) \/ MarkSent(h) \/ Charge(h)
    \/ LandApproved(h) \/ LandDeclined(h) \/ ReadBack(h) \/ ReadAuditBack(h)
    \/ Complete(h) \/ Settle(h) \/ Reply(h)
    \/ Hold(h) \/ ReadHoldBack(h) \/ Refund(h) \/ LandRefund(h) \/ Close(h) \/ Tidy(h)

Next ==
    \/ \E h \in Slots : Claim(h)
    \/ \E h \in Slots : ClaimUnanswered(h)
    \/ \E h \in Slots : Replay(h)
    \/ \E h \in Slots : Resolve(h)
    \/ \E h \in Slots : ResolveLags(h)
    \/ \E h \in Slots : InsertAudit(h)
    \/ \E h \in Slots : InsertAuditUnanswered(h)
    \/ \E h \in Slots : TakeOver(h)
    \/ \E h \in Slots : MarkSent(h)
    \/ \E h \in Slots : Complete(h)
    \/ \E h \in Slots : Settle(h)
    \/ \E h \in Slots : UpdateUnanswered(h)
    \/ \E h \in Slots : ReadBack(h)
    \/ \E h \in Slots : ReadAuditBack(h)
    \/ \E h \in Slots : Charge(h)
    \/ \E h \in Slots : LandApproved(h)
    \/ \E h \in Slots : LandDeclined(h)
    \/ \E h \in Slots : Lost(h)
    \/ \E h \in Slots : TimeOut(h)
    \/ \E h \in Slots : Reply(h)
    \/ \E h \in Slots : ReplyEarly(h)
    \/ \E h \in Slots : Crash(h)
    \/ \E h \in Slots : Audit(h)
    \/ \E h \in Slots : AuditLags(h)
    \/ \E h \in Slots : AuditHides(h)
    \/ \E h \in Slots : Hold(h)
    \/ \E h \in Slots : HoldUnanswered(h)
    \/ \E h \in Slots : ReadHoldBack(h)
    \/ \E h \in Slots : Refund(h)
    \/ \E h \in Slots : LandRefund(h)
    \/ \E h \in Slots : RefundLost(h)
    \/ \E h \in Slots : RefundTimeOut(h)
    \/ \E h \in Slots : Close(h)
    \/ \E h \in Slots : CloseUnanswered(h)
    \/ \E h \in Slots : Tidy(h)
    \/ LandStray
    \/ LoseStray
    \/ LandLooseRefund
    \/ LoseLooseRefund
    \/ Duplicate
    \/ DuplicateRefund
    \/ LandLate
    \/ LandLateAudit
    \/ Failover
    \/ LeaseEnds
    \/ LeaseEndsEarly
    \/ SendsDie
    \/ HurryEnds
    \/ WindowCloses
    \/ HorizonEnds
    \/ AuditLeaseEnds
    \/ AuditLeaseEndsEarly
    \/ RefundsDie

Spec == Init /\ [][Next]_vars

(* What may be relied on in the end: runs go on, messages arrive or are     *)
(* lost, time passes, the client asks while it has no answer, and the       *)
(* reconciler sweeps.  No fault is fair.                                    *)
Fairness ==
    /\ \A h \in Slots : WF_vars(Step(h))
    /\ \A h \in Clients : WF_vars(Persistent /\ (Claim(h) \/ Resolve(h) \/ Replay(h)))
    /\ WF_vars(\E h \in Sweeps : Resolve(h))
    /\ WF_vars(\E h \in Sweeps : Audit(h))
    /\ WF_vars(LandStray \/ LoseStray)
    /\ WF_vars(LandLooseRefund \/ LoseLooseRefund)
    /\ WF_vars(LeaseEnds)
    /\ WF_vars(SendsDie)
    /\ WF_vars(HurryEnds)
    /\ WF_vars(WindowCloses)
    /\ WF_vars(HorizonEnds)
    /\ WF_vars(AuditLeaseEnds)
    /\ WF_vars(RefundsDie)

FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
(* Safety *)

Charges == 1..(Attempts + Faults + 2)
Replies == {Declined} \union {Paid(i) : i \in Charges}
Steps   == {"-", "claim", "take-over", "mark-sent", "complete", "settle", "audit", "hold", "close"}

(* Every variable has the shape that its comment says.                      *)
TypeOK ==
    /\ rec.state \in {"none", "claimed", "sent", "succeeded", "declined"}
    /\ rec.owner \in Slots \union {Gone}
    /\ rec.lease \in {"-", "runs", "over", "dead"}
    /\ rec.window \in {"-", "open", "closed"}
    /\ rec.eager \in BOOLEAN
    /\ rec.reply \in Replies \union {Nothing}
    /\ (rec.state = "none") = (rec = NoRecord)
    /\ Terminal = Final(rec.reply)
    /\ audit.state \in {"none", "open", "done"}
    /\ audit.lease \in {"-", "runs", "over", "dead"}
    /\ (audit.lease # "-") = (Held /\ audit.state = "open")
    /\ \A w \in late : /\ w.step \in Steps /\ w.owner \in Slots \union {Gone}
                       /\ w.reply \in Replies \union {Nothing}
    /\ DOMAIN run = Slots
    /\ \A h \in Slots :
         /\ run[h].pc \in {"idle", "audit", "read-back", "take-over", "mark-sent", "charge", "sent", "complete",
                           "settle", "reply", "hold", "refund", "refunding", "close", "tidy"}
         /\ run[h].step \in Steps /\ run[h].ans \in Replies \union {Nothing}
         /\ run[h].alone \in BOOLEAN /\ run[h].fresh \in BOOLEAN
         /\ run[h].todo \subseteq DOMAIN ledger
         /\ (run[h].todo # {}) = (Auditing(run[h]) /\ run[h].pc # "close")
    /\ stray \in Nat
    /\ \A i \in DOMAIN ledger : ledger[i].refunds \in 0..2 /\ ledger[i].loose \in Nat
    /\ told \subseteq Replies
    /\ tries \in 0..Attempts
    /\ asking \in BOOLEAN
    /\ budget \in 0..Faults

(* Nothing travels and nobody is at work: what is now the case stays so,    *)
(* unless somebody begins something.                                        *)
Quiet     == ~Travels /\ ~RefundTravels /\ \A h \in Slots : run[h].pc = "idle"
Converged == Terminal /\ audit.state # "open" /\ Quiet

(* When all is over there is at most one net charge: the one that the reply *)
(* names and that was told.                                                 *)
SingleCharge == Converged => Net = Kept /\ told \subseteq {rec.reply}

(* Once the audit is over nothing can come that it would have to see.       *)
AuditIsLast == audit.state = "done" => Terminal /\ ~Travels /\ Net = Kept

(* "Paid" is told only of a charge that was made; "declined" only if there  *)
(* is none, now and later.                                                  *)
TruthfulReply ==
    \A t \in told : IF t.says = "paid" THEN t.charge \in DOMAIN ledger ELSE ledger = <<>>

(* All final replies of the operation are equal.                            *)
StableReply == \A t, u \in told : t = u

(* Nothing is on its way to the provider before the record says `sent' and  *)
(* there is an audit.                                                       *)
SentJournaled == Travels => rec.state \notin {"none", "claimed"} /\ audit.state # "none"

(* Nothing is given back, or asked to be, before the operation is final,    *)
(* and never the charge that its reply names.                               *)
KeptIsJournaled ==
    \A i \in DOMAIN ledger : ledger[i].refunds > 0 \/ Refunding(i) => Terminal /\ i \notin Kept

(* No charge is given back twice, and none that somebody was told of.       *)
BoundedRefunds ==
    /\ \A i \in DOMAIN ledger : ledger[i].refunds <= 1
    /\ \A t \in told : t.charge \in DOMAIN ledger => ledger[t.charge].refunds = 0

(* No two live runs hold the record at once in order to send.               *)
Owns(h) == run[h].pc \in {"audit", "mark-sent", "charge", "sent"} /\ run[h].fresh /\ Open
SingleOwner == \A g, h \in Slots : Owns(g) /\ Owns(h) => g = h

(* A terminal record never changes.                                         *)
TerminalIsFinal ==
    [][Terminal => rec'.state = rec.state /\ rec'.reply = rec.reply]_vars

-----------------------------------------------------------------------------
(* Liveness, under FairSpec *)

(* What was claimed comes to rest: final, the audit over, one net charge.   *)
Converges == <>[](rec.state = "none" \/ (Converged /\ Net = Kept))

(* A client that keeps asking hears a final answer.                         *)
NotWedged == <>(told # {})

-----------------------------------------------------------------------------
(* Situations that must be reachable.  Each is written as its denial, which *)
(* the checker has to refute.                                               *)

NeverTwice      == Cardinality(Net) < 2
NeverGivenBack  == ~(Converged /\ \E i \in DOMAIN ledger : ledger[i].refunds = 1)
NeverLateCharge == ~(\E t \in told : t.says = "paid" /\ Len(ledger) > t.charge)
NeverRefundLost == ~\E i \in DOMAIN ledger : ledger[i].loose > 0
NeverOlderKept  == ~(Converged /\ Len(ledger) = 2 /\ Kept = {1})
NeverNewerKept  == ~(Converged /\ Len(ledger) = 2 /\ Kept = {2})
NeverLostRace   == ~\E h \in Slots : /\ run[h].pc = "read-back" /\ run[h].step = "complete"
                                     /\ Terminal /\ rec.owner # h
NeverSettled    == ~(Converged /\ rec.state = "declined" /\ audit.state = "done")
=============================================================================
