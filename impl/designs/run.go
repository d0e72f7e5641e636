package designs

import (
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/fingerprint"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// sweepLimit bounds one sweep; what is left over is found by the next.
const sweepLimit = 100

// run is one run of a hand-written handler, or of a reconciler on one record:
// what these designs do right and have in common. Its owner token is its own.
// Nothing in this file is a defect of a design.
type run struct {
	cfg   *impl.Config
	ports *impl.Ports
	ctx   context.Context
	owner string
}

func begin(ctx context.Context, cfg *impl.Config, ports *impl.Ports) *run {
	return &run{cfg, ports, ctx, ports.IDs.Owner()}
}

// operation parses an attempt into the record of its operation, as far as
// that does not depend on time or owner. It returns a *impl.RefusedError.
func operation(req impl.Request) (impl.Record, error) {
	key, err := idemkey.Parse(req.Key)
	if err != nil {
		return impl.Record{}, &impl.RefusedError{Field: "key", Err: err}
	}
	print, err := fingerprint.Of(req.Endpoint, req.Body)
	if err != nil {
		return impl.Record{}, &impl.RefusedError{Field: "body", Err: err}
	}
	if _, err := impl.ParseAmount(print.Canonical); err != nil {
		return impl.Record{}, &impl.RefusedError{Field: "body", Err: err}
	}
	return impl.Record{
		ID:          impl.ID{Scope: req.Scope, Key: key},
		Fingerprint: print.Digest,
		Request:     print.Canonical,
		ProviderKey: idemkey.Derive(req.Scope, key, "charge", 1),
		State:       impl.StateClaimed,
	}, nil
}

// claim inserts the record if the operation has none. It returns what is
// there, and whether this run owns it.
func (r *run) claim(fresh impl.Record) (impl.Record, bool, error) {
	now := r.ports.Clock.Now()
	fresh.WindowFrom = now
	fresh.LeaseUntil = now.Add(r.cfg.Lease)
	fresh.Owner = r.owner
	stored, inserted, err := r.ports.Registry.Insert(r.ctx, impl.StepClaim, fresh)
	r.observe(impl.StepClaim, fresh.ID, err)
	if err == nil {
		return stored, inserted, nil
	}
	stored, ok, err := r.read(fresh.ID)
	if err != nil || !ok {
		return impl.Record{}, false, impl.ErrUnavailable
	}
	return stored, stored.Owner == r.owner && stored.State == impl.StateClaimed, nil
}

// takeOver makes the record this run's for one lease.
func (r *run) takeOver(rec impl.Record) (impl.Record, error) {
	next := rec
	next.LeaseUntil = r.ports.Clock.Now().Add(r.cfg.Lease)
	return r.write(impl.StepTakeOver, rec, next)
}

// save completes with the provider's definite answer.
func (r *run) save(rec impl.Record, result impl.ChargeResult) (impl.Reply, error) {
	return r.complete(rec, impl.StepComplete, replyTo(rec, result))
}

func (r *run) complete(rec impl.Record, step impl.Step, reply impl.Reply) (impl.Reply, error) {
	saved, err := r.write(step, rec, r.finished(rec, reply))
	if err != nil {
		return r.answerLost(saved)
	}
	return saved.Reply, nil
}

// answerLost answers by the record that was read when a write of this run was
// not applied; the zero Record says that it could not be read.
func (r *run) answerLost(rec impl.Record) (impl.Reply, error) {
	if rec.State.Terminal() {
		return replay(rec)
	}
	return r.inProgress()
}

// finished returns the record as it is stored with its final reply.
func (r *run) finished(rec impl.Record, reply impl.Reply) impl.Record {
	rec.State = impl.StateSucceeded
	if reply.Outcome == impl.OutcomeDeclined {
		rec.State = impl.StateDeclined
	}
	rec.Reply = reply
	rec.ChargeID = reply.ChargeID
	rec.ExpiresAt = r.ports.Clock.Now().Add(r.cfg.Retention)
	rec.Owner = r.owner
	return rec
}

func replyTo(rec impl.Record, result impl.ChargeResult) impl.Reply {
	if result.Approved {
		return impl.PaidReply(&rec, result.ChargeID)
	}
	return impl.DeclinedReply(result.Code)
}

// replay tells the stored reply again.
func replay(rec impl.Record) (impl.Reply, error) {
	if rec.Tombstone {
		return impl.Reply{}, impl.ErrGone
	}
	reply := rec.Reply
	reply.Replayed = true
	return reply, nil
}

// errLost says that a write was not applied, as far as this run may assume.
var errLost = errors.New("designs: lost the record")

// write replaces the record as it was read. A write that is not acknowledged
// is followed by a read; it returns the record as it is now.
func (r *run) write(step impl.Step, rec, next impl.Record) (impl.Record, error) {
	next.Owner = r.owner
	err := r.ports.Registry.Update(r.ctx, step, rec.Fence(), next)
	r.observe(step, rec.ID, err)
	if err == nil {
		next.Version = rec.Version + 1
		return next, nil
	}
	now, ok, err := r.read(rec.ID)
	switch {
	case err != nil || !ok:
		return impl.Record{}, errLost
	case now.Owner == r.owner && now.State == next.State:
		return now, nil
	default:
		return now, errLost
	}
}

func (r *run) read(id impl.ID) (impl.Record, bool, error) {
	rec, ok, err := r.ports.Registry.Get(r.ctx, impl.StepReadBack, id)
	r.observe(impl.StepReadBack, id, err)
	return rec, ok, err
}

func (r *run) observe(step impl.Step, id impl.ID, err error) {
	if r.ports.Observer != nil {
		r.ports.Observer.Observe(impl.Observation{Step: step, ID: id, Err: err})
	}
}

func (r *run) inProgress() (impl.Reply, error) {
	return impl.Reply{}, &impl.InProgressError{RetryAfter: r.cfg.Lease / 4}
}

// abandoned reports whether the record is open and its owner's lease is over.
// A lease further ahead than anyone could have written it counts as over.
func (r *run) abandoned(rec impl.Record) bool {
	now := r.ports.Clock.Now()
	over := now.After(rec.LeaseUntil) || rec.LeaseUntil.Sub(now) > r.cfg.Lease+r.cfg.MaxClockSkew
	return over && (rec.State == impl.StateClaimed || rec.State == impl.StateSent)
}

// maySend reports, just before a send, whether this run's lease runs and the
// window is open.
func (r *run) maySend(rec impl.Record) bool {
	now := r.ports.Clock.Now()
	return now.Before(rec.LeaseUntil) && r.windowOpen(rec, now)
}

// windowOpen reports whether the provider still collapses whatever is sent on
// the strength of this clock reading.
func (r *run) windowOpen(rec impl.Record, now time.Time) bool {
	return now.Add(r.cfg.MessageLifetime + r.cfg.MaxClockSkew).Before(rec.WindowFrom.Add(r.cfg.ProviderWindow))
}

// deadAt is the instant after which no send that anyone was permitted can
// still land unseen by a look-up that starts later.
func (r *run) deadAt(rec impl.Record) time.Time {
	return rec.LeaseUntil.Add(r.cfg.MessageLifetime + r.cfg.LookupLag + r.cfg.MaxClockSkew)
}

// unwanted reports whether no attempt of the operation can still arrive.
func (r *run) unwanted(rec impl.Record, now time.Time) bool {
	return now.After(rec.WindowFrom.Add(r.cfg.RetryHorizon + r.cfg.MessageLifetime + r.cfg.MaxClockSkew))
}

// insertFinished stores a record that was never claimed, together with its
// reply, and tells what is stored: the winner's reply if another was first.
func (r *run) insertFinished(fresh impl.Record, result impl.ChargeResult) (impl.Reply, error) {
	fresh.WindowFrom = r.ports.Clock.Now()
	fresh.LeaseUntil = fresh.WindowFrom
	stored, inserted, err := r.ports.Registry.Insert(r.ctx, impl.StepComplete, r.finished(fresh, replyTo(fresh, result)))
	r.observe(impl.StepComplete, fresh.ID, err)
	switch {
	case err != nil:
		return r.inProgress()
	case stored.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case inserted:
		return stored.Reply, nil
	default:
		return replay(stored)
	}
}
