package impl

import (
	"context"
	"time"
)

// Registry is the one shared, durable, linearizable store of records. It is
// small on purpose: every design of the gallery is written on it, the wrong
// ones by misusing it.
//
// An error that is ErrConflict or ErrNotApplied says that nothing was
// written; any other error says that the write may have happened and may
// still happen. The bytes of a record that went in or came out are written by
// nobody any more, so that both sides may keep them.
type Registry interface {
	// Insert stores rec at version 1 unless a record with its ID exists.
	// It returns what is stored now and whether that is rec.
	Insert(ctx context.Context, step Step, rec Record) (stored Record, inserted bool, err error)
	// Get returns the record, and false if there is none. With StepReadReplica
	// it may return them as they were a while ago.
	Get(ctx context.Context, step Step, id ID) (rec Record, ok bool, err error)
	// Update replaces the record with next if its version and owner are
	// those of was, and sets next's version to was.Version+1. It returns
	// ErrConflict when they are not, or there is no such record.
	Update(ctx context.Context, step Step, was Fence, next Record) error
	// Delete removes the record if its version and owner are those of was.
	// It returns ErrConflict when they are not, or there is no such record.
	Delete(ctx context.Context, step Step, id ID, was Fence) error
	// Unfinished returns at most limit records that are claimed, sent or in
	// review and whose lease ended before the instant, the oldest lease first,
	// then by scope and key (as bytes): those strictly after the cursor in that
	// order, or from the beginning if it is zero. What is left open keeps its
	// place, so that whoever wants all has to go on from the last one.
	Unfinished(ctx context.Context, step Step, before time.Time, after Cursor, limit int) ([]Record, error)
	// Expired returns at most limit terminal records whose ExpiresAt is
	// before the instant, the earliest first, then by scope and key.
	Expired(ctx context.Context, step Step, before time.Time, limit int) ([]Record, error)
}

// Charge is one charge in the provider's ledger, as look-up tells it.
type Charge struct {
	ID       string
	Amount   int64  // minor units
	Currency string // ISO 4217
	Refunded bool   // refunded in full
}

// ChargeRequest is one send to the provider.
type ChargeRequest struct {
	Key  string // the provider key; empty where the provider has no keys
	Ref  string // the reference by which look-up finds the charge; the provider key, always
	Body []byte // the provider request, byte for byte
}

// ChargeResult is a definite answer to a charge.
type ChargeResult struct {
	Approved bool   // false: declined
	ChargeID string // the charge, if approved
	Code     string // the reason, if declined
}

// RefundRequest asks for a full refund of one charge.
type RefundRequest struct {
	Key      string // derived like a provider key, verb "refund"
	ChargeID string
}

// Provider moves the money. An error that is ErrNotSent says that the request
// never left; a *ProviderError is an answer that is not definite; any other
// error says that it may have happened and may still.
type Provider interface {
	// Charge sends the request. Approved and declined are results, not errors.
	Charge(ctx context.Context, step Step, req ChargeRequest) (ChargeResult, error)
	// Lookup returns the charges made under the reference, oldest first,
	// complete after the provider's look-up lag. It returns ErrNoLookup when
	// the provider has none.
	Lookup(ctx context.Context, step Step, ref string) ([]Charge, error)
	// Refund gives one charge back in full. Refunding a refunded charge is
	// an error with status 409 where the provider promises RefundsOnce;
	// elsewhere it may give the money back again.
	Refund(ctx context.Context, step Step, req RefundRequest) error
}

// Clock is the process's own clock: it may differ from any other by
// MaxClockSkew.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or earlier with the context's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// IDs makes names that never repeat.
type IDs interface {
	// Key returns a fresh idempotency key (clients).
	Key() string
	// Owner returns a fresh fencing token, one for each handler run.
	Owner() string
}

// Locks are mutexes by name in the memory of one process: they vanish with
// it and no other process sees them.
type Locks interface {
	Lock(ctx context.Context, name string)
	Unlock(name string)
}

// Observer is told what happened, for logs, metrics and traces. It must not
// block and must not call a port.
type Observer interface {
	Observe(Observation)
}

// Observation is one finished port call or one answer of the service.
type Observation struct {
	Step Step
	ID   ID    // zero for sweep and collect, which are about no one record
	Err  error // nil when the call was answered as hoped
}

// Transport carries one attempt of a client to the service. The error is one
// of the service's answers, or ErrUnknown when none came.
type Transport interface {
	Send(ctx context.Context, req Request) (Reply, error)
}

// Ports are what a process is given.
type Ports struct {
	Registry Registry
	Provider Provider
	Clock    Clock
	IDs      IDs
	Locks    Locks
	Observer Observer // may be nil
}

// Request is one attempt as the service receives it.
type Request struct {
	Scope    string // see [Scope]; the tenant comes from authentication, never from the body
	Endpoint string // method and route, "POST /payments"
	Key      string // idempotency key
	Body     []byte // JSON
}
