package impl

import (
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl/fingerprint"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// Run is one run of the handler, or of the reconciler on one record. Its
// owner token is fresh for each attempt to own the record, the claim and every
// resolve: two runs of one process are two owners, and a run that was taken
// over does not come back as who it was.
type Run struct {
	cfg   *Config
	ports *Ports
	ctx   context.Context
	owner string
}

// Begin returns a run that owns nothing yet. The gallery's handlers are
// written on it too: what is right in them is the same code.
func Begin(ctx context.Context, cfg *Config, ports *Ports) *Run {
	return &Run{cfg: cfg, ports: ports, ctx: ctx}
}

// Renew draws a fresh owner token.
func (r *Run) Renew() { r.owner = r.ports.IDs.Owner() }

// Owner returns the token that the run's next writes carry.
func (r *Run) Owner() string { return r.owner }

// Parse bounds the key, computes the fingerprint, and derives everything of
// the record that does not depend on time.
func Parse(req Request) (Record, error) {
	if req.Scope == "" {
		return Record{}, &RefusedError{"scope", errors.New("it is empty")}
	}
	key, err := idemkey.Parse(req.Key)
	if err != nil {
		return Record{}, &RefusedError{"key", err}
	}
	print, err := fingerprint.Of(req.Endpoint, req.Body)
	if err != nil {
		return Record{}, &RefusedError{"body", err}
	}
	if _, err := ParseAmount(print.Canonical); err != nil {
		return Record{}, &RefusedError{"body", err}
	}
	return Record{
		ID:          ID{req.Scope, key},
		Fingerprint: print.Digest,
		Request:     print.Canonical,
		ProviderKey: idemkey.Derive(req.Scope, key, "charge", 1),
		State:       StateClaimed,
	}, nil
}

// Claim inserts the record if the operation has none. It returns what is
// there, and whether this run owns it.
func (r *Run) Claim(fresh Record) (Record, bool, error) {
	now := r.ports.Clock.Now()
	fresh.WindowFrom = now
	fresh.LeaseUntil = now.Add(r.cfg.Lease)
	r.Renew()
	fresh.Owner = r.owner
	stored, inserted, err := r.ports.Registry.Insert(r.ctx, StepClaim, fresh)
	r.Observe(StepClaim, fresh.ID, err)
	if err == nil {
		return stored, inserted, nil
	}
	stored, ok, err := r.ReadBack(fresh.ID)
	if err != nil || !ok {
		return Record{}, false, ErrUnavailable
	}
	return stored, stored.Owner == r.owner && stored.State == StateClaimed, nil
}

// Replay tells the stored reply again. It reads and never writes.
func Replay(rec Record) (Reply, error) {
	if rec.Tombstone {
		return Reply{}, ErrGone
	}
	reply := rec.Reply
	reply.Replayed = true
	return reply, nil
}

// TakeOver makes the record this run's for one lease, in order to send.
func (r *Run) TakeOver(rec Record, now time.Time) (Record, error) {
	next := rec
	next.LeaseUntil = now.Add(r.cfg.Lease)
	return r.Write(StepTakeOver, rec, next)
}

// Complete saves the reply and tells it. Whoever loses the race tells the
// winner's.
func (r *Run) Complete(rec Record, step Step, reply Reply) (Reply, error) {
	saved, err := r.Write(step, rec, r.Finished(rec, reply))
	if err != nil {
		return r.AnswerLost(saved)
	}
	return saved.Reply, nil
}

// Finished returns the record as it is stored with its final reply.
func (r *Run) Finished(rec Record, reply Reply) Record {
	next := rec
	next.State = StateSucceeded
	if reply.Outcome == OutcomeDeclined {
		next.State = StateDeclined
	}
	next.Reply = reply
	next.ChargeID = reply.ChargeID
	next.ExpiresAt = r.ports.Clock.Now().Add(r.cfg.Retention)
	return next
}

// MaySend reads the clock and reports whether this run may send now: its
// lease runs and the window is open. Ask it right before every send.
func (r *Run) MaySend(rec *Record) bool {
	now := r.ports.Clock.Now()
	return now.Before(rec.LeaseUntil) && r.CanSend(rec, now)
}

// AnswerLost answers a run whose write was not applied: by what was read
// instead, which is the zero Record if that failed too.
func (r *Run) AnswerLost(rec Record) (Reply, error) {
	if rec.State.Terminal() {
		return Replay(rec)
	}
	return r.InProgress()
}

// errLost says that a write was not applied, as far as this run may assume.
var errLost = errors.New("impl: lost the record")

// Write replaces rec, as it was read, by next under this run's owner token.
// A write that is not acknowledged is followed by a read: it counts as applied
// only if the record shows this run's token in the state that was written.
// It returns the record as it is now.
func (r *Run) Write(step Step, rec, next Record) (Record, error) {
	next.Owner = r.owner
	err := r.ports.Registry.Update(r.ctx, step, rec.Fence(), next)
	r.Observe(step, rec.ID, err)
	if err == nil {
		next.Version = rec.Version + 1
		return next, nil
	}
	now, ok, err := r.ReadBack(rec.ID)
	switch {
	case err != nil || !ok:
		return Record{}, errLost
	case now.Owner == r.owner && now.State == next.State:
		return now, nil
	default:
		return now, errLost
	}
}

// ReadBack reads the record as it is now.
func (r *Run) ReadBack(id ID) (Record, bool, error) {
	rec, ok, err := r.ports.Registry.Get(r.ctx, StepReadBack, id)
	r.Observe(StepReadBack, id, err)
	return rec, ok, err
}

// Observe tells the observer, if there is one.
func (r *Run) Observe(step Step, id ID, err error) {
	if r.ports.Observer != nil {
		r.ports.Observer.Observe(Observation{step, id, err})
	}
}

// InProgress answers that the outcome is not known yet.
func (r *Run) InProgress() (Reply, error) {
	return Reply{}, &InProgressError{RetryAfter: r.cfg.Lease / 4}
}

// LeaseOver reports whether nobody is kept off any more. A lease further
// ahead than anyone could have written it counts as over.
func (r *Run) LeaseOver(rec *Record, now time.Time) bool {
	return now.After(rec.LeaseUntil) || rec.LeaseUntil.Sub(now) > r.cfg.Lease+r.cfg.MaxClockSkew
}

// CanSend reports whether the provider still collapses whatever is sent on
// the strength of this clock reading: every landing of the key then lies
// within ProviderWindow of the claim, whatever the clocks say.
func (r *Run) CanSend(rec *Record, now time.Time) bool {
	return now.Add(r.cfg.MessageLifetime + r.cfg.MaxClockSkew).Before(rec.WindowFrom.Add(r.cfg.ProviderWindow))
}

// Dead reports whether no send that anyone was permitted can still land
// unseen by a look-up that starts after this clock reading.
func (r *Run) Dead(rec *Record, now time.Time) bool {
	return now.After(rec.LeaseUntil.Add(r.cfg.MessageLifetime + r.cfg.LookupLag + r.cfg.MaxClockSkew))
}

// Unwanted reports whether no attempt of the operation can still arrive.
func (r *Run) Unwanted(rec *Record, now time.Time) bool {
	return now.After(rec.WindowFrom.Add(r.cfg.RetryHorizon + r.cfg.MessageLifetime + r.cfg.MaxClockSkew))
}
