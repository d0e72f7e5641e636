package history

import "time"

// Steps are what a run of the whole system did inside, call by call: what a
// history leaves out and a protocol model is about. They are kept in memory
// only, to be judged when the run is over; a recorded history has none.
type Steps struct {
	Operations []OperationName
	Runs       []Run
	Calls      []Call
	Steps      []Step
}

// Reset forgets all steps and keeps the memory.
func (s *Steps) Reset() {
	s.Operations, s.Runs, s.Calls, s.Steps = s.Operations[:0], s.Runs[:0], s.Calls[:0], s.Steps[:0]
}

// OperationName is what identifies an operation.
type OperationName struct{ Scope, Key string }

// Run is one run of a handler, or of the reconciler.
type Run struct {
	Name        string        // "server-1/3"
	Reconciler  bool          // it sweeps, and answers nobody
	Operation   int32         // a handler's: an index of Operations
	Order       string        // a handler's: the intent that it is asked for
	Fingerprint string        // a handler's: of the parameters that it is asked with
	Asked       time.Duration // a handler's: when its attempt was made
}

// Verb is which method of a port a call is.
type Verb uint8

// The verbs.
const (
	VerbInsert Verb = iota
	VerbGet
	VerbUpdate
	VerbDelete
	VerbUnfinished
	VerbExpired
	VerbCharge
	VerbLookup
	VerbRefund
)

var verbNames = [...]string{"insert", "get", "update", "delete", "unfinished", "expired", "charge", "lookup", "refund"}

// String returns the verb.
func (v Verb) String() string { return verbNames[v] }

// Nowhere is an index that points to nothing.
const Nowhere int32 = -1

// Call is one call of a run on the registry or the provider. What became of
// it is in Left, Applied and Answered, which are only final when the run of
// the system is over.
type Call struct {
	Verb      Verb
	Purpose   string // the name of the protocol's step that it is for: "take-over"
	Run       int32  // an index of Runs
	Operation int32  // an index of Operations, or Nowhere: provider calls have Ref instead
	Ref       string // Insert, Charge, Lookup: the provider key, or the reference that stands for it
	Request   uint64 // Insert, Update, Charge: digest of the provider request, 0 if there is none
	Version   uint64 // Update, Delete: what the record must be at
	// What is to be stored: Insert, Update.
	State       State
	Outcome     Outcome // of a terminal record
	Charge      string  // the kept charge, as the record names it
	Fingerprint string
	Tombstone   bool
	WindowFrom  time.Duration // by the writer's clock
	LeaseUntil  time.Duration // by the writer's clock

	Left     bool  // the request left the process
	Applied  int32 // Insert, Update, Delete: the step in which it was applied, or Nowhere
	Answered int32 // the step whose answer reached the run, or Nowhere
}

// StepKind is what a step tells.
type StepKind uint8

// The kinds of steps.
const (
	StepBegin  StepKind = iota // a run begins
	StepCall                   // a run makes a call: its clock was read before
	StepServed                 // a request of a call arrived, and this is what became of it
	StepListed                 // a record in the answer of the step before
	StepCopied                 // the network doubled a charge request
	StepLost                   // one copy of a charge request will never land
	StepEnd                    // a run is over
	StepDied                   // a run is over because its process died
)

var stepKindNames = [...]string{"begin", "call", "served", "listed", "copied", "lost", "end", "died"}

// String returns the kind's name.
func (k StepKind) String() string { return stepKindNames[k] }

// Result is what became of a request that arrived.
type Result uint8

// The results.
const (
	ResultNone      Result = iota
	ResultApplied          // a write was applied
	ResultConflict         // a write found another version, or no record
	ResultUnapplied        // the store refused: nothing was written or read
	ResultShown            // a read, or an insert that found a record, shows it
	ResultAbsent           // a read finds no record
	ResultListed           // a sweep got its list
	ResultCaptured         // a charge moved money
	ResultAbsorbed         // a charge moved no money and got the answer of an earlier one, an approval
	ResultDeclined         // a charge was declined, now or earlier
	ResultRejected         // a charge was not looked at
	ResultFound            // a look-up shows charges, or none
)

var resultNames = [...]string{
	"nothing", "applied", "conflict", "not applied", "shown", "absent", "listed", "captured", "absorbed", "declined", "rejected", "found",
}

// String returns the result's name.
func (r Result) String() string { return resultNames[r] }

// Step is one step of a run of the system, in the order in which they
// happened.
type Step struct {
	Kind   StepKind
	Result Result // Served
	At     time.Duration
	Events int32 // how many events of the history came before
	Run    int32 // an index of Runs
	Call   int32 // an index of Calls: all but Begin, End and Died
	// Served: the record as it is now or as it was read. Listed: as it was read.
	Operation int32 // Listed
	Version   uint64
	State     State
	Tombstone bool
	Outcome   Outcome // End: what the run answers; OutcomeNone is nothing
	Charge    string  // Served: the charge that the provider made or keeps. End: that it tells
	Found     int32   // Served: how many charges a look-up shows
	Hidden    int32   // Served: and how many it does not
}
