package compensate

import (
	"fmt"
	"math/bits"
)

// Slot is a place for one run at a time: the handlers are 1, 2, …, and the
// reconcilers come after them. As an owner it is the token of the run that is
// in that place now.
type Slot uint8

// Gone is the owner of what a run wrote that is over.
const Gone Slot = 0

// RecordState is how far the operation's record has come.
type RecordState uint8

// The states of the operation's record.
const (
	NoState RecordState = iota // there is no record
	Claimed
	Sent
	Succeeded
	DeclinedState
)

// AuditState is how far the audit's record has come.
type AuditState uint8

// The states of the audit's record.
const (
	NoAuditState AuditState = iota // there is no record
	AuditOpen
	AuditDone
)

// Lease is what clocks say of a record's lease.
type Lease uint8

// The states of a lease, in the order in which they come.
const (
	NoLease   Lease = iota
	LeaseRuns       // others keep off
	LeaseOver       // others may go on
	LeaseDead       // and no request that it permitted can still land
)

// Window is what clocks say of the time to try.
type Window uint8

// The states of the window.
const (
	NoWindow     Window = iota
	WindowOpen          // a send may be made
	WindowClosed        // none may
)

// Said is what an answer says.
type Said uint8

// The answers.
const (
	Nothing Said = iota
	Paid
	Declined
)

// Step names a write.
type Step uint8

// The steps. The last three are writes of the audit.
const (
	NoStep Step = iota
	StepClaim
	StepTakeOver
	StepMarkSent
	StepComplete
	StepSettle
	StepAudit
	StepHold
	StepClose
)

// ofAudit reports whether the step writes the audit's record.
func (s Step) ofAudit() bool { return s >= StepAudit }

// Place is what a run does next.
type Place uint8

// The places. From AtHold on a run works on the audit.
const (
	AtIdle Place = iota
	AtAudit
	AtReadBack
	AtTakeOver
	AtMarkSent
	AtCharge
	AtSent
	AtComplete
	AtSettle
	AtReply
	AtTidy // only where a defect has no audit
	AtHold
	AtRefund
	AtRefunding
	AtClose
)

var (
	stateNames  = []string{"none", "claimed", "sent", "succeeded", "declined"}
	auditNames  = []string{"none", "open", "done"}
	leaseNames  = []string{"-", "runs", "over", "dead"}
	windowNames = []string{"-", "open", "closed"}
	saidNames   = []string{"-", "paid", "declined"}
	stepNames   = []string{"-", "claim", "take-over", "mark-sent", "complete", "settle", "audit", "hold", "close"}
	placeNames  = []string{
		"idle", "audit", "read-back", "take-over", "mark-sent", "charge", "sent", "complete", "settle", "reply", "tidy",
		"hold", "refund", "refunding", "close",
	}
)

func nameOf[T ~uint8](v T, kind string, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

// String returns the state as the specification writes it.
func (s RecordState) String() string { return nameOf(s, "state", stateNames) }

// String returns the state as the specification writes it.
func (s AuditState) String() string { return nameOf(s, "audit", auditNames) }

// String returns the lease as the specification writes it.
func (l Lease) String() string { return nameOf(l, "lease", leaseNames) }

// String returns the window as the specification writes it.
func (w Window) String() string { return nameOf(w, "window", windowNames) }

// String returns the word as the specification writes it.
func (s Said) String() string { return nameOf(s, "answer", saidNames) }

// String returns the step as the specification writes it.
func (s Step) String() string { return nameOf(s, "step", stepNames) }

// String returns the place as the specification writes it.
func (p Place) String() string { return nameOf(p, "place", placeNames) }

// Answer is what a run is told or tells: what it says, and the charge if that
// is Paid, counted from 1.
type Answer struct {
	Says   Said
	Charge uint8
}

var declined = Answer{Says: Declined}

// final reports whether the answer ends the operation for the client.
func (a Answer) final() bool { return a.Says != Nothing }

// String returns the answer in words, with the charge if there is one.
func (a Answer) String() string {
	if a.Says == Paid {
		return fmt.Sprintf("paid %d", a.Charge)
	}
	return a.Says.String()
}

// Record is the record of the operation. Its zero value is that there is none.
type Record struct {
	State  RecordState
	Owner  Slot
	Lease  Lease
	Window Window
	Eager  bool   // who finds the lease over may send again at once
	Reply  Answer // terminal records: it names the charge that is kept
}

// Terminal reports whether the operation is finished.
func (r Record) Terminal() bool { return r.State >= Succeeded }

// open reports whether there is a record that is not finished.
func (r Record) open() bool { return r.State == Claimed || r.State == Sent }

func (r Record) leaseOver() bool { return r.Lease >= LeaseOver }

// Audit is the record of the operation's audit. Its zero value is that there
// is none.
type Audit struct {
	State AuditState
	Lease Lease // of who refunds; only where the audit is taken over for each refund
}

// Write is a write that was not acknowledged.
type Write struct {
	Step  Step
	Owner Slot
	Reply Answer
}

// before orders writes, those that are not there last.
func (w Write) before(v Write) bool {
	key := func(w Write) int {
		return int(w.Step)<<12 | int(w.Owner)<<8 | int(w.Reply.Says)<<4 | int(w.Reply.Charge)
	}
	return key(w) > key(v)
}

// Set is a set of charges: a bit for each, counted from 0.
type Set uint8

func only(charge uint8) Set { return 1 << charge }

// without returns the set without the charge.
func (s Set) without(charge uint8) Set { return s &^ only(charge) }

// Has reports whether the charge is in the set.
func (s Set) Has(charge uint8) bool { return s>>charge&1 == 1 }

// first returns the smallest.
func (s Set) first() uint8 { return uint8(bits.TrailingZeros8(uint8(s))) }

// Charges returns the elements, the smallest first.
func (s Set) Charges() (all []uint8) {
	for ; s != 0; s = s.without(s.first()) {
		all = append(all, s.first())
	}
	return all
}

// Run is what one run has in memory. Its zero value is that there is none.
type Run struct {
	At     Place
	Step   Step   // AtReadBack: what was written
	Answer Answer // to be saved, or to be told
	Alone  bool   // no other send can land, said the clock
	Fresh  bool   // the record that the run works on is as it has read it; reading the audit back: it shows this run's token
	Todo   Set    // the charges that it is going to give back
}

// auditing reports whether the run works on the audit.
func (r Run) auditing() bool { return r.At >= AtHold || r.At == AtReadBack && r.Step == StepHold }

// Charge is a line of the provider's ledger.
type Charge struct {
	Refunds uint8 // how often it was given back; 2 stands for more
	Loose   uint8 // refunds of it that travel and that nobody waits for
}

// State is one state of the model. It is plain memory, without padding; two
// states are the same if they are equal.
type State struct {
	Record Record
	Audit  Audit
	runs   [maxSlots]Run
	late   [maxLate]Write // sorted
	ledger [maxCharges]Charge
	Made   uint8 // how many charges there are
	Stray  uint8 // charge requests that travel and that nobody waits for
	told   Set   // the final replies that were told: 0 is declined, the others are the charge
	Tries  uint8 // the attempts that are left
	Asking bool  // the retry horizon is not over
	Budget uint8 // the faults that are left
}

// Initial returns the one state in which a behaviour begins.
func Initial(c *Config) State {
	return State{Tries: uint8(c.Attempts), Asking: true, Budget: uint8(c.Faults)}
}

// Run returns what runs in the slot.
func (s *State) Run(h Slot) *Run { return &s.runs[h-1] }

// Charge returns a line of the ledger, counted from 1.
func (s *State) Charge(number uint8) *Charge { return &s.ledger[number-1] }

// Late returns the writes that were not acknowledged and may still be applied.
func (s *State) Late() (all []Write) {
	for _, w := range s.late {
		if w != (Write{}) {
			all = append(all, w)
		}
	}
	return all
}

func (s *State) setLate(all []Write) {
	s.late = [maxLate]Write{}
	for _, w := range all {
		s.addLate(w)
	}
}

// addLate puts a write into the sorted set.
func (s *State) addLate(w Write) {
	for i, v := range s.late {
		switch {
		case v == w:
			return
		case w.before(v):
			if s.late[maxLate-1] != (Write{}) {
				break
			}
			copy(s.late[i+1:], s.late[i:])
			s.late[i] = w
			return
		}
	}
	panic("compensate: no room for more late writes: the configuration is too large")
}

// charged appends a charge to the ledger and returns its number.
func (s *State) charged() uint8 {
	if s.Made == maxCharges {
		panic("compensate: no room for more charges: the configuration is too large")
	}
	s.Made++
	return s.Made
}

// Told returns the final replies that were told.
func (s *State) Told() (all []Answer) {
	for _, charge := range s.told.Charges() {
		if charge == 0 {
			all = append(all, declined)
		} else {
			all = append(all, Answer{Paid, charge})
		}
	}
	return all
}

func (s *State) tell(a Answer) { s.told |= only(a.Charge) }

// kept is the charge that stays, as a set: what the reply names, and none
// after a decline.
func (s *State) kept() Set {
	if s.Record.State == Succeeded {
		return only(s.Record.Reply.Charge)
	}
	return 0
}

// Net returns the charges that were not given back.
func (s *State) Net() (net Set) {
	for i := uint8(1); i <= s.Made; i++ {
		if s.Charge(i).Refunds == 0 {
			net |= only(i)
		}
	}
	return net
}

// travels reports whether a charge request is on its way.
func (s *State) travels() bool {
	for _, r := range s.runs {
		if r.At == AtSent {
			return true
		}
	}
	return s.Stray > 0
}

// refunding returns the charges of which a refund is on its way.
func (s *State) refunding() (all Set) {
	for i := uint8(1); i <= s.Made; i++ {
		if s.Charge(i).Loose > 0 {
			all |= only(i)
		}
	}
	for _, r := range s.runs {
		if r.At == AtRefunding {
			all |= only(r.Todo.first())
		}
	}
	return all
}

// quiet reports whether nothing travels and nobody is at work.
func (s *State) quiet() bool {
	return s.runs == [maxSlots]Run{} && !s.travels() && s.refunding() == 0
}

// Converged reports whether the operation is final, its audit not open, and
// nothing under way.
func (s *State) Converged() bool {
	return s.Record.Terminal() && s.Audit.State != AuditOpen && s.quiet()
}

// spend takes a fault off the budget, if there is one.
func (s *State) spend() bool {
	if s.Budget == 0 {
		return false
	}
	s.Budget--
	return true
}
