package impl

import (
	"context"
	"errors"
	"iter"
	"time"
)

// want says whether somebody asks for the outcome now.
type want bool

const (
	wanted  want = true
	unasked want = false
)

// resolve finds out how an operation ended whose owner's lease is over. It
// writes nothing until it knows what to write: the clock, then the look-up,
// then one compare-and-swap on the record as it was read.
func (r *Run) resolve(rec Record, by want) (Reply, error) {
	r.Renew()
	now := r.ports.Clock.Now()
	charges, err := r.ports.Provider.Lookup(r.ctx, StepLookUp, rec.ProviderKey)
	r.Observe(StepLookUp, rec.ID, err)
	noLookup := errors.Is(err, ErrNoLookup)
	if err != nil && !noLookup {
		return r.InProgress()
	}
	if len(charges) > 0 {
		return r.found(rec, charges)
	}
	if rec.State == StateReview {
		return r.InProgress()
	}
	// Where keys collapse approvals and declines alike, a second send joins the
	// first. Elsewhere it is a second question to the bank, so that the first
	// must be provably over: never sent, or dead and not found. Then the answer
	// to the second is definite, a decline too. Where failures are stored it may
	// only hear the first one's failure: no take-over is ever in time.
	collapses := r.cfg.Provider.Keys && r.cfg.Provider.StoresDeclines
	neverSent := !r.cfg.Provider.Keys && rec.State == StateClaimed
	dead := r.Dead(&rec, now)
	resend := collapses || neverSent || dead && (r.cfg.Provider.Keys || !noLookup)
	frozen := r.cfg.Provider.Keys && r.cfg.Provider.StoresFailures
	windowOpen := !frozen && r.CanSend(&rec, now.Add(r.cfg.HealthyRun)) // or a take-over moves the lease and sends nothing
	notCharged := dead && (neverSent || !noLookup)
	switch {
	case by == wanted && windowOpen && resend:
		taken, err := r.TakeOver(rec, now)
		if err != nil {
			return r.AnswerLost(taken)
		}
		return r.charge(taken)
	case notCharged && (r.Unwanted(&rec, now) || !windowOpen):
		return r.Complete(rec, StepSettle, DeclinedReply("not_charged"))
	case dead && !notCharged && (!r.cfg.Provider.Keys || !windowOpen):
		return r.review(rec)
	default:
		return r.InProgress()
	}
}

// found completes with the charge that the provider shows, or hands over
// what is not this operation's.
func (r *Run) found(rec Record, charges []Charge) (Reply, error) {
	amount, err := ParseAmount(rec.Request)
	if err != nil || len(charges) != 1 || charges[0].Refunded || charges[0].Amount != amount.Minor || charges[0].Currency != amount.Currency {
		if rec.State == StateReview {
			return r.InProgress()
		}
		return r.review(rec)
	}
	return r.Complete(rec, StepComplete, PaidReply(&rec, charges[0].ID))
}

func (r *Run) review(rec Record) (Reply, error) {
	next := rec
	next.State = StateReview
	if now, err := r.Write(StepReview, rec, next); err != nil {
		return r.AnswerLost(now)
	}
	return r.InProgress()
}

// sweepLimit bounds one answer of the registry.
const sweepLimit = 100

// Sweep yields all unfinished records whose lease ended before the instant, a
// page at a time: what is left open, however much of it, hides nothing that
// comes after it. It ends with the registry's error, if there is one.
func (r *Run) Sweep(before time.Time) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for after := (Cursor{}); ; {
			page, err := r.ports.Registry.Unfinished(r.ctx, StepSweep, before, after, sweepLimit)
			r.Observe(StepSweep, ID{}, err)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, rec := range page {
				if !yield(rec, nil) {
					return
				}
			}
			if len(page) < sweepLimit {
				return
			}
			after = page[len(page)-1].Cursor()
		}
	}
}

// Reconcile sweeps once: it resolves the unfinished records whose lease is
// over, drops the bodies of expired replies and deletes expired tombstones.
// It returns the first error of the registry; what it did not reach is found
// by the next sweep. Of what has expired a sweep takes a part and the next
// ones the rest, since what was taken is gone.
func (s *Service) Reconcile(ctx context.Context) error {
	now := s.ports.Clock.Now()
	for rec, err := range Begin(ctx, &s.cfg, &s.ports).Sweep(now) {
		if err != nil {
			return err
		}
		// Every answer but a settled one leaves the record to a later sweep.
		_, _ = Begin(ctx, &s.cfg, &s.ports).resolve(rec, want(s.cfg.RollForward))
	}
	return s.collect(ctx)
}

// collect forgets what no retry can ask for any more: first the body, and
// the tombstone only after the provider's window too.
func (s *Service) collect(ctx context.Context) error {
	now := s.ports.Clock.Now()
	expired, err := s.ports.Registry.Expired(ctx, StepCollect, now, sweepLimit)
	Begin(ctx, &s.cfg, &s.ports).Observe(StepCollect, ID{}, err)
	if err != nil {
		return err
	}
	for _, rec := range expired {
		// A lost race or an unanswered write leaves the record to a later sweep.
		if rec.Tombstone {
			_ = s.ports.Registry.Delete(ctx, StepCollect, rec.ID, rec.Fence())
			continue
		}
		next := rec
		next.Tombstone = true
		next.Reply = Reply{Outcome: rec.Reply.Outcome, Status: rec.Reply.Status, ChargeID: rec.Reply.ChargeID}
		next.Request = nil
		next.ExpiresAt = now.Add(s.cfg.ProviderWindow)
		next.Owner = s.ports.IDs.Owner()
		_ = s.ports.Registry.Update(ctx, StepCollect, rec.Fence(), next)
	}
	return nil
}
