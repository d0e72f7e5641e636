package protocol

import "fmt"

// Slot is a place for one run at a time: the handlers are 1, 2, …, and the
// reconciler comes after them. As an owner it is the token of the run that is
// in that place now.
type Slot uint8

// Gone is the owner of what a run wrote that is over.
const Gone Slot = 0

// Parameters are those of a request: the client's own, or other ones under the
// same key.
type Parameters uint8

// The parameters. ForeignParameters are those of somebody else's charge.
const (
	NoParameters Parameters = iota
	P
	Q
	ForeignParameters
)

// RecordState is how far the record has come.
type RecordState uint8

// The states of a record.
const (
	NoState RecordState = iota // there is no record
	Claimed
	Sent
	Succeeded
	DeclinedState
	InReview
)

// Lease is what clocks say of the record's lease.
type Lease uint8

// The states of a lease, in the order in which they come.
const (
	NoLease   Lease = iota // the record is terminal, or there is none
	LeaseRuns              // others keep off
	LeaseOver              // others may resolve
	LeaseDead              // and no send that it permitted can still land
)

// Window is what clocks say of the provider's window.
type Window uint8

// The states of the window.
const (
	NoWindow     Window = iota
	WindowOpen          // the guard lets a send pass
	WindowClosed        // it does not, but by a clock that is behind
	WindowPast          // by none
)

// Said is what an answer says.
type Said uint8

// The answers.
const (
	Nothing Said = iota
	Paid
	Declined
	InProgress
	Mismatch
)

// Answer is what a run is told or tells: what it says, and the charge if that
// is Paid, counted from 1.
type Answer struct {
	Says   Said
	Charge uint8
}

// Final reports whether the answer ends the operation for the client.
func (a Answer) Final() bool { return a.Says == Paid || a.Says == Declined }

// Step names a write, or what brought a run to its reply.
type Step uint8

// The steps.
const (
	NoStep Step = iota
	StepClaim
	StepTakeOver
	StepMarkSent
	StepComplete
	StepSettle
	StepReview
	StepReplay
)

// Place is what a run does next.
type Place uint8

// The places.
const (
	AtIdle Place = iota
	AtWait
	AtReadBack
	AtLookUp
	AtTakeOver
	AtMarkSent
	AtCharge
	AtSent
	AtComplete
	AtSettle
	AtReview
	AtReply
	AtInsert // only where a defect asks first
)

var (
	parameterNames = []string{"-", "p", "q", "foreign"}
	stateNames     = []string{"none", "claimed", "sent", "succeeded", "declined", "review"}
	leaseNames     = []string{"-", "runs", "over", "dead"}
	windowNames    = []string{"-", "open", "closed", "past"}
	saidNames      = []string{"-", "paid", "declined", "in progress", "mismatch"}
	stepNames      = []string{"-", "claim", "take-over", "mark-sent", "complete", "settle", "review", "replay"}
	placeNames     = []string{"idle", "wait", "read-back", "look-up", "take-over", "mark-sent", "charge", "sent", "complete", "settle", "review", "reply", "insert"}
)

func nameOf[T ~uint8](v T, kind string, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

// String returns the parameters as the specification writes them.
func (p Parameters) String() string { return nameOf(p, "parameters", parameterNames) }

// String returns the state as the specification writes it.
func (s RecordState) String() string { return nameOf(s, "state", stateNames) }

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

// String returns the answer in words, with the charge if there is one.
func (a Answer) String() string {
	if a.Says == Paid {
		return fmt.Sprintf("paid %d", a.Charge)
	}
	return a.Says.String()
}
