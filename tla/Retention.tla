----------------------------- MODULE Retention ------------------------------
(***************************************************************************)
(* When a finished operation may be forgotten.                             *)
(*                                                                         *)
(* A client promises to send its key no later than Horizon after its first *)
(* attempt.  An attempt travels to the service for up to Life, and what    *)
(* the service then asks of the registry lands within Life again: two      *)
(* hops.  A reply is kept for Retention, counted from the reading at the   *)
(* completion, and every reading is off by up to Skew.  So                 *)
(*                                                                         *)
(*   Retention >= Horizon + 2 * Life + Skew                                *)
(*                                                                         *)
(* is enough, and one tick less is not, if a reply is dropped only after   *)
(* the instant of its expiry, not at it.  What is dropped is the body: a   *)
(* tombstone stays, with the identity, the fingerprint and the outcome,    *)
(* until it is over too.                                                   *)
(*                                                                         *)
(* Time is discrete.  Every instant is kept as its distance from now and   *)
(* saturates where no comparison can tell it apart any more; a reading is  *)
(* now + e for some e in 0..Skew, so that two clocks differ by Skew at     *)
(* most.  Nothing is counted but charges: behaviours may be as long as     *)
(* they like, with any number of attempts, doubled and lost messages.      *)
(*                                                                         *)
(* What is kept small, and why nothing is lost by it:                      *)
(*  - A message may arrive any number of times before it is over, or never.*)
(*    One with more life left can do whatever one with less can, so of     *)
(*    equal messages only the youngest is kept.                            *)
(*  - How a record comes to its end is the matter of ChargeOnce and of     *)
(*    Window.  Here a claimed record is charged once, or declined and then *)
(*    never charged, or handed over to a person.                           *)
(*  - Completing and collecting are a reading and a write in one.  A pause *)
(*    between them moves no instant of expiry, for that counts from the    *)
(*    reading; no reading of a completion is earlier than the claim, which *)
(*    FromClaim takes for it.                                              *)
(*  - "In progress" is an answer that changes nothing and is not kept.     *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Horizon,     \* no attempt is sent later than this after the first
    Life,        \* a message lives so long: a request, and an insert
    Skew,        \* two clocks differ by so much at most
    Slack,       \* by how much a reply is kept longer than it must be
    Tombstone,   \* how long a tombstone stays, from the reading that drops the body
    Window,      \* the provider collapses equal keys for so long
    Others,      \* TRUE: the key comes with other parameters, too
    Late,        \* somebody asks so long after the horizon
    Reuses       \* TRUE: a forgotten key is used for another operation

CONSTANTS        \* Defects.
    ForgetsHop,            \* Retention counts one hop
    ForgetsHops,           \* Retention counts no hop
    ForgetsSkew,           \* Retention does not count the skew
    CollectOrEqual,        \* a record is over at the instant of its expiry
    FromClaim,             \* Retention counts from the claim
    CollectUnfinished,     \* the collector looks only at age
    CollectReview,         \* the collector takes what a person has, too
    NoTombstone,           \* the record goes with its body
    ShortTombstone,        \* a tombstone stays one tick less
    TombstoneForgetsPrint, \* the fingerprint goes with the body
    FenceIgnoresOwner,     \* a write asks for the version and not for the owner
    CollectUnfenced,       \* the collector deletes whatever is there now
    ReplayExtends          \* a replay writes a new instant of expiry

CONSTANTS        \* Assumptions that are dropped.
    BreakA2,               \* a message outlives its lifetime
    BreakA3,               \* the registry loses what it acknowledged
    BreakA4,               \* the client asks at any time
    BreakAS,               \* two clocks differ by one tick more
    Unsteady               \* the client's clock is set between two readings

VARIABLES
    rec,      \* the record
    until,    \* the end of the horizon, by the client's clock
    req,      \* by sender, how long its requests may still live; -1: none does
    ins,      \* the same of inserts
    key,      \* since when the provider knows the key (-1: it does not), and for which parameters
    charges,  \* how many charges there are, by operation; 2 stands for more
    told,     \* the final answers: to whom, what, and of whose record
    forgot,   \* how many records were forgotten; 2 stands for more
    stale     \* TRUE: somebody may still hold a write on a record that was forgotten

vars == <<rec, until, req, ins, key, charges, told, forgot, stale>>

-----------------------------------------------------------------------------
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

(* The client within its horizon and after it, somebody with other          *)
(* parameters within it and after it, and another operation under the key.  *)
Senders == {"p", "lateP", "q", "lateQ", "again"}

Who(w)        == CASE w = "lateP" -> "p" [] w = "lateQ" -> "q" [] OTHER -> w
Parameters(a) == IF a = "q" THEN "q" ELSE "p"
Operation(a)  == IF a = "again" THEN "second" ELSE "first"

Reading       == 0..(IF BreakAS THEN Skew + 1 ELSE Skew)
ClientReading == IF Unsteady THEN Reading ELSE {0}

Retention ==
    Horizon + (IF ForgetsHops THEN 0 ELSE IF ForgetsHop THEN Life ELSE 2 * Life)
            + (IF ForgetsSkew THEN 0 ELSE Skew) + Slack

(* Where instants in the past stop to differ. *)
FarUntil == -Late - 1
Over     == -1

NoRecord == [state |-> "none", by |-> "-", landed |-> FALSE, expires |-> Over,
             tomb |-> FALSE, print |-> FALSE]
Exists   == rec.state # "none"
Terminal == rec.state \in {"succeeded", "declined"}

(* By the reading e, the record is over. *)
Expired(e) == e > rec.expires \/ (CollectOrEqual /\ e = rec.expires)

(* The defects that look at the age of unfinished records need to know it. *)
AgesFromClaim == FromClaim \/ CollectUnfinished \/ CollectReview

Init ==
    /\ rec = NoRecord
    /\ until \in {e + Horizon : e \in ClientReading}
    /\ req = [w \in Senders |-> IF w = "p" THEN Life ELSE Over]
    /\ ins = [w \in Senders |-> Over]
    /\ key = [age |-> -1, of |-> "-"]
    /\ charges = [first |-> 0, second |-> 0]
    /\ told = {}
    /\ forgot = 0
    /\ stale = FALSE

-----------------------------------------------------------------------------
(* Attempts.  The first is on its way when a behaviour begins. *)

MayAsk(w, e) ==
    CASE w = "p"      -> e <= until
      [] w = "q"      -> Others /\ e <= until
      [] w = "lateP" -> e > until /\ (e <= until + Late \/ BreakA4)
      [] w = "lateQ" -> Others /\ e > until /\ (e <= until + Late \/ BreakA4)
      [] OTHER        -> Reuses /\ forgot = 1 /\ ~Exists

(* An attempt is sent at the reading e. *)
Ask(w, e) ==
    /\ req[w] < Life
    /\ MayAsk(w, e)
    /\ req' = [req EXCEPT ![w] = Life]
    /\ UNCHANGED <<rec, until, ins, key, charges, told, forgot, stale>>

(* A request arrives, and the service asks the registry to insert.  It may  *)
(* pause before it does so: that is part of the insert's life.              *)
Arrive(w) ==
    /\ req[w] # Over
    /\ ins' = [ins EXCEPT ![w] = Life]
    /\ UNCHANGED <<rec, until, req, key, charges, told, forgot, stale>>

(* What is told of a record.  Another fingerprint is a mismatch, in every   *)
(* state of the record, tombstones included.                                *)
Answer(w) ==
    CASE rec.print /\ Parameters(Who(w)) # Parameters(rec.by) -> "mismatch"
      [] ~Terminal                                             -> "in progress"
      [] rec.tomb /\ w \in {"p", "q"}                          -> "gone too soon"
      [] rec.tomb                                              -> "gone"
      [] rec.state = "succeeded"                               -> "paid"
      [] OTHER                                                 -> "declined"

(* An insert lands: it claims the operation at the reading e, or finds what *)
(* is there, which a replay only reads.                                     *)
Insert(w, e) ==
    /\ ins[w] # Over
    /\ IF Exists
       THEN /\ told' = IF Answer(w) = "in progress" THEN told
                       ELSE told \union {[to |-> Who(w), says |-> Answer(w), of |-> rec.by]}
            /\ rec' = IF ReplayExtends /\ Terminal /\ ~rec.tomb
                      THEN [rec EXCEPT !.expires = e + Retention] ELSE rec
       ELSE /\ rec' = [NoRecord EXCEPT !.state = "claimed", !.by = Who(w), !.print = TRUE,
                                       !.expires = IF AgesFromClaim THEN e + Retention ELSE Over]
            /\ told' = told
    /\ UNCHANGED <<until, req, ins, key, charges, forgot, stale>>

-----------------------------------------------------------------------------
(* From the claim to the end. *)

(* The charge lands.  A key that the provider knows for less than Window    *)
(* moves no more money, and other parameters under it are refused.          *)
Land ==
    LET known == key.age >= 0 /\ key.age < Window
    IN /\ rec.state = "claimed" /\ ~rec.landed
       /\ known => key.of = Parameters(rec.by)
       /\ rec' = [rec EXCEPT !.landed = TRUE]
       /\ key' = IF known THEN key ELSE [age |-> 0, of |-> Parameters(rec.by)]
       /\ charges' = IF known THEN charges
                     ELSE [charges EXCEPT ![Operation(rec.by)] = Min(2, @ + 1)]
       /\ UNCHANGED <<until, req, ins, told, forgot, stale>>

(* A terminal write at the reading e: the reply is kept from now on. *)
Finish(state, e) ==
    /\ rec' = [rec EXCEPT !.state = state, !.expires = IF FromClaim THEN @ ELSE e + Retention]
    /\ UNCHANGED <<until, req, ins, key, charges, told, forgot>>

(* The charge that landed is saved, by the run that made the claim or by    *)
(* another one that has looked it up: then the first still holds a write.   *)
Complete(e) ==
    /\ rec.state \in {"claimed", "review"} /\ rec.landed
    /\ Finish("succeeded", e)
    /\ stale' = FenceIgnoresOwner

(* Declined, or settled: nothing was charged and nothing can be. *)
Decline(e) ==
    /\ rec.state = "claimed" /\ ~rec.landed
    /\ Finish("declined", e)
    /\ UNCHANGED stale

(* The record is handed over to a person. *)
Review ==
    /\ rec.state = "claimed"
    /\ rec' = [rec EXCEPT !.state = "review"]
    /\ UNCHANGED <<until, req, ins, key, charges, told, forgot, stale>>

(* The version counts from one again when a record is new.  A write that    *)
(* waits since the last one fits if the owner is not compared.              *)
CompleteStale(e) ==
    /\ stale /\ FenceIgnoresOwner /\ forgot > 0
    /\ rec.state = "claimed"
    /\ Finish("succeeded", e)
    /\ stale' = FALSE

-----------------------------------------------------------------------------
(* The collector. *)

Forget ==
    /\ rec' = NoRecord
    /\ forgot' = Min(2, forgot + 1)
    /\ stale' = (stale \/ CollectUnfenced)
    /\ UNCHANGED <<until, req, ins, key, charges, told>>

(* At the reading e a reply has expired: its body is dropped. *)
DropBody(e) ==
    /\ Terminal /\ ~rec.tomb /\ Expired(e)
    /\ IF NoTombstone THEN Forget
       ELSE /\ rec' = [rec EXCEPT !.tomb = TRUE, !.print = ~TombstoneForgetsPrint,
                                  !.expires = e + Tombstone - (IF ShortTombstone THEN 1 ELSE 0)]
            /\ UNCHANGED <<until, req, ins, key, charges, told, forgot, stale>>

(* At the reading e a tombstone has expired: the record is deleted. *)
Delete(e) ==
    /\ rec.tomb /\ Expired(e)
    /\ Forget

(* The defect of a collector that does not ask whether a record is finished.*)
Reap(e) ==
    /\ IF rec.state = "claimed" THEN CollectUnfinished
       ELSE rec.state = "review" /\ CollectReview
    /\ Expired(e)
    /\ Forget

(* The defect of a delete without a fence: it was meant for another record. *)
DeleteStale ==
    /\ stale /\ CollectUnfenced /\ forgot > 0
    /\ Exists
    /\ rec' = NoRecord
    /\ stale' = FALSE
    /\ UNCHANGED <<until, req, ins, key, charges, told, forgot>>

(* The registry loses what it acknowledged. *)
Failover ==
    /\ BreakA3 /\ Exists
    /\ Forget

(* Time passes. *)
Older(lives) == [w \in Senders |-> IF BreakA2 THEN lives[w] ELSE Max(Over, lives[w] - 1)]

Tick ==
    /\ rec' = [rec EXCEPT !.expires = Max(Over, @ - 1)]
    /\ until' = Max(FarUntil, until - 1)
    /\ req' = Older(req)
    /\ ins' = Older(ins)
    /\ key' = [key EXCEPT !.age = IF @ < 0 THEN @ ELSE Min(Window, @ + 1)]
    /\ UNCHANGED <<charges, told, forgot, stale>>

ClaimReading == IF AgesFromClaim \/ ReplayExtends THEN Reading ELSE {0}

Next ==
    \/ \E w \in Senders, e \in ClientReading : Ask(w, e)
    \/ \E w \in Senders : Arrive(w)
    \/ \E w \in Senders, e \in ClaimReading : Insert(w, e)
    \/ Land
    \/ \E e \in Reading : Complete(e)
    \/ \E e \in Reading : Decline(e)
    \/ Review
    \/ \E e \in Reading : CompleteStale(e)
    \/ \E e \in Reading : DropBody(e)
    \/ \E e \in Reading : Delete(e)
    \/ \E e \in Reading : Reap(e)
    \/ DeleteStale
    \/ Failover
    \/ Tick

Spec == Init /\ [][Next]_vars

(* Time passes and the collector goes on.  Nothing else need happen. *)
FairSpec ==
    /\ Spec
    /\ WF_vars(\E e \in Reading : DropBody(e))
    /\ WF_vars(\E e \in Reading : Delete(e))
    /\ WF_vars(Tick)

-----------------------------------------------------------------------------
(* Every variable has the shape that its comment says. *)
TypeOK ==
    /\ rec.state \in {"none", "claimed", "succeeded", "declined", "review"}
    /\ rec.by \in {"-", "p", "q", "again"} /\ (Exists <=> rec.by # "-")
    /\ rec.landed \in BOOLEAN /\ rec.print \in BOOLEAN /\ rec.tomb \in BOOLEAN
    /\ rec.tomb => Terminal
    /\ rec.expires \in Over..(Max(Retention, Tombstone) + Skew + 1)
    /\ until \in FarUntil..(Horizon + Skew + 1)
    /\ \A w \in Senders : req[w] \in Over..Life /\ ins[w] \in Over..Life
    /\ key.age \in -1..Window /\ key.of \in {"-", "p", "q"}
    /\ charges.first \in 0..2 /\ charges.second \in 0..2
    /\ \A t \in told : /\ t.to \in {"p", "q", "again"} /\ t.of \in {"p", "q", "again"}
                       /\ t.says \in {"paid", "declined", "gone", "gone too soon", "mismatch"}
    /\ forgot \in 0..2 /\ stale \in BOOLEAN

(* Each operation is charged at most once. *)
SingleCharge == charges.first <= 1 /\ charges.second <= 1

(* "Paid" is told only of a charge that was made for the operation,         *)
(* "declined" only if there is none.                                        *)
TruthfulReply ==
    \A t \in told : /\ t.says = "paid"     => charges[Operation(t.to)] > 0
                    /\ t.says = "declined" => charges[Operation(t.to)] = 0

(* All final answers to one operation are equal, and within the horizon     *)
(* nobody hears that the reply is gone.                                     *)
StableReply ==
    /\ \A t \in told : t.says # "gone too soon"
    /\ \A t, u \in told : t.to = u.to /\ t.says # "gone" /\ u.says # "gone" => t.says = u.says

(* Nobody hears of the end of other parameters than its own, and a mismatch *)
(* is told to nobody else.                                                  *)
FingerprintBound ==
    \A t \in told : t.says = "mismatch" <=> Parameters(t.to) # Parameters(t.of)

(* Attempts that were promised, and all that may come. *)
OnTheWay(ws) == \E w \in ws : req[w] # Over \/ ins[w] # Over
MayCome      == until >= 0 \/ OnTheWay({"p", "q"})
MayComeLate  == until + Late >= 0 \/ OnTheWay({"p", "q"} \union (IF Late > 0 THEN {"lateP", "lateQ"} ELSE {}))

(* Nothing unfinished is forgotten, no reply while an attempt within the    *)
(* horizon may come, and no record while any may.                           *)
SafeRetention ==
    [][/\ Exists /\ ~rec.tomb /\ (rec'.tomb \/ rec'.state = "none") => Terminal /\ ~MayCome
       /\ Exists /\ rec'.state = "none" => Terminal /\ ~MayComeLate]_vars

(* What a finished record says never changes until it is forgotten: what    *)
(* came out, of whose parameters.                                           *)
TerminalIsFinal ==
    [][Terminal /\ rec'.state # "none"
       => rec'.state = rec.state /\ rec'.by = rec.by /\ rec'.print = rec.print]_vars

(* What is finished is forgotten in the end. *)
Forgotten == Terminal ~> ~Exists

(* Situations that must be reachable, as their denials. *)
NeverJustInTime ==
    ~(/\ Terminal /\ ~rec.tomb /\ until < 0 /\ req["p"] = Over /\ ins["p"] = 0
      /\ \E e \in Reading : e = rec.expires)
NeverGone             == ~\E t \in told : t.says = "gone"
NeverMetTombstone     == ~(rec.tomb /\ rec.print /\ Parameters(rec.by) = "p" /\ ins["lateQ"] # Over)
NeverForgotten        == ~(forgot > 0 /\ ~Exists /\ \E t \in told : t.says = "paid")
NeverReviewOutlives   == ~(rec.state = "review" /\ ~MayCome /\ key.age = Window)
NeverUsedAgain        == ~(charges.first = 1 /\ charges.second = 1)
=============================================================================
