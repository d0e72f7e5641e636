package impl

import (
	"context"
	"time"
)

// Handler answers one attempt.
type Handler interface {
	Handle(ctx context.Context, req Request) (Reply, error)
}

// Reconciler sweeps unfinished records once.
type Reconciler interface {
	Reconcile(ctx context.Context) error
}

// Payment is one order that a client wants paid once.
type Payment struct {
	Scope    string
	Endpoint string
	Key      string // the key from the client's journal, or "" on the first attempt
	Body     []byte
	Since    time.Time // when the first attempt was made; the zero time before it
}

// ClientPorts are what a client process is given.
type ClientPorts struct {
	Transport Transport
	Clock     Clock
	IDs       IDs
	// Journal saves the key, and when that was, before the first attempt, so
	// that a client that restarts goes on with the same key and horizon.
	Journal func(key string)
}

// Client decides on keys and retries. Pay returns the final reply, or the
// last answer when it gave up.
type Client interface {
	Pay(ctx context.Context, p Payment) (Reply, error)
}

// Design is a way to build a payment service, right or wrong. Its factories
// are called anew for each incarnation of a process: memory is lost at a
// crash, the registry stays.
type Design struct {
	Name    string
	Summary string // one line: what it does
	Doc     string // what it believes and what breaks it
	Source  string // where it was seen
	// Expect is "held", or the invariant of the checkers that it must break.
	Expect string
	// Profiles are the provider profiles it is meant for, the first is the
	// default; empty means keyed.
	Profiles []string
	// Scenarios are those in which its defect shows; empty means all.
	Scenarios []string
	// Refines says that the design claims to follow the protocol step by step,
	// so that its runs are held against the protocol model, too.
	Refines bool
	// Compensates says that "one net charge" holds only after convergence.
	Compensates bool
	// Breaks lists the assumptions that a deployment of this design does not
	// keep; its defect shows in a world that may break them. Empty for a design
	// that goes wrong where all of them hold.
	Breaks []Assumption

	Tune       func(Config) Config // what the design changes of the given configuration; may be nil
	Client     func(Config, ClientPorts) Client
	Handler    func(Config, Ports) Handler
	Reconciler func(Config, Ports) Reconciler // nil: none runs
	// ReadsReplica says that the design reads copies of records, with
	// StepReadReplica: its deployment has a replica, which may lag.
	ReadsReplica bool
	// Registry is what the design's statements make of the registry that it is
	// given: what they compare, in one transaction where the records are, behind
	// the network. Nil leaves it as it is.
	Registry func(Registry) Registry
}
