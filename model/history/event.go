package history

import "time"

// Kind is what an event tells.
type Kind uint8

// The kinds of events. Call, Return and Unanswered are what a client sees;
// Charge, Absorbed, Refusal and Refund are lines of the provider's ledger;
// Crash is an observer's; Send, Write and Forget tell of the protocol inside
// and are optional in a recorded history.
const (
	KindNone       Kind = iota
	KindCall            // an attempt was sent to the service
	KindReturn          // an attempt was answered
	KindUnanswered      // an attempt got no answer in time; it may still take effect
	KindGiveUp          // the client stopped asking without a final answer
	KindCharge          // the ledger: money was captured
	KindAbsorbed        // the ledger: a charge request landed and moved no money, since its key was known
	KindRefusal         // the ledger: a charge request landed and was declined
	KindRefund          // the ledger: a charge was given back in full
	KindCrash           // a process died and lost its memory
	KindSend            // a charge request left a process for the provider
	KindWrite           // the registry applied a write
	KindForget          // the registry deleted a record
	KindHeal            // the faults are over: from here on everything must converge
	KindEnd             // nothing more will happen
	KindCount
)

// Outcome is what an answer says to the client.
type Outcome uint8

// The outcomes. Paid, Declined, Failed, Mismatch, Gone and Refused are final;
// InProgress and Unavailable say that the client may ask again.
const (
	OutcomeNone        Outcome = iota
	OutcomePaid                // charged; status 200 or 201
	OutcomeDeclined            // not charged, and it will not be; status 402
	OutcomeFailed              // not charged, and it will not be; status 500 to 504 but 503
	OutcomeMismatch            // the key was used with other parameters; status 422
	OutcomeGone                // finished, the reply is no longer kept; status 410
	OutcomeRefused             // the request can never be accepted; status 400
	OutcomeInProgress          // not known yet; status 409 or 425
	OutcomeUnavailable         // not even asked; status 429 or 503
	OutcomeCount
)

// Final reports whether an answer ends the operation for its client.
func (o Outcome) Final() bool { return o >= OutcomePaid && o <= OutcomeRefused }

// State is the state of a record in Write events.
type State uint8

// The states, as in the protocol.
const (
	StateNone State = iota
	StateClaimed
	StateSent
	StateSucceeded
	StateDeclined
	StateReview
	StateCount
)

// Terminal reports whether a record in this state must not change again.
func (s State) Terminal() bool { return s == StateSucceeded || s == StateDeclined }

// Event is one line of a history. Which fields are set depends on the kind;
// the codec documents them one by one.
type Event struct {
	Kind    Kind
	At      time.Duration // since the start of the history, never decreasing
	Process string        // who: "client-1", "server-2", "provider", "registry"

	// Operation is the client's intent: one order that is to be paid once.
	// It is the observer's knowledge; no service reads it.
	Operation string
	Attempt   int    // Call, Return, Unanswered: 1, 2, …; unique within operation and client
	Scope     string // tenant and endpoint
	Key       string // idempotency key

	Fingerprint string // Call, Write: digest of the parameters
	Amount      int64  // Call, Return (paid), Charge, Absorbed, Refusal, Refund: minor units
	Currency    string // with Amount

	Outcome  Outcome // Return; Write of a terminal record: what it will tell
	Status   int     // Return; Write of a terminal record: HTTP status
	Body     uint64  // Return; Write of a terminal record: digest of the reply's headers and body, 0 if there is none
	Replayed bool    // Return: told from the record
	Charge   string  // Return (paid), Charge, Absorbed, Refund, Write: the provider's id of the charge

	ProviderKey string // Charge, Absorbed, Refusal, Send, Write: the key sent to the provider
	Request     uint64 // Send, Write: digest of the provider request

	State      State         // Write
	Version    uint64        // Write, Forget: version after the write; of what was deleted
	Owner      string        // Write: the fencing token after the write
	Run        string        // Write, Send: the handler run that asked, unique: "server-1/3"
	Insert     bool          // Write: the record is new
	Tombstone  bool          // Write: the body was dropped
	WindowFrom time.Duration // Write: by the writer's clock
	LeaseUntil time.Duration // Write: by the writer's clock
}

// Header is the first line of a recorded history: what the system promises.
// A zero value means "not stated", and what depends on it is not judged.
type Header struct {
	// RetryHorizon is how long after its first attempt a client may still
	// send a key.
	RetryHorizon time.Duration
	// ProviderWindow is how long the provider collapses equal keys.
	ProviderWindow time.Duration
	// Settled bounds how long after healing an operation that is asked for
	// may take to get its final answer.
	Settled time.Duration
	// Keyless says that the provider has no keys: a send needs a record in
	// state sent.
	Keyless bool
	// Once says that without keys no second send is ever allowed.
	Once bool
	// Compensates says that "one net charge" holds only at the end.
	Compensates bool
	// Complete says that the events Send, Write and Forget are all there, so
	// that the invariants of the protocol can be judged.
	Complete bool
}
