----------------------------- MODULE ChargeOnce -----------------------------
(***************************************************************************)
(* The idempotency-key protocol: one operation, named by one key, that     *)
(* must be charged once although messages are lost, doubled and delayed,   *)
(* processes die at any point, and writes are applied late or without an   *)
(* acknowledgement.                                                        *)
(*                                                                         *)
(* There are no clocks in this module.  What the protocol asks of a clock  *)
(* is "does the lease run?", "may I still send?" and "can no send land     *)
(* any more?"; here each of these is a fact that changes once, by an       *)
(* action of its own, whenever the assumptions allow it.  It comes true    *)
(* when the first clock says so; that another clock is behind and does not *)
(* say so yet is a fault.  How clocks that differ establish these facts is *)
(* the matter of another module.                                           *)
(*                                                                         *)
(* What is kept small, and why nothing is lost by it:                      *)
(*  - Losing a message is not delivering it.                               *)
(*  - A request that travels is an attempt that was not yet begun, so      *)
(*    Claim is arrival and insert in one; a lost reply is a reply.         *)
(*  - An answer of the provider goes into the waiting run at once; one     *)
(*    that is lost or late is a TimeOut.  Errors of the provider (409,     *)
(*    429, 5xx) are answers that say nothing: TimeOut, too.                *)
(*  - A look-up that fails ends the run without effect, as Crash does.     *)
(*  - A write without acknowledgement goes into the set `late'.  It lands  *)
(*    at once, later, or never: all three outcomes of a time-out.          *)
(*  - Owner tokens are fresh for each run.  A token whose run is over      *)
(*    becomes 0 everywhere, which keeps the number of tokens finite.       *)
(*  - A version is written once, so it stands for the pair of version and  *)
(*    owner in every compare-and-swap.                                     *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS
    Handlers,        \* how many runs of the handler there may be at once
    Attempts,        \* how often the client asks, with its parameters "p"
    Others,          \* how often the key comes with other parameters, "q"
    Faults,          \* how many faults there may be, of all kinds together
    Reconciles,      \* TRUE: a reconciler sweeps
    RollForward,     \* TRUE: the reconciler may charge although nobody asks
    Keys,            \* TRUE: the provider collapses equal keys
    StoresDeclines,  \* TRUE: it gives a decline again under the same key
    Declines,        \* TRUE: it may decline
    Lookups,         \* TRUE: it shows its charges
    Foreign,         \* TRUE: it has a charge of somebody else under our key
    Ages,            \* TRUE: the provider's window may end
    GivesUp,         \* TRUE: the retry horizon may end
    Collects,        \* TRUE: finished records are forgotten
    Persistent       \* TRUE: the client asks until it has its answer

CONSTANTS            \* Defects.  The protocol has none of them.
    CheckThenInsert,       \* the claim asks first and overwrites then
    NoReadBack,            \* a write that was not acknowledged counts as applied
    ReadBackIgnoresOwner,  \* the read after it does not ask whose record it is
    OwnerIsProcess,        \* the owner is the process and not the run
    NoFence,               \* updates do not compare the version
    KeyPerSend,            \* each send has a provider key of its own
    NoFingerprint,         \* other parameters are not noticed
    UnknownMeansFailed,    \* no answer counts as a decline
    ReplyBeforeSave,       \* the client hears the provider's answer first
    OwnReply,              \* who loses the race tells what it knows itself
    SettleAtOnce,          \* "not found" counts although a send may land
    ClockAfterLookUp,      \* the clock is read after the look-up
    NoGuard,               \* sends although the provider may have forgotten
    SendAfterLease,        \* sends although its lease is over
    CollectUnfinished,     \* the collector looks only at age
    ShortRetention,        \* a reply is forgotten while a retry may come
    DeleteWhenUnknown,     \* the claim is deleted when no answer came
    NoMark,                \* no mark before the send, where there are no keys
    ResendUnproven,        \* sent again although what was sent may be approved
    AcceptForeign,         \* any charge that look-up shows is taken for ours
    SettleUnseen,          \* settled although the provider has no look-up
    NoResolve,             \* a record whose owner died is in progress for ever
    LeaseIgnored           \* resolves although the lease runs

CONSTANTS            \* Assumptions that are dropped.  The protocol needs all.
    BreakA1,               \* the provider forgets a key within the window
    BreakA2,               \* a message outlives its lifetime
    BreakA3,               \* the registry loses what it acknowledged
    BreakA4,               \* a retry comes after the horizon
    BreakA5,               \* look-up hides a charge longer than its lag
    BreakA6,               \* the network doubles although declines are not stored
    BreakAS                \* a clock is further behind than the skew

VARIABLES
    rec,      \* the record of the operation in the registry
    late,     \* writes that were not acknowledged and may still be applied
    run,      \* the runs: handlers 1..Handlers, then the reconciler
    msgs,     \* charge requests on their way to the provider
    ledger,   \* the provider's charges, in the order in which they were made
    refused,  \* the keys under which the provider has stored a decline
    told,     \* the final replies that were told, and to which parameters
    tries,    \* the attempts that are left
    asking,   \* FALSE when the retry horizon is over
    budget    \* the faults that are left

vars == <<rec, late, run, msgs, ledger, refused, told, tries, asking, budget>>

-----------------------------------------------------------------------------
(* Values *)

Reconciler == Handlers + 1
Slots      == 1..(IF Reconciles THEN Reconciler ELSE Handlers)
Gone       == 0                     \* the owner of what a finished run wrote

Answer(says, charge) == [says |-> says, charge |-> charge]
Nothing    == Answer("-", 0)
Paid(i)    == Answer("paid", i)
Declined   == Answer("declined", 0)
InProgress == Answer("in progress", 0)
Mismatch   == Answer("mismatch", 0)
Final(a)   == a.says \in {"paid", "declined"}

NoRecord == [state |-> "none", ver |-> 0, owner |-> Gone, lease |-> "-",
             window |-> "-", par |-> "-", reply |-> Nothing]
Terminal(r)   == r.state \in {"succeeded", "declined"}
Unfinished(r) == r.state \in {"claimed", "sent", "review"}

Idle == [pc |-> "idle", step |-> "-", par |-> "-", ver |-> 0,
         ans |-> Nothing, may |-> FALSE]

Token(h)  == IF OwnerIsProcess THEN 1 ELSE h
KeyOf(v)  == IF KeyPerSend THEN v ELSE 1
Found(v)  == {i \in DOMAIN ledger : ledger[i].key = KeyOf(v)}
Ours      == {i \in DOMAIN ledger : ledger[i].par # "foreign"}

(* A run that is about to tell a, and what step brought it there. *)
Telling(h, a, step) ==
    [Idle EXCEPT !.pc = "reply", !.par = run[h].par, !.ans = a, !.step = step]

-----------------------------------------------------------------------------
(* The registry: an insert is a write on version 0. *)

Write(h, step, par) ==
    [step |-> step, ver |-> run[h].ver, owner |-> Token(h), par |-> par,
     reply |-> run[h].ans]

Fits(w, r) == \/ r.ver = w.ver
              \/ NoFence /\ w.ver > 0 /\ r.ver > 0

Written(w, r) ==
    LET next == [r EXCEPT !.ver = r.ver + 1, !.owner = w.owner]
    IN CASE w.step = "claim" ->
              [next EXCEPT !.state = "claimed", !.lease = "runs",
                           !.window = "open", !.par = w.par]
         [] w.step = "take-over" ->
              [next EXCEPT !.state = IF r.state = "sent" THEN "sent" ELSE "claimed",
                           !.lease = "runs", !.reply = Nothing]
         [] w.step = "mark-sent" -> [next EXCEPT !.state = "sent"]
         [] w.step = "review"    -> [next EXCEPT !.state = "review"]
         [] OTHER ->
              [next EXCEPT !.state = IF w.reply.says = "paid" THEN "succeeded" ELSE "declined",
                           !.lease = "-", !.reply = w.reply]

(* What may still be applied once the record is r: a version never returns. *)
Remaining(r) == {w \in late : Fits(w, r)}

(* How the run goes on once its write is applied, r being the record then.  *)
(* Whoever has claimed or taken over may send, by its own clock, until no   *)
(* clock's reading permits it any more.                                     *)
Went(h, step, r) ==
    CASE step = "claim" ->
           [run[h] EXCEPT !.pc = IF Keys \/ NoMark THEN "charge" ELSE "mark-sent",
                          !.step = "-", !.ver = r.ver, !.may = r.lease # "dead" \/ BreakAS]
      [] step = "take-over" ->
           [run[h] EXCEPT !.pc = IF Keys \/ NoMark \/ r.state = "sent" THEN "charge" ELSE "mark-sent",
                          !.step = "-", !.ver = r.ver, !.may = r.lease # "dead" \/ BreakAS]
      [] step = "mark-sent" ->
           [run[h] EXCEPT !.pc = "charge", !.step = "-", !.ver = r.ver]
      [] step = "review" -> Telling(h, InProgress, "review")
      [] OTHER           -> Telling(h, run[h].ans, step)

(* How a run follows what somebody else has written. *)
Follow(h, par, r, waited) ==
    LET me == [Idle EXCEPT !.par = par]
        tell(a, step) == [me EXCEPT !.pc = "reply", !.ans = a, !.step = step]
    IN CASE ~NoFingerprint /\ r.par # par -> tell(Mismatch, "-")
         [] Terminal(r)                   -> tell(r.reply, "replay")
         [] r.state = "review"            -> tell(InProgress, "-")
         [] r.lease # "runs" \/ LeaseIgnored ->
              IF NoResolve THEN tell(InProgress, "-")
              ELSE [me EXCEPT !.pc = "look-up", !.ver = r.ver]
         [] waited                        -> tell(InProgress, "-")
         [] OTHER                         -> [me EXCEPT !.pc = "wait"]

(* By a clock that is behind, a lease still runs which another clock has    *)
(* found over; never once it is dead, since that takes longer than clocks   *)
(* can differ.                                                              *)
FollowBehind(h, par, waited) ==
    LET behind == Follow(h, par, [rec EXCEPT !.lease = "runs"], waited)
    IN /\ rec.lease = "over" /\ behind # Follow(h, par, rec, waited)
       /\ run' = [run EXCEPT ![h] = behind]

Spend(n) == budget >= n /\ budget' = budget - n

-----------------------------------------------------------------------------
Init ==
    /\ rec = NoRecord
    /\ late = {}
    /\ run = [h \in Slots |-> Idle]
    /\ msgs = {}
    /\ ledger = IF Foreign THEN <<[key |-> 1, par |-> "foreign", known |-> TRUE]>> ELSE <<>>
    /\ refused = {}
    /\ told = {}
    /\ tries = [p |-> Attempts, q |-> Others]
    /\ asking = TRUE
    /\ budget = Faults

-----------------------------------------------------------------------------
(* The handler *)

(* Whether an attempt with parameters par may arrive.  A persistent client  *)
(* asks again and again, until it has heard its answer.                     *)
MayAsk(par) ==
    /\ asking \/ BreakA4
    /\ IF Persistent /\ par = "p"
       THEN ~\E t \in told : t.par = "p"
       ELSE tries[par] > 0

Asked(par) == tries' = IF Persistent /\ par = "p" THEN tries
                       ELSE [tries EXCEPT ![par] = @ - 1]

(* An attempt arrives and claims the operation: insert if absent.  If       *)
(* somebody has, the run follows what is stored.                            *)
Claim(h, par) ==
    /\ h # Reconciler /\ run[h].pc = "idle" /\ MayAsk(par)
    /\ Asked(par)
    /\ LET w == Write(h, "claim", par)
           r == Written(w, rec)
       IN IF rec.ver = 0 /\ CheckThenInsert
          THEN /\ run' = [run EXCEPT ![h] = [Idle EXCEPT !.pc = "insert", !.par = par]]
               /\ UNCHANGED <<rec, late>>
          ELSE IF rec.ver = 0
          THEN /\ rec' = r
               /\ late' = Remaining(r)
               /\ run' = [run EXCEPT ![h] = [Went(h, "claim", r) EXCEPT !.par = par]]
          ELSE /\ run' = [run EXCEPT ![h] = Follow(h, par, rec, FALSE)]
               /\ UNCHANGED <<rec, late>>
    /\ UNCHANGED <<msgs, ledger, refused, told, asking, budget>>

ClaimBehind(h, par) ==
    /\ h # Reconciler /\ run[h].pc = "idle" /\ MayAsk(par)
    /\ Asked(par)
    /\ Spend(1)
    /\ FollowBehind(h, par, FALSE)
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, asking>>

(* The defect of a claim in two steps: what was not there a moment ago is   *)
(* overwritten now.                                                         *)
Overwrite(h) ==
    /\ run[h].pc = "insert"
    /\ LET r == [Written(Write(h, "claim", run[h].par), rec) EXCEPT !.reply = Nothing]
       IN /\ rec' = r
          /\ late' = Remaining(r)
          /\ run' = [run EXCEPT ![h] = Went(h, "claim", r)]
    /\ UNCHANGED <<msgs, ledger, refused, told, tries, asking, budget>>

(* The claim is not acknowledged: it may land, now or later. *)
ClaimUnanswered(h, par) ==
    /\ h # Reconciler /\ run[h].pc = "idle" /\ MayAsk(par)
    /\ Spend(1)
    /\ Asked(par)
    /\ LET w == Write(h, "claim", par)
       IN /\ late' = IF rec.ver = 0 THEN late \union {w} ELSE late
          /\ run' = [run EXCEPT ![h] =
                IF NoReadBack
                THEN [Went(h, "claim", Written(w, NoRecord)) EXCEPT !.par = par]
                ELSE [Idle EXCEPT !.pc = "read-back", !.step = "claim", !.par = par]]
    /\ UNCHANGED <<rec, msgs, ledger, refused, told, asking>>

(* After a bounded wait for a live owner: read once more, and follow. *)
Wait(h) ==
    /\ run[h].pc = "wait"
    /\ run' = [run EXCEPT ![h] = IF rec.ver = 0 THEN Telling(h, InProgress, "-")
                                 ELSE Follow(h, run[h].par, rec, TRUE)]
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking, budget>>

WaitBehind(h) ==
    /\ run[h].pc = "wait"
    /\ Spend(1)
    /\ FollowBehind(h, run[h].par, TRUE)
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking>>

(* An update: compare-and-swap on the version that the run has read.  A     *)
(* conflict, too, is followed by a read.                                    *)
Update(h, step) ==
    /\ LET w == Write(h, step, "-")
           r == Written(w, rec)
       IN IF rec.ver > 0 /\ Fits(w, rec)
          THEN /\ rec' = r
               /\ late' = Remaining(r)
               /\ run' = [run EXCEPT ![h] = Went(h, step, r)]
          ELSE /\ run' = [run EXCEPT ![h].pc = "read-back", ![h].step = step]
               /\ UNCHANGED <<rec, late>>
    /\ UNCHANGED <<msgs, ledger, refused, told, tries, asking, budget>>

TakeOver(h) == run[h].pc = "take-over" /\ Update(h, "take-over")  \* a new owner, in order to send
MarkSent(h) == run[h].pc = "mark-sent" /\ Update(h, "mark-sent")  \* a send may follow (no keys)
Complete(h) == run[h].pc = "complete"  /\ Update(h, "complete")   \* the reply, for ever
Review(h)   == run[h].pc = "review"    /\ Update(h, "review")     \* only a person can tell

(* Declined, not charged: nothing was found after the clock said that no    *)
(* send can land any more.                                                  *)
Settle(h) ==
    /\ run[h].pc = "settle"
    /\ IF ClockAfterLookUp /\ rec.lease # "dead"
       THEN /\ run' = [run EXCEPT ![h] = Telling(h, InProgress, "-")]
            /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking, budget>>
       ELSE Update(h, "settle")

(* An update is not acknowledged: it may land, now or later, while its      *)
(* version is the record's.                                                 *)
UpdateUnanswered(h) ==
    /\ run[h].pc \in {"take-over", "mark-sent", "complete", "settle", "review"}
    /\ Spend(1)
    /\ LET step == run[h].pc
           w == Write(h, step, "-")
       IN /\ rec.ver > 0 /\ Fits(w, rec)
          /\ late' = late \union {w}
          /\ run' = [run EXCEPT ![h] =
                IF NoReadBack THEN Went(h, step, Written(w, rec))
                ELSE [run[h] EXCEPT !.pc = "read-back", !.step = step]]
    /\ UNCHANGED <<rec, msgs, ledger, refused, told, tries, asking>>

(* The state that a write of this step leaves. *)
Target(h, step) ==
    CASE step = "claim"     -> {"claimed"}
      [] step = "take-over" -> {"claimed", "sent"}
      [] step = "mark-sent" -> {"sent"}
      [] step = "review"    -> {"review"}
      [] OTHER -> {IF run[h].ans.says = "paid" THEN "succeeded" ELSE "declined"}

(* The read after a write that was not acknowledged as applied: go on only  *)
(* if the record shows this run's token in the state that it wrote.         *)
Mine(h) == /\ rec.state \in Target(h, run[h].step)
           /\ ReadBackIgnoresOwner \/ rec.owner = Token(h)

ReadBack(h) ==
    /\ run[h].pc = "read-back"
    /\ LET step == run[h].step
       IN run' = [run EXCEPT ![h] =
            CASE Mine(h)         -> Went(h, step, rec)
              [] ~Mine(h) /\ OwnReply /\ Final(run[h].ans) -> Telling(h, run[h].ans, step)
              [] rec.ver = 0     -> Telling(h, InProgress, "-")
              [] step = "claim"  -> Follow(h, run[h].par, rec, FALSE)
              [] Terminal(rec)   -> Telling(h, rec.reply, "replay")
              [] OTHER           -> Telling(h, InProgress, "-")]
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking, budget>>

ReadBackBehind(h) ==
    /\ run[h].pc = "read-back" /\ run[h].step = "claim" /\ ~Mine(h)
    /\ Spend(1)
    /\ FollowBehind(h, run[h].par, FALSE)
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking>>

(* The send, once per run and only if the lease runs and the provider still *)
(* collapses whatever is sent now.  It sends the record's request.          *)
MaySend(h) ==
    LET unwritten == NoReadBack /\ rec.ver = 0
    IN /\ SendAfterLease \/ (rec.ver = run[h].ver /\ rec.lease = "runs") \/ unwritten
       /\ NoGuard \/ rec.window = "open" \/ unwritten

Send(h) ==
    /\ msgs' = msgs \union
         {[by |-> h, ver |-> run[h].ver, key |-> KeyOf(run[h].ver), copy |-> FALSE,
           par |-> IF rec.ver = 0 THEN run[h].par ELSE rec.par]}
    /\ run' = [run EXCEPT ![h].pc = "sent", ![h].may = FALSE]

Charge(h) ==
    /\ run[h].pc = "charge"
    /\ IF MaySend(h) THEN Send(h)
       ELSE run' = [run EXCEPT ![h] = Telling(h, InProgress, "-")] /\ UNCHANGED msgs
    /\ UNCHANGED <<rec, late, ledger, refused, told, tries, asking, budget>>

(* By a clock that is behind, the lease that the run has read still runs    *)
(* although others have found it over, and perhaps taken the record over;   *)
(* and the window is open although others find it closed.  Leases of one    *)
(* record only move forward, so once the record's is dead all before it are.*)
ChargeBehind(h) ==
    /\ run[h].pc = "charge" /\ ~MaySend(h)
    /\ run[h].may
    /\ rec.window \in {"open", "closed"} \/ (BreakAS /\ rec.window = "past")
    /\ Spend(1)
    /\ Send(h)
    /\ UNCHANGED <<rec, late, ledger, refused, told, tries, asking>>

(* What a run makes of the provider's answer.  Approved and declined are    *)
(* definite: either the provider gives the same answer to whoever asks      *)
(* under the key, or no other send can land any more.  Everything else is   *)
(* unknown and stays so.                                                    *)
Heard(h, a) ==
    IF a.says # "-" \/ UnknownMeansFailed
    THEN [run[h] EXCEPT !.pc = "complete",
                        !.ans = IF a.says = "-" THEN Declined ELSE a]
    ELSE Telling(h, InProgress, "-")

(* No answer comes: the message was lost, or (a fault) is still under way.  *)
Unanswered(h) ==
    /\ run[h].pc = "sent"
    /\ run' = [run EXCEPT ![h] = Heard(h, Nothing)]
    /\ IF DeleteWhenUnknown /\ rec.ver = run[h].ver
       THEN rec' = NoRecord ELSE UNCHANGED rec
    /\ UNCHANGED <<late, msgs, ledger, refused, told, tries, asking>>

Awaited(h) == \E m \in msgs : m.by = h

TimeOut(h)      == ~Awaited(h) /\ Spend(0) /\ Unanswered(h)
TimeOutEarly(h) == Awaited(h)  /\ Spend(1) /\ Unanswered(h)

(* The look-up by provider key, after the clock was read, and what follows  *)
(* from both.                                                               *)
Seen(h)  == IF Lookups THEN Found(run[h].ver) ELSE {}
Asks(h)  == h # Reconciler \/ RollForward
Stale(h) == rec.ver # run[h].ver  \* whatever it now writes is a conflict

(* Where nothing is seen, it goes by what the clock says: no send can land  *)
(* any more, the window is open, somebody may still ask.                    *)
Unseen(h, dead, open, wanted) ==
    LET never  == ~Keys /\ rec.state = "claimed"  \* nothing was sent yet
        resend == \/ Keys /\ StoresDeclines      \* it joins the first send
                  \/ never
                  \/ dead /\ (Keys \/ Lookups)    \* the first send is over
                  \/ ResendUnproven
        over   == dead \/ SettleAtOnce \/ ClockAfterLookUp
        free   == over /\ (never \/ Lookups \/ SettleUnseen)  \* not charged
    IN CASE rec.state = "review"                  -> "leave"
         [] Asks(h) /\ open /\ resend             -> "take-over"
         [] free /\ (~wanted \/ ~open)            -> "settle"
         [] dead /\ ~free /\ (~Keys \/ ~open)     -> "review"
         [] OTHER                                 -> "leave"

Open == rec.window = "open" \/ NoGuard

Exactly(h) == Unseen(h, rec.lease = "dead", Open, asking)

(* A clock that is behind may not yet read as true what is. *)
Behind(h) ==
    {Unseen(h, dead, open, wanted) : dead   \in {FALSE, rec.lease = "dead"},
                                     open   \in {Open, Open \/ rec.window = "closed"},
                                     wanted \in {asking, TRUE}} \ {Exactly(h)}

(* A run judges the record as it has read it.  If that is out of date, much *)
(* is unknown here, and it may come to any end that the rest permits; what  *)
(* it writes then is refused.                                               *)
Ways(h, seen) ==
    LET par  == IF Stale(h) THEN run[h].par ELSE rec.par
        over == Seen(h) = {} /\ ~\E m \in msgs : m.ver <= run[h].ver
        shut == rec.window # "open"   \* if the record is gone, who knows
        good == /\ Cardinality(seen) = 1
                /\ \A i \in seen : ledger[i].par = par \/ AcceptForeign
    IN CASE good         -> {"complete"}
         [] seen # {} /\ ~good /\ Stale(h) -> {"review", "leave"}
         [] seen # {} /\ ~good /\ ~Stale(h) ->
              {IF rec.state = "review" THEN "leave" ELSE "review"}
         [] seen = {} /\ Stale(h) ->
              {"leave"} \union (IF Asks(h) THEN {"take-over"} ELSE {})
                        \union (IF over /\ (Lookups \/ ~Keys) /\ (~asking \/ shut) THEN {"settle"} ELSE {})
                        \union (IF over /\ ~Lookups /\ (~Keys \/ shut) THEN {"review"} ELSE {})
         [] OTHER -> {Exactly(h)}

Resolve(h, way, seen) ==
    /\ run' = [run EXCEPT ![h] =
          CASE way = "leave"    -> Telling(h, InProgress, "-")
            [] way = "complete" -> [@ EXCEPT !.pc = way, !.ans = Paid(CHOOSE i \in seen : TRUE)]
            [] way = "settle"   -> [@ EXCEPT !.pc = way, !.ans = Declined]
            [] OTHER            -> [@ EXCEPT !.pc = way]]
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking>>

LookUp(h) ==
    /\ run[h].pc = "look-up"
    /\ \E way \in Ways(h, Seen(h)) : Resolve(h, way, Seen(h))
    /\ UNCHANGED budget

(* While a send may still land, the provider may not yet show what it has. *)
Lags(h) == Seen(h) # {} /\ (rec.lease # "dead" \/ BreakA5)

LookUpLags(h) ==
    /\ run[h].pc = "look-up" /\ Lags(h)
    /\ \E way \in Ways(h, {}) : Resolve(h, way, {})
    /\ UNCHANGED budget

LookUpBehind(h) ==
    /\ run[h].pc = "look-up" /\ ~Stale(h)
    /\ Seen(h) = {} \/ Lags(h)
    /\ Spend(1)
    /\ \E way \in Behind(h) : Resolve(h, way, {})

(* The token of a run that is over. *)
Retire(h, owner) == IF owner = h /\ ~OwnerIsProcess THEN Gone ELSE owner

End(h) ==
    /\ run' = [run EXCEPT ![h] = Idle]
    /\ rec' = [rec EXCEPT !.owner = Retire(h, rec.owner)]
    /\ late' = {[w EXCEPT !.owner = Retire(h, w.owner)] : w \in late}
    /\ msgs' = {[m EXCEPT !.by = IF m.by = h THEN Gone ELSE m.by] : m \in msgs}

(* The handler returns; a final reply is on its way to whoever asked. *)
Reply(h) ==
    /\ run[h].pc = "reply"
    /\ told' = IF h # Reconciler /\ Final(run[h].ans)
               THEN told \union {[par |-> run[h].par, reply |-> run[h].ans]} ELSE told
    /\ End(h)
    /\ UNCHANGED <<ledger, refused, tries, asking, budget>>

(* The defect of telling first and saving then. *)
ReplyEarly(h) ==
    /\ ReplyBeforeSave
    /\ run[h].pc = "complete" /\ h # Reconciler
    /\ told' = told \union {[par |-> run[h].par, reply |-> run[h].ans]}
    /\ UNCHANGED <<rec, late, run, msgs, ledger, refused, tries, asking, budget>>

(* A process dies; what it had in memory is lost, what it sent is not. *)
Crash(h) ==
    /\ run[h].pc # "idle"
    /\ Spend(1)
    /\ End(h)
    /\ UNCHANGED <<ledger, refused, told, tries, asking>>

(* The reconciler finds a record whose lease is over. *)
Sweep ==
    /\ Reconciles
    /\ run[Reconciler].pc = "idle" /\ Unfinished(rec)
    /\ rec.lease # "runs"
    /\ run' = [run EXCEPT ![Reconciler] =
                 [Idle EXCEPT !.pc = "look-up", !.ver = rec.ver, !.par = rec.par]]
    /\ UNCHANGED <<rec, late, msgs, ledger, refused, told, tries, asking, budget>>

(* The collector forgets what is finished once nobody can ask. *)
Collect ==
    /\ Collects
    /\ rec.ver > 0
    /\ Terminal(rec) \/ CollectUnfinished
    /\ ~asking \/ ShortRetention
    /\ rec' = NoRecord
    /\ late' = Remaining(NoRecord)
    /\ UNCHANGED <<run, msgs, ledger, refused, told, tries, asking, budget>>

-----------------------------------------------------------------------------
(* The provider and the network *)

(* A charge request reaches the provider, which approves or declines it, or *)
(* gives the answer that it has under the key; the sender hears of it if it *)
(* still waits.                                                             *)
Land(m, approves) ==
    LET prior == {i \in DOMAIN ledger : Keys /\ ledger[i].known /\ ledger[i].key = m.key}
        again == Keys /\ m.key \in refused
        a == IF prior # {}
             THEN LET i == CHOOSE i \in prior : TRUE
                  IN IF ledger[i].par = m.par THEN Paid(i) ELSE Nothing
             ELSE IF approves THEN Paid(Len(ledger) + 1) ELSE Declined
        verdicts == CASE prior # {}            -> {TRUE}
                      [] prior = {} /\ again   -> {FALSE}
                      [] OTHER                 -> IF Declines THEN BOOLEAN ELSE {TRUE}
    IN /\ approves \in verdicts
       /\ ledger' = IF prior = {} /\ approves
                    THEN Append(ledger, [key |-> m.key, par |-> m.par, known |-> TRUE]) ELSE ledger
       /\ refused' = IF prior = {} /\ ~approves /\ StoresDeclines
                     THEN refused \union {m.key} ELSE refused
       /\ msgs' = msgs \ {m}
       /\ run' = IF m.by # Gone /\ run[m.by].pc = "sent" /\ run[m.by].ver = m.ver
                 THEN [run EXCEPT ![m.by] = Heard(m.by, a)] ELSE run
       /\ UNCHANGED <<rec, late, told, tries, asking, budget>>

LandApproved == \E m \in msgs : Land(m, TRUE)
LandDeclined == \E m \in msgs : Land(m, FALSE)

(* A message is lost: a fault if somebody waits for its answer. *)
Lose ==
    \E m \in msgs :
        /\ Spend(IF m.by # Gone /\ run[m.by].pc = "sent" THEN 1 ELSE 0)
        /\ msgs' = msgs \ {m}
        /\ UNCHANGED <<rec, late, run, ledger, refused, told, tries, asking>>

(* The network, or a transport that re-sends, doubles a message.  Where     *)
(* the provider cannot tell copies, the assumptions exclude it.             *)
Duplicate ==
    \E m \in msgs :
        /\ (Keys /\ StoresDeclines) \/ BreakA6
        /\ ~m.copy
        /\ Spend(1)
        /\ msgs' = msgs \union {[m EXCEPT !.copy = TRUE, !.by = Gone]}
        /\ UNCHANGED <<rec, late, run, ledger, refused, told, tries, asking>>

(* A write that was not acknowledged is applied after all. *)
LandLate ==
    \E w \in late :
        LET r == Written(w, rec) IN
        /\ Fits(w, rec)
        /\ rec' = r
        /\ late' = {v \in late \ {w} : Fits(v, r)}
        /\ UNCHANGED <<run, msgs, ledger, refused, told, tries, asking, budget>>

-----------------------------------------------------------------------------
(* Time *)

(* The lease ends: by itself when its owner is gone, and as a fault (a      *)
(* pause, a slow call) while the owner lives.                               *)
Lapse ==
    /\ rec.lease = "runs"
    /\ rec' = [rec EXCEPT !.lease = "over"]
    /\ UNCHANGED <<late, run, msgs, ledger, refused, told, tries, asking>>

LeaseEnds      == rec.owner = Gone /\ Spend(0) /\ Lapse
LeaseEndsEarly == rec.owner # Gone /\ Spend(1) /\ Lapse

(* Every send that this lease or an earlier one permitted has landed or is  *)
(* lost, and is shown by look-up; and no clock is so far behind that it     *)
(* would permit another.                                                    *)
SendsDie ==
    /\ rec.lease = "over"
    /\ msgs = {} \/ BreakA2
    /\ rec' = [rec EXCEPT !.lease = "dead"]
    /\ run' = IF BreakAS THEN run ELSE [h \in Slots |-> [run[h] EXCEPT !.may = FALSE]]
    /\ UNCHANGED <<late, msgs, ledger, refused, told, tries, asking, budget>>

(* The guard's bound is passed, or a healthy run from now would pass it:    *)
(* nobody takes over to send any more, nor sends, but by a clock that is    *)
(* behind or in a run that was slow, which is a fault, too.                 *)
WindowCloses ==
    /\ Ages
    /\ rec.window = "open"
    /\ rec' = [rec EXCEPT !.window = "closed"]
    /\ UNCHANGED <<late, run, msgs, ledger, refused, told, tries, asking, budget>>

(* The provider forgets the keys: after the guard's bound by every clock,   *)
(* and after all that was permitted before it has landed.                   *)
Forget ==
    /\ Ages
    /\ \/ rec.window # "open" /\ msgs = {}
       \/ BreakA1
    /\ \/ refused # {}
       \/ \E i \in DOMAIN ledger : ledger[i].known
    /\ ledger' = [i \in DOMAIN ledger |-> [ledger[i] EXCEPT !.known = FALSE]]
    /\ refused' = {}
    /\ rec' = IF rec.window = "closed" THEN [rec EXCEPT !.window = "past"] ELSE rec
    /\ UNCHANGED <<late, run, msgs, told, tries, asking, budget>>

(* The retry horizon is over: nobody asks any more. *)
HorizonEnds ==
    /\ GivesUp
    /\ asking
    /\ rec.ver > 0
    /\ asking' = FALSE
    /\ UNCHANGED <<rec, late, run, msgs, ledger, refused, told, tries, budget>>

(* Assumption A3 dropped: a failover loses an acknowledged claim. *)
Failover ==
    /\ BreakA3
    /\ rec.ver > 0
    /\ Spend(1)
    /\ rec' = NoRecord
    /\ late' = Remaining(NoRecord)
    /\ UNCHANGED <<run, msgs, ledger, refused, told, tries, asking>>

-----------------------------------------------------------------------------
(* What a run does by itself once it was begun. *)
Step(h) ==
    \/ Wait(h) \/ ReadBack(h)
    \/ TakeOver(h) \/ MarkSent(h) \/ Charge(h) \/ TimeOut(h) \/ LookUp(h)
    \/ Complete(h) \/ Settle(h) \/ Review(h) \/ Reply(h)

Next ==
    \/ \E h \in Slots, par \in {"p", "q"} : Claim(h, par)
    \/ \E h \in Slots, par \in {"p", "q"} : ClaimUnanswered(h, par)
    \/ \E h \in Slots, par \in {"p", "q"} : ClaimBehind(h, par)
    \/ \E h \in Slots : Overwrite(h)
    \/ \E h \in Slots : Wait(h)
    \/ \E h \in Slots : WaitBehind(h)
    \/ \E h \in Slots : ReadBack(h)
    \/ \E h \in Slots : ReadBackBehind(h)
    \/ \E h \in Slots : TakeOver(h)
    \/ \E h \in Slots : MarkSent(h)
    \/ \E h \in Slots : Charge(h)
    \/ \E h \in Slots : ChargeBehind(h)
    \/ \E h \in Slots : TimeOut(h)
    \/ \E h \in Slots : TimeOutEarly(h)
    \/ \E h \in Slots : LookUp(h)
    \/ \E h \in Slots : LookUpLags(h)
    \/ \E h \in Slots : LookUpBehind(h)
    \/ \E h \in Slots : Complete(h)
    \/ \E h \in Slots : Settle(h)
    \/ \E h \in Slots : Review(h)
    \/ \E h \in Slots : UpdateUnanswered(h)
    \/ \E h \in Slots : Reply(h)
    \/ \E h \in Slots : ReplyEarly(h)
    \/ \E h \in Slots : Crash(h)
    \/ Sweep
    \/ Collect
    \/ LandApproved
    \/ LandDeclined
    \/ Lose
    \/ Duplicate
    \/ LandLate
    \/ LeaseEnds
    \/ LeaseEndsEarly
    \/ SendsDie
    \/ WindowCloses
    \/ Forget
    \/ HorizonEnds
    \/ Failover

Spec == Init /\ [][Next]_vars

(* What may be relied on in the end: runs go on, messages arrive or are     *)
(* lost, time passes, the client asks while it has no answer, and the       *)
(* reconciler sweeps.  No fault is fair.                                    *)
Fairness ==
    /\ \A h \in Slots : WF_vars(Step(h))
    /\ \A h \in Slots : WF_vars(Persistent /\ Claim(h, "p"))
    /\ WF_vars(LandApproved \/ LandDeclined)
    /\ WF_vars(LeaseEnds)
    /\ WF_vars(SendsDie)
    /\ WF_vars(WindowCloses)
    /\ WF_vars(HorizonEnds)
    /\ WF_vars(Sweep)

FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
(* Safety *)

Replies == {Declined} \union {Paid(i) : i \in 1..(Attempts + Others + Faults + 2)}
Parameters == {"-", "p", "q", "foreign"}
Steps == {"-", "claim", "take-over", "mark-sent", "complete", "settle", "review", "replay"}

(* Every variable has the shape that its comment says. *)
TypeOK ==
    /\ rec.state \in {"none", "claimed", "sent", "succeeded", "declined", "review"}
    /\ rec.ver \in Nat /\ rec.owner \in Slots \union {Gone}
    /\ rec.lease \in {"-", "runs", "over", "dead"}
    /\ rec.window \in {"-", "open", "closed", "past"}
    /\ rec.par \in {"-", "p", "q"}
    /\ rec.reply \in Replies \union {Nothing}
    /\ (rec.ver = 0) = (rec = NoRecord)
    /\ Terminal(rec) = Final(rec.reply)
    /\ \A w \in late : /\ w.step \in Steps /\ w.ver \in Nat /\ w.owner \in Slots \union {Gone}
                       /\ w.par \in {"-", "p", "q"} /\ w.reply \in Replies \union {Nothing}
    /\ DOMAIN run = Slots
    /\ \A h \in Slots :
         /\ run[h].pc \in {"idle", "insert", "wait", "read-back", "look-up", "take-over", "mark-sent",
                           "charge", "sent", "complete", "settle", "review", "reply"}
         /\ run[h].step \in Steps /\ run[h].par \in {"-", "p", "q"} /\ run[h].ver \in Nat
         /\ run[h].ans \in Replies \union {Nothing, InProgress, Mismatch}
         /\ run[h].may \in BOOLEAN /\ (run[h].may => run[h].pc \in {"read-back", "mark-sent", "charge"})
    /\ \A m \in msgs : /\ m.by \in Slots \union {Gone} /\ m.ver \in Nat /\ m.key \in Nat
                       /\ m.copy \in BOOLEAN /\ m.par \in {"p", "q"}
    /\ \A i \in DOMAIN ledger : ledger[i].par \in Parameters /\ ledger[i].known \in BOOLEAN
    /\ refused \subseteq Nat
    /\ \A t \in told : t.par \in {"p", "q"} /\ t.reply \in Replies
    /\ tries \in [p : 0..Attempts, q : 0..Others]
    /\ asking \in BOOLEAN
    /\ budget \in 0..Faults

(* There is at most one charge of the operation. *)
SingleCharge == Cardinality(Ours) <= 1

(* "Paid" is told only of a charge that was made for the operation;         *)
(* "declined" only if there is none, now and later.                         *)
TruthfulReply ==
    \A t \in told : IF t.reply.says = "paid"
                    THEN t.reply.charge \in Ours
                    ELSE Ours = {}

(* All final replies of the operation are equal. *)
StableReply == \A t, u \in told : t.reply = u.reply

(* Nobody hears the final answer to other parameters than its own. *)
FingerprintBound ==
    \A t \in told :
        /\ rec.ver > 0 => t.par = rec.par
        /\ t.reply.charge \in Ours => ledger[t.reply.charge].par = t.par

(* No two live runs hold the record at once in order to send. *)
Holds(h) == /\ run[h].pc \in {"mark-sent", "charge", "sent"}
            /\ run[h].ver = rec.ver
            /\ rec.state \in {"claimed", "sent"}
SingleOwner == \A g, h \in Slots : Holds(g) /\ Holds(h) => g = h

(* Nothing is on its way to the provider before the record says so: a claim *)
(* where the provider has keys, a mark where it has none.                   *)
SentJournaled ==
    msgs # {} => IF rec.ver = 0 THEN ~asking
                 ELSE Keys \/ rec.state # "claimed"

(* Nothing is on its way under a key that the provider has forgotten. *)
WindowGuarded ==
    \A m \in msgs : \A i \in Ours : ledger[i].key = m.key => ledger[i].known

(* The operation has one provider key, in all sends and charges. *)
StableProviderKey ==
    /\ \A m \in msgs : m.key = 1
    /\ \A i \in DOMAIN ledger : ledger[i].key = 1

(* A terminal record never changes until it is forgotten. *)
TerminalIsFinal ==
    [][Terminal(rec) => \/ rec'.ver = 0
                        \/ /\ rec'.ver = rec.ver /\ rec'.state = rec.state
                           /\ rec'.reply = rec.reply /\ rec'.par = rec.par]_vars

(* A write is applied only on the version that its writer has read, by one  *)
(* step of that writer, and leaves the parameters as they were claimed.     *)
FencedWrites ==
    [][rec.ver > 0 /\ rec'.ver # rec.ver /\ rec'.ver > 0 =>
         /\ rec'.ver = rec.ver + 1
         /\ rec'.par = rec.par
         /\ \/ \E h \in Slots : run'[h] # run[h] /\ run[h].ver = rec.ver
            \/ \E w \in late : w \notin late' /\ w.ver = rec.ver /\ w.step # "claim"]_vars

(* Nothing unfinished is forgotten, and nothing while a retry may come. *)
SafeRetention ==
    [][rec.ver > 0 /\ rec'.ver = 0 => Terminal(rec) /\ ~asking]_vars

-----------------------------------------------------------------------------
(* Liveness, under FairSpec *)

(* In the end the record is finished, or a person has it, and stays so. *)
Resolves == <>[](Terminal(rec) \/ rec.state = "review" \/ rec.ver = 0)

(* A client that keeps asking hears a final answer, unless a person has the *)
(* record or the key belongs to other parameters.                           *)
NotWedged == <>(told # {} \/ rec.state = "review" \/ rec.par = "q")

-----------------------------------------------------------------------------
(* Situations that must be reachable.  Each is written as its denial, which *)
(* the checker has to refute.                                               *)

Tells(h, says, step) == run[h].pc = "reply" /\ run[h].ans.says = says /\ run[h].step = step

NeverReplayed    == ~\E h \in Slots : \E s \in {"paid", "declined"} : Tells(h, s, "replay") /\ told # {}
NeverInProgress  == ~\E h \in Slots : Tells(h, "in progress", "-") /\ rec.lease = "runs"
NeverMismatch    == ~\E h \in Slots : Tells(h, "mismatch", "-")
NeverTakenOver   == ~\E h \in Slots : run[h].pc = "sent" /\ run[h].ver > IF Keys THEN 1 ELSE 2
NeverLookedUp    == ~\E h \in Slots : /\ run[h].pc = "complete" /\ run[h].ver = rec.ver
                                      /\ rec.owner # Token(h) /\ run[h].ans.says = "paid"
NeverAbsorbed    == ~\E m \in msgs : rec.state = "succeeded" /\ m.key = ledger[rec.reply.charge].key
NeverDeclined    == rec.state # "declined" \/ refused = {}
NeverSettled     == ~\E h \in Slots : Tells(h, "declined", "settle")
NeverReviewed    == rec.state # "review"
NeverCollected   == rec.ver > 0 \/ told = {}
NeverLateApplied == ~\E h \in Slots : run[h].pc = "read-back" /\ rec.owner = h /\ Terminal(rec)
NeverLostRace    == ~\E h \in Slots : /\ run[h].pc = "read-back" /\ run[h].step = "complete"
                                      /\ Terminal(rec) /\ rec.owner # h
=============================================================================
