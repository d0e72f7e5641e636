package impl

import (
	"cmp"
	"fmt"
	"time"
)

// ID names an operation: the key is the client's, unique within the scope.
type ID struct {
	Scope string // tenant and endpoint, see [Scope]
	Key   string // idempotency key, one per operation, the same on every attempt
}

// Scope joins a tenant and an endpoint ("POST /payments") injectively: the
// tenant's length comes first, so no two pairs give one scope.
func Scope(tenant, endpoint string) string {
	return fmt.Sprintf("%d:%s %s", len(tenant), tenant, endpoint)
}

// State is how far an operation has come.
type State uint8

// The states of a record. Succeeded and Declined are terminal.
const (
	StateNone      State = iota
	StateClaimed         // somebody owns it; with a keyed provider a charge may be on its way
	StateSent            // providers without keys only: a charge may be on its way
	StateSucceeded       // charged, and ChargeID is the charge that is kept
	StateDeclined        // not charged, and no charge can land any more
	StateReview          // only a person can tell; looked up by the reconciler, never sent, never settled
	stateCount
)

var stateNames = [stateCount]string{"none", "claimed", "sent", "succeeded", "declined", "review"}

// String returns the state's name.
func (s State) String() string {
	if s < stateCount {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Terminal reports whether a record in this state never changes again (but
// for dropping its body and, later, its tombstone).
func (s State) Terminal() bool { return s == StateSucceeded || s == StateDeclined }

// Record is what the registry keeps of one operation.
type Record struct {
	ID
	Fingerprint string    // digest of the significant parameters, written at the claim
	Request     []byte    // the provider request, byte for byte; every send of every owner sends these
	ProviderKey string    // derived at the claim; at most 64 characters
	WindowFrom  time.Time // the instant of the claim; no later write moves it
	State       State
	Version     uint64 // goes up by one at every write; 1 after the claim
	Owner       string // fresh token of the handler run that wrote last
	LeaseUntil  time.Time
	Reply       Reply     // terminal records: what the client was and will be told
	ChargeID    string    // the provider's id of the kept charge
	ExpiresAt   time.Time // terminal records: when the body, then the tombstone, may go; otherwise zero
	Tombstone   bool      // the body was dropped; identity, fingerprint, outcome and charge id stay
}

// Fence is what an update must find: the version and the owner as last read.
type Fence struct {
	Version uint64
	Owner   string
}

// Fence returns the fence of the record as it is.
func (r *Record) Fence() Fence { return Fence{r.Version, r.Owner} }

// Cursor is a place in the order of Registry.Unfinished, whether a record is
// there or not. The zero Cursor is the beginning, before any record.
type Cursor struct {
	LeaseUntil time.Time
	ID         ID
}

// Cursor returns the place of the record as it is.
func (r *Record) Cursor() Cursor { return Cursor{r.LeaseUntil, r.ID} }

// Compare orders places by lease, then by scope and key: it is -1, 0 or +1.
func (c Cursor) Compare(o Cursor) int {
	return cmp.Or(c.LeaseUntil.Compare(o.LeaseUntil), cmp.Compare(c.ID.Scope, o.ID.Scope), cmp.Compare(c.ID.Key, o.ID.Key))
}

// IsZero reports whether the cursor is the beginning.
func (c Cursor) IsZero() bool { return c.LeaseUntil.IsZero() && c.ID == ID{} }

// Outcome is what a final reply says of the money.
type Outcome uint8

// The final outcomes.
const (
	OutcomeNone     Outcome = iota
	OutcomePaid             // charged once
	OutcomeDeclined         // not charged, and it will not be
	outcomeCount
)

var outcomeNames = [outcomeCount]string{"none", "paid", "declined"}

// String returns the outcome's name.
func (o Outcome) String() string {
	if o < outcomeCount {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// Reply is a final answer to the client: it is stored before it is told, and
// told again, byte for byte, to every later attempt.
type Reply struct {
	Outcome  Outcome
	Status   int           // HTTP status: 201 paid, 402 declined
	Header   []HeaderField // allow-listed headers only
	Body     []byte
	ChargeID string // the kept charge, empty when declined
	Replayed bool   // told from the record and not by the run that settled it; not stored
}

// HeaderField is one header of a stored reply.
type HeaderField struct{ Name, Value string }
