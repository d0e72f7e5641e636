------------------------------- MODULE Window -------------------------------
(***************************************************************************)
(* The two questions that the protocol asks of a clock, with clocks that   *)
(* are never right:                                                        *)
(*                                                                         *)
(*   may I still send?      t + Life + Skew < from + Window                *)
(*   can no send land?      t > until + Life + Lag + Skew                  *)
(*                                                                         *)
(* where t is a reading of one's own clock, `from' the reading at the      *)
(* claim and `until' the end of the record's lease.  The module shows that *)
(* they are enough, and that neither may be weakened by one tick.          *)
(*                                                                         *)
(* Time is discrete.  Every instant is kept as its distance from now and   *)
(* saturates where no comparison can tell it apart any more; a reading is  *)
(* now + e for some e in 0..Skew, so that two clocks differ by Skew at     *)
(* most.  Behaviours may therefore be as long as they like, with any       *)
(* number of crashes, time-outs, losses and take-overs: nothing is         *)
(* counted, and the states are still finite in number.                     *)
(*                                                                         *)
(* Versions, owners and unacknowledged writes are the matter of            *)
(* ChargeOnce.  Here a run remembers whether the record is still as it has *)
(* read it, which is all that a compare-and-swap asks.                     *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Runs,        \* how many runs there may be at once
    Lease,       \* how long a claim or a take-over keeps others off
    Life,        \* a message lives so long, from the reading that permits it
    Skew,        \* two clocks differ by so much at most
    Lag,         \* look-up shows a charge after no more than this
    Window,      \* the provider collapses equal keys for so long
    Lookups,     \* TRUE: it shows its charges
    Keys,        \* TRUE: it does; FALSE: Window is how long we try
    Crashes      \* TRUE: runs may die, and give up on answers that may come

CONSTANTS        \* Defects.
    GuardForgetsSkew,    \* t + Life < from + Window
    GuardForgetsLife,    \* t + Skew < from + Window
    GuardOrEqual,        \* t + Life + Skew <= from + Window
    GuardMoves,          \* from is moved at a take-over
    FirstUnguarded,      \* the run that made the claim does not ask
    LeaseUnchecked,      \* a run does not ask whether its lease runs
    DeadForgetsSkew,     \* t > until + Life + Lag
    DeadForgetsLife,     \* t > until + Lag + Skew
    DeadForgetsLag,      \* t > until + Life + Skew
    ClockAfterLookUp,    \* the clock is read after the look-up
    TakeOverFirst        \* takes over before each look-up

VARIABLES
    rec,      \* the record: its state, and from and until as distances from now
    run,      \* the runs
    msgs,     \* charge requests on their way, and how long they may still live
    age,      \* since when the provider knows the key; -1: it does not
    charges   \* how many charges there are; 2 stands for more

vars == <<rec, run, msgs, age, charges>>

-----------------------------------------------------------------------------
Slots   == 1..Runs
Reading == 0..Skew

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

(* Where instants in the past stop to differ. *)
FarFrom  == -Window - 1
FarUntil == -(Life + Lag + Skew) - 1
FarRead  == FarUntil - Lease

Idle == [pc |-> "idle", until |-> FarUntil, at |-> FarRead, can |-> FALSE,
         dead |-> FALSE, found |-> FALSE, first |-> FALSE, fresh |-> FALSE]

CanSend(e) ==
    LET t == e + (IF GuardForgetsLife THEN 0 ELSE Life) + (IF GuardForgetsSkew THEN 0 ELSE Skew)
    IN t < rec.from + Window \/ (GuardOrEqual /\ t = rec.from + Window)

Dead(e) == e > rec.until + (IF DeadForgetsLife THEN 0 ELSE Life)
                         + (IF DeadForgetsLag THEN 0 ELSE Lag)
                         + (IF DeadForgetsSkew THEN 0 ELSE Skew)

Init ==
    /\ rec = [state |-> "none", from |-> FarFrom, until |-> FarUntil]
    /\ run = [h \in Slots |-> Idle]
    /\ msgs = {}
    /\ age = -1
    /\ charges = 0

(* The memory of all others is out of date once the record is written. *)
Overtaken(h, r) == [g \in Slots |-> IF g = h THEN r ELSE [run[g] EXCEPT !.fresh = FALSE]]

(* A run ends; nobody waits for its messages any more. *)
Unattended(h) == {[m EXCEPT !.waits = m.waits /\ m.by # h] : m \in msgs}

End(h) ==
    /\ run' = [run EXCEPT ![h] = Idle]
    /\ msgs' = Unattended(h)

-----------------------------------------------------------------------------
(* A run claims the operation at the reading e. *)
Claim(h, e) ==
    /\ rec.state = "none" /\ run[h].pc = "idle"
    /\ rec' = [state |-> "claimed", from |-> e, until |-> e + Lease]
    /\ run' = Overtaken(h, [Idle EXCEPT !.pc = "charge", !.until = e + Lease,
                                        !.first = TRUE, !.fresh = TRUE])
    /\ UNCHANGED <<msgs, age, charges>>

(* The send: only if the lease runs and the guard lets it pass.  What takes *)
(* time after the reading, a pause included, is part of the message's life. *)
Charge(h, e) ==
    /\ run[h].pc = "charge"
    /\ IF /\ LeaseUnchecked \/ e < run[h].until
          /\ CanSend(e) \/ (FirstUnguarded /\ run[h].first)
       THEN /\ msgs' = msgs \union {[by |-> h, waits |-> TRUE, life |-> Life]}
            /\ run' = [run EXCEPT ![h].pc = "sent"]
       ELSE End(h)
    /\ UNCHANGED <<rec, age, charges>>

(* A message arrives.  A key that the provider knows for less than Window   *)
(* moves no more money; the sender, if it still waits, hears that all is    *)
(* paid.                                                                    *)
Land(m) ==
    LET collapses == Keys /\ age >= 0 /\ age < Window
    IN /\ age' = IF collapses THEN age ELSE 0
       /\ charges' = IF collapses THEN charges ELSE Min(2, charges + 1)
       /\ msgs' = msgs \ {m}
       /\ run' = IF m.waits /\ run[m.by].pc = "sent"
                 THEN [run EXCEPT ![m.by].pc = "complete"] ELSE run
       /\ UNCHANGED rec

Arrive == \E m \in msgs : Land(m)

(* A message is lost. *)
Lose == \E m \in msgs : /\ msgs' = msgs \ {m}
                        /\ UNCHANGED <<rec, run, age, charges>>

(* A run gives up on its answer. *)
TimeOut(h) ==
    /\ run[h].pc = "sent"
    /\ Crashes \/ ~\E m \in msgs : m.by = h /\ m.waits
    /\ End(h)
    /\ UNCHANGED <<rec, age, charges>>

(* A run finds the lease over at the reading e, and asks both questions of  *)
(* that reading.                                                            *)
Resolve(h, e) ==
    /\ run[h].pc = "idle" /\ rec.state = "claimed"
    /\ e > rec.until
    /\ run' = LET me == [Idle EXCEPT !.pc = "look-up", !.at = e, !.can = CanSend(e),
                                     !.dead = Dead(e), !.fresh = TRUE]
              IN IF TakeOverFirst
                 THEN Overtaken(h, [me EXCEPT !.until = e + Lease, !.dead = FALSE])
                 ELSE [run EXCEPT ![h] = me]
    /\ rec' = IF TakeOverFirst THEN [rec EXCEPT !.until = e + Lease] ELSE rec
    /\ UNCHANGED <<msgs, age, charges>>

WayNames == {"complete", "take-over", "settle", "review", "idle"}

(* What may follow when a look-up has shown a charge, or none. *)
Ways(found, can, dead) ==
    IF found THEN {"complete"}
    ELSE {w \in WayNames :
            \/ w = "take-over" /\ can /\ (Keys \/ dead)
            \/ w = "settle" /\ dead /\ Lookups
            \/ w = "review" /\ dead /\ ~Lookups /\ ~can
            \/ w = "idle" /\ ~dead /\ ~(can /\ Keys)}

(* A charge is shown after Lag; before that it may be shown or not.         *)
MayShow(shows) ==
    IF Lookups THEN /\ shows => charges > 0
                    /\ charges > 0 /\ age > Lag => shows
    ELSE ~shows

(* The look-up, after the reading. *)
LookUp(h, shows, way) ==
    /\ ~ClockAfterLookUp
    /\ run[h].pc = "look-up"
    /\ MayShow(shows)
    /\ way \in Ways(shows, run[h].can, run[h].dead)
    /\ IF way = "idle" THEN End(h)
       ELSE /\ run' = [run EXCEPT ![h].pc = IF way = "take-over" /\ TakeOverFirst THEN "charge" ELSE way]
            /\ UNCHANGED msgs
    /\ UNCHANGED <<rec, age, charges>>

(* The defect of looking first and reading the clock then. *)
LookUpFirst(h, shows) ==
    /\ ClockAfterLookUp
    /\ run[h].pc = "look-up"
    /\ MayShow(shows)
    /\ run' = [run EXCEPT ![h].pc = "clock", ![h].found = shows]
    /\ UNCHANGED <<rec, msgs, age, charges>>

ReadClock(h, e, way) ==
    /\ run[h].pc = "clock"
    /\ way \in Ways(run[h].found, CanSend(e), Dead(e))
    /\ IF way = "idle" THEN End(h)
       ELSE /\ run' = [run EXCEPT ![h].pc = way, ![h].at = e, ![h].found = FALSE]
            /\ UNCHANGED msgs
    /\ UNCHANGED <<rec, age, charges>>

(* Take over, in order to send: a new lease from the reading on. *)
TakeOver(h) ==
    /\ run[h].pc = "take-over"
    /\ IF run[h].fresh
       THEN LET until == Max(FarUntil, run[h].at + Lease)
            IN /\ rec' = [rec EXCEPT !.until = until, !.from = IF GuardMoves THEN Max(FarFrom, run[h].at) ELSE @]
               /\ run' = Overtaken(h, [Idle EXCEPT !.pc = "charge", !.until = until, !.fresh = TRUE])
               /\ UNCHANGED msgs
       ELSE End(h) /\ UNCHANGED rec
    /\ UNCHANGED <<age, charges>>

(* A terminal write, and the end of the run. *)
Finish(h, pc, state) ==
    /\ run[h].pc = pc
    /\ IF run[h].fresh
       THEN rec' = [rec EXCEPT !.state = state] /\ run' = Overtaken(h, Idle)
       ELSE rec' = rec /\ run' = [run EXCEPT ![h] = Idle]
    /\ msgs' = Unattended(h)
    /\ UNCHANGED <<age, charges>>

Complete(h) == Finish(h, "complete", "succeeded")
Settle(h)   == Finish(h, "settle", "declined")
Review(h)   == Finish(h, "review", "review")

(* A process dies. *)
Crash(h) ==
    /\ Crashes
    /\ run[h].pc # "idle"
    /\ End(h)
    /\ UNCHANGED <<rec, age, charges>>

(* Time passes.  A message that has come to the end of its life is lost. *)
Tick ==
    /\ rec' = [rec EXCEPT !.from = Max(FarFrom, @ - 1), !.until = Max(FarUntil, @ - 1)]
    /\ run' = [h \in Slots |-> [run[h] EXCEPT !.until = Max(FarUntil, @ - 1), !.at = Max(FarRead, @ - 1)]]
    /\ msgs' = {[m EXCEPT !.life = @ - 1] : m \in {m \in msgs : m.life > 0}}
    /\ age' = IF age < 0 THEN age ELSE Min(Max(Window, Lag + 1), age + 1)
    /\ UNCHANGED charges

Next ==
    \/ \E h \in Slots, e \in Reading : Claim(h, e)
    \/ \E h \in Slots, e \in Reading : Charge(h, e)
    \/ Arrive
    \/ Lose
    \/ \E h \in Slots : TimeOut(h)
    \/ \E h \in Slots, e \in Reading : Resolve(h, e)
    \/ \E h \in Slots, shows \in BOOLEAN, way \in WayNames : LookUp(h, shows, way)
    \/ \E h \in Slots, shows \in BOOLEAN : LookUpFirst(h, shows)
    \/ \E h \in Slots, e \in Reading, way \in WayNames : ReadClock(h, e, way)
    \/ \E h \in Slots : TakeOver(h)
    \/ \E h \in Slots : Complete(h)
    \/ \E h \in Slots : Settle(h)
    \/ \E h \in Slots : Review(h)
    \/ \E h \in Slots : Crash(h)
    \/ Tick

Spec == Init /\ [][Next]_vars

(* Runs go on, time passes, and somebody resolves. *)
FairSpec ==
    /\ Spec
    /\ \A h \in Slots :
         /\ WF_vars(\E e \in Reading : Charge(h, e))
         /\ WF_vars(TimeOut(h))
         /\ WF_vars(\E shows \in BOOLEAN, way \in WayNames : LookUp(h, shows, way))
         /\ WF_vars(TakeOver(h))
         /\ WF_vars(Complete(h))
         /\ WF_vars(Settle(h))
         /\ WF_vars(Review(h))
    /\ WF_vars(\E h \in Slots, e \in Reading : Resolve(h, e))
    /\ WF_vars(Tick)

-----------------------------------------------------------------------------
(* Every variable has the shape that its comment says. *)
TypeOK ==
    /\ rec.state \in {"none", "claimed", "succeeded", "declined", "review"}
    /\ rec.from \in FarFrom..Skew /\ rec.until \in FarUntil..(Skew + Lease)
    /\ \A h \in Slots :
         /\ run[h].pc \in {"idle", "charge", "sent", "look-up", "clock", "take-over", "complete", "settle", "review"}
         /\ run[h].until \in FarUntil..(Skew + Lease) /\ run[h].at \in FarRead..Skew
    /\ \A m \in msgs : m.by \in Slots /\ m.waits \in BOOLEAN /\ m.life \in 0..Life
    /\ age \in -1..Max(Window, Lag + 1)
    /\ charges \in 0..2

(* There is at most one charge. *)
SingleCharge == charges <= 1

(* Nothing is on its way when the provider has forgotten the key. *)
WindowGuarded == Keys /\ age >= Window => msgs = {}

(* What is declined is never charged, what succeeded was. *)
TruthfulReply ==
    /\ rec.state = "declined" => charges = 0
    /\ rec.state = "succeeded" => charges > 0

(* What was claimed ends. *)
Resolves == rec.state = "claimed" ~> rec.state \in {"succeeded", "declined", "review"}

(* Situations that must be reachable, as their denials. *)
NeverSettled     == rec.state # "declined"
NeverCollapsed   == ~(charges = 1 /\ \E m \in msgs : m.waits /\ ~run[m.by].first)
NeverOutlived    == ~\E h \in Slots : run[h].pc = "sent" /\ ~run[h].fresh /\ rec.state = "claimed"
=============================================================================
