package behaviour

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// call is a question that a run asks through its ports: which port, and for
// which step. The zero call is that it asks nothing more.
type call struct {
	port string
	step impl.Step
}

func (c call) String() string {
	switch {
	case c == call{}:
		return "return"
	case c.step == impl.StepNone:
		return c.port
	default:
		return fmt.Sprintf("%s for %v", c.port, c.step)
	}
}

// The calls.
var (
	readClock  = call{port: "Clock.Now"}
	doze       = call{port: "Clock.Sleep"}
	claim      = call{"Registry.Insert", impl.StepClaim}
	readBack   = call{"Registry.Get", impl.StepReadBack}
	unfinished = call{"Registry.Unfinished", impl.StepSweep}
	expired    = call{"Registry.Expired", impl.StepCollect}
	bury       = call{"Registry.Delete", impl.StepCollect}
	send       = call{"Provider.Charge", impl.StepCharge}
	lookUp     = call{"Provider.Lookup", impl.StepLookUp}
	returned   = call{}
)

func update(s impl.Step) call { return call{"Registry.Update", s} }

// run is one run of the code, as a sequence of the calls on its ports. At each
// it stops until it is told to go on.
type run struct {
	*stage
	asks   call // what it waits for
	next   func() (call, bool)
	stop   func()
	yield  func(call) bool
	owners []string // the tokens that it has drawn

	at     time.Time // what its clock says next
	fault  fault     // of its next call
	answer answer    // of the provider to its charge request

	reply impl.Reply // once it has returned
	err   error
	last  call // how it has ended
}

// fault is what goes wrong with a call.
type fault uint8

// The faults.
const (
	noFault    fault = iota
	unanswered       // a write is not acknowledged, and may be applied later
	refused          // a write is surely not applied
	hidden           // a look-up shows nothing yet
	fails            // nothing can be read
)

// answer is what the provider says to a charge request.
type answer struct {
	impl.ChargeResult
	err error
}

// dead is what unwinds a run whose process has died.
type dead struct{}

// start lets a run begin, up to its first call.
func (s *stage) start(body func(*impl.Service) (impl.Reply, error)) *run {
	r := &run{stage: s}
	r.next, r.stop = iter.Pull(func(yield func(call) bool) {
		defer func() {
			if v := recover(); v != nil && v != (dead{}) {
				r.last = call{port: fmt.Sprintf("a panic: %v", v)}
			}
		}()
		r.yield = yield
		service, err := impl.New(s.config, impl.Ports{Registry: r, Provider: r, Clock: r, IDs: r})
		if err != nil {
			panic(err)
		}
		r.reply, r.err = body(service)
	})
	r.goOn()
	return r
}

// goOn lets the run take the answer to its call, up to its next one.
func (r *run) goOn() {
	var ok bool
	if r.asks, ok = r.next(); !ok {
		r.asks = r.last
	}
}

// await stops the run at a call.
func (r *run) await(port string, step impl.Step) {
	if !r.yield(call{port, step}) {
		panic(dead{})
	}
}

// Now returns the instant that the script has found for it.
func (r *run) Now() time.Time {
	r.await("Clock.Now", impl.StepNone)
	return r.at
}

// Sleep returns when the script says so.
func (r *run) Sleep(context.Context, time.Duration) error {
	r.await("Clock.Sleep", impl.StepNone)
	return r.failed()
}

// Key is not asked for by servers.
func (r *run) Key() string { panic("behaviour: a server makes a key") }

// Owner returns a fresh token, at once.
func (r *run) Owner() string {
	token := fmt.Sprintf("owner-%d", r.tokens)
	r.tokens++
	r.owners = append(r.owners, token)
	return token
}

// failed is the error of a call that only reads.
func (r *run) failed() error {
	if r.fault == fails {
		return impl.ErrUnknown
	}
	return nil
}

// write applies a write on a version, or does what is wrong with it.
func (r *run) write(version uint64, apply func() error) error {
	switch r.fault {
	case unanswered:
		r.writes = append(r.writes, unacknowledged{version, apply})
		return impl.ErrUnknown
	case refused:
		r.writes = append(r.writes, unacknowledged{})
		return impl.ErrNotApplied
	default:
		return apply()
	}
}

// Insert inserts, if that is not what goes wrong.
func (r *run) Insert(ctx context.Context, step impl.Step, rec impl.Record) (stored impl.Record, inserted bool, err error) {
	r.await("Registry.Insert", step)
	err = r.write(0, func() (err error) {
		stored, inserted, err = r.registry.Insert(ctx, step, rec)
		return err
	})
	return stored, inserted, err
}

// Get reads.
func (r *run) Get(ctx context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	r.await("Registry.Get", step)
	if err := r.failed(); err != nil {
		return impl.Record{}, false, err
	}
	return r.registry.Get(ctx, step, id)
}

// Update updates, if that is not what goes wrong.
func (r *run) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	r.await("Registry.Update", step)
	return r.write(was.Version, func() error { return r.registry.Update(ctx, step, was, next) })
}

// Delete deletes.
func (r *run) Delete(ctx context.Context, step impl.Step, id impl.ID, was impl.Fence) error {
	r.await("Registry.Delete", step)
	return r.registry.Delete(ctx, step, id, was)
}

// Unfinished reads.
func (r *run) Unfinished(ctx context.Context, step impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	r.await("Registry.Unfinished", step)
	return r.registry.Unfinished(ctx, step, before, after, limit)
}

// Expired reads.
func (r *run) Expired(ctx context.Context, step impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	r.await("Registry.Expired", step)
	return r.registry.Expired(ctx, step, before, limit)
}

// Charge puts a message on its way, and waits for what the script makes of it.
func (r *run) Charge(_ context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	r.messages = append(r.messages, req)
	r.await("Provider.Charge", step)
	return r.answer.ChargeResult, r.answer.err
}

// Lookup shows what the provider has, or nothing yet.
func (r *run) Lookup(_ context.Context, step impl.Step, ref string) ([]impl.Charge, error) {
	r.await("Provider.Lookup", step)
	switch {
	case r.fault == fails:
		return nil, impl.ErrUnknown
	case !r.config.Provider.Lookup:
		return nil, impl.ErrNoLookup
	case r.fault == hidden:
		return nil, nil
	}
	charges, _ := r.provider.Lookup(nil, ref, always)
	return charges, nil
}

// Refund is not asked for by the reference.
func (r *run) Refund(context.Context, impl.Step, impl.RefundRequest) error {
	panic("behaviour: the reference refunds")
}
