package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// sweepLimit bounds one sweep; what is left over is found by the next.
const sweepLimit = 100

// run is one run of a hand-written handler, or of a reconciler on one record:
// the reference's own, and what these designs have in common beyond it.
// Nothing in this file is a defect of a design.
type run struct {
	*impl.Run
	cfg   *impl.Config
	ports *impl.Ports
	ctx   context.Context
	body  []byte // of the request as it came; nil for the reconciler and where nobody reads it
}

func begin(ctx context.Context, cfg *impl.Config, ports *impl.Ports) *run {
	r := &run{Run: impl.Begin(ctx, cfg, ports), cfg: cfg, ports: ports, ctx: ctx}
	r.Renew()
	return r
}

// takeOver makes the record this run's for one lease.
func (r *run) takeOver(rec impl.Record) (impl.Record, error) {
	r.Renew()
	return r.TakeOver(rec, r.ports.Clock.Now())
}

// lookUp asks the provider for the charges made under the record's key.
func (r *run) lookUp(rec *impl.Record) ([]impl.Charge, error) {
	charges, err := r.ports.Provider.Lookup(r.ctx, impl.StepLookUp, rec.ProviderKey)
	r.Observe(impl.StepLookUp, rec.ID, err)
	return charges, err
}

// review hands the record over to a person.
func (r *run) review(rec impl.Record) (impl.Reply, error) {
	next := rec
	next.State = impl.StateReview
	if now, err := r.Write(impl.StepReview, rec, next); err != nil {
		return r.AnswerLost(now)
	}
	return r.InProgress()
}

// save completes with the provider's definite answer.
func (r *run) save(rec impl.Record, result impl.ChargeResult) (impl.Reply, error) {
	return r.Complete(rec, impl.StepComplete, replyTo(rec, result))
}

func replyTo(rec impl.Record, result impl.ChargeResult) impl.Reply {
	if result.Approved {
		return impl.PaidReply(&rec, result.ChargeID)
	}
	return impl.DeclinedReply(result.Code)
}

// abandoned reports whether the record is open and its owner's lease is over.
func (r *run) abandoned(rec impl.Record) bool {
	return r.LeaseOver(&rec, r.ports.Clock.Now()) && (rec.State == impl.StateClaimed || rec.State == impl.StateSent)
}

// insertFinished stores a record that was never claimed, together with its
// reply, and tells what is stored: the winner's reply if another was first.
func (r *run) insertFinished(fresh impl.Record, result impl.ChargeResult) (impl.Reply, error) {
	fresh.WindowFrom = r.ports.Clock.Now()
	fresh.LeaseUntil = fresh.WindowFrom
	fresh.Owner = r.Owner()
	stored, inserted, err := r.ports.Registry.Insert(r.ctx, impl.StepComplete, r.Finished(fresh, replyTo(fresh, result)))
	r.Observe(impl.StepComplete, fresh.ID, err)
	switch {
	case err != nil:
		return r.InProgress()
	case stored.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case inserted:
		return stored.Reply, nil
	default:
		return impl.Replay(stored)
	}
}
