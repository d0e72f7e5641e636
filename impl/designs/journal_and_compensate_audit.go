package designs

import (
	"context"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// A terminal record never changes, so what is still to be given back is kept
// beside it, in a record of its own. The audit has the operation's provider
// key and request, its LeaseUntil is when it is due next, and it is open until
// nothing can be left to give back.

// auditScope begins the scope of every audit. Scopes of operations begin with
// a digit, see impl.Scope.
const auditScope = "audit "

func isAudit(id impl.ID) bool { return strings.HasPrefix(id.Scope, auditScope) }

func auditOf(id impl.ID) impl.ID { return impl.ID{Scope: auditScope + id.Scope, Key: id.Key} }

func auditedBy(id impl.ID) impl.ID {
	return impl.ID{Scope: strings.TrimPrefix(id.Scope, auditScope), Key: id.Key}
}

// audited stores the audit of an operation and reports whether it is known to
// be stored. An audit that is there already is as good. It is due when the
// sends of this owner are dead: in a run without trouble it then ends at once.
func (c *compensator) audited(r *run, rec impl.Record) bool {
	audit := rec
	audit.ID = auditOf(rec.ID)
	audit.Owner = r.Owner()
	audit.LeaseUntil = rec.LeaseUntil.Add(c.cfg.MessageLifetime + c.cfg.LookupLag + c.cfg.MaxClockSkew)
	_, _, err := c.ports.Registry.Insert(r.ctx, impl.StepClaim, audit)
	r.Observe(impl.StepClaim, audit.ID, err)
	if err == nil {
		return true
	}
	_, ok, err := r.ReadBack(audit.ID)
	return err == nil && ok
}

// Reconcile sweeps once: operations as a retry would resolve them, audits,
// and what has expired.
func (c *compensator) Reconcile(ctx context.Context) error {
	for rec, err := range impl.Begin(ctx, &c.cfg, &c.ports).Sweep(c.ports.Clock.Now()) {
		if err != nil {
			return err
		}
		r := begin(ctx, &c.cfg, &c.ports)
		if isAudit(rec.ID) {
			c.audit(r, rec)
			continue
		}
		// Every answer but a settled one leaves the record to a later sweep.
		_, _ = c.resolve(r, rec, want(c.cfg.RollForward))
	}
	return c.collect(ctx)
}

// audit gives back every charge but the kept one, and ends when there can be
// no more of them. The clock is read first and the look-up made last, so that
// sends which are dead by that clock are seen by that look-up.
func (c *compensator) audit(r *run, audit impl.Record) {
	now := c.ports.Clock.Now()
	op, known, err := r.ReadBack(auditedBy(audit.ID))
	if err != nil {
		return
	}
	charges, err := c.ports.Provider.Lookup(r.ctx, impl.StepLookUp, audit.ProviderKey)
	r.Observe(impl.StepLookUp, audit.ID, err)

	clean := err == nil && op.State.Terminal() && c.over(r, op, now)
	person := !known || op.State == impl.StateReview
	var surplus []impl.Charge
	for _, charge := range charges {
		switch {
		case !op.State.Terminal() || charge.ID == c.kept(op, charges) || charge.Refunded:
			// Before the end nobody knows which one is kept.
			continue
		case !matches(audit, charge):
			person = true // under our reference, and not what we asked for
		default:
			surplus = append(surplus, charge) // after a decline nothing is kept
		}
		clean = false
	}
	if len(surplus) > 0 && !c.cfg.Provider.RefundsOnce {
		c.refundHeld(r, audit, surplus)
		return
	}
	for _, charge := range surplus {
		c.refund(r, audit, charge)
	}

	next, step := audit, impl.StepTakeOver
	next.LeaseUntil = c.ports.Clock.Now().Add(c.cfg.ReconcileInterval)
	switch {
	case clean:
		next.State, step = impl.StateSucceeded, impl.StepComplete
		next.ExpiresAt = c.ports.Clock.Now().Add(c.cfg.Retention)
	case person:
		next.State, step = impl.StateReview, impl.StepReview
	}
	// A lost race or an unanswered write leaves the audit to a later sweep.
	_, _ = r.Write(step, audit, next)
}

// refund asks for one charge back. A refund without an answer is not repeated
// here: the next audit looks up first.
func (c *compensator) refund(r *run, audit impl.Record, charge impl.Charge) {
	err := c.ports.Provider.Refund(r.ctx, impl.StepRefund, impl.RefundRequest{
		Key:      idemkey.Derive(auditedBy(audit.ID).Scope, charge.ID, "refund", 1),
		ChargeID: charge.ID,
	})
	r.Observe(impl.StepRefund, audit.ID, err)
}

// refundHeld gives back towards a provider that would give back twice. Refunds
// are then like charges without a key: whoever has taken the audit over may ask
// until its lease ends, and the audit is due again when all that it asked for
// is dead and shown by look-up.
func (c *compensator) refundHeld(r *run, audit impl.Record, surplus []impl.Charge) {
	until := c.ports.Clock.Now().Add(c.cfg.Lease)
	next := audit
	next.LeaseUntil = until.Add(c.cfg.MessageLifetime + c.cfg.LookupLag + c.cfg.MaxClockSkew)
	if _, err := r.Write(impl.StepTakeOver, audit, next); err != nil {
		return
	}
	for _, charge := range surplus {
		if c.ports.Clock.Now().Before(until) {
			c.refund(r, audit, charge)
		}
	}
}

// sendsAreDead reports whether no send of the operation can still land.
func sendsAreDead(r *run, op impl.Record, now time.Time) bool { return r.Dead(&op, now) }

// theJournaled is the charge that was saved with the reply, before anything
// was given back.
func theJournaled(op impl.Record, _ []impl.Charge) string { return op.ChargeID }

// collect drops the bodies of expired records, then their tombstones; an
// operation's tombstone, which names the kept charge, outlives its audit.
func (c *compensator) collect(ctx context.Context) error {
	now := c.ports.Clock.Now()
	expired, err := c.ports.Registry.Expired(ctx, impl.StepCollect, now, sweepLimit)
	if err != nil {
		return err
	}
	for _, rec := range expired {
		r := begin(ctx, &c.cfg, &c.ports)
		// A lost race or an unanswered write leaves the record to a later sweep.
		if rec.Tombstone {
			if audit, there, err := r.ReadBack(auditOf(rec.ID)); err == nil && (!there || audit.State.Terminal()) {
				_ = c.ports.Registry.Delete(ctx, impl.StepCollect, rec.ID, rec.Fence())
			}
			continue
		}
		next := rec
		next.Tombstone = true
		next.Reply = impl.Reply{Outcome: rec.Reply.Outcome, Status: rec.Reply.Status, ChargeID: rec.Reply.ChargeID}
		next.Request = nil
		next.ExpiresAt = now.Add(c.cfg.ProviderWindow)
		next.Owner = r.Owner()
		_ = c.ports.Registry.Update(ctx, impl.StepCollect, rec.Fence(), next)
	}
	return nil
}
