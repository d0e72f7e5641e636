package designs

import (
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// journalAndCompensate is for a provider without keys whose customers cannot
// wait until a lost send is dead. It sends again at once, and gives back what
// turns out to be one charge too many.
func journalAndCompensate() impl.Design {
	return impl.Design{
		Name:    "journal-and-compensate",
		Summary: "no provider keys: send again at once, journal the kept charge, then refund every other charge",
		Doc: `It believes that a charge too many for a while is better than no answer for a while. Before
anything is sent, a second record, the audit, is known to be stored. A retry that finds
the lease over looks up, completes with the oldest charge it finds, and sends again if
it finds none. The kept charge's id is journaled with the reply and never chosen anew;
only then is every other charge refunded in full, by its id. The audit ends when the
operation is final, all its sends are dead, and a look-up begun after that shows nothing
to give back: "one net charge" holds from then on and not before. Nothing is ever
declined while a send may still land. Where the provider gives back again what it is asked
for again, a refund is a send too: the audit is taken over first, and nothing is asked for a
second time before the first is dead and look-up does not show it. A message that outlives MessageLifetime (A2) or a
look-up that lags longer than stated (A5) breaks it: the audit ends too early. So does a
transport that re-sends by itself (A6): a decline is told, and the copy is approved; the
audit gives that charge back, but the answer was not true.`,
		Source:      "teesofttech/PayBridge#115, akira-io/laravel-sisp#306 (how refunds go wrong)",
		Expect:      held,
		Profiles:    []string{keylessLookup, keylessRefundKeys, keylessRepeatsRefunds},
		Compensates: true,

		Client:     oneKey,
		Handler:    func(cfg impl.Config, ports impl.Ports) impl.Handler { return newCompensator(cfg, ports) },
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler { return newCompensator(cfg, ports) },
	}
}

type compensator struct {
	cfg   impl.Config
	ports impl.Ports

	// What an audit decides. Other designs decide otherwise.
	over func(r *run, op impl.Record, now time.Time) bool        // whether no more charges can come
	kept func(op impl.Record, charges []impl.Charge) (id string) // which charge stays
}

func newCompensator(cfg impl.Config, ports impl.Ports) *compensator {
	return &compensator{cfg, ports, sendsAreDead, theJournaled}
}

// want says whether somebody asks for the outcome now.
type want bool

// sender says whether any other send of the operation can still land.
type sender bool

const (
	onlySender  sender = true
	amongOthers sender = false
)

func (c *compensator) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	if isAudit(fresh.ID) {
		return impl.Reply{}, &impl.RefusedError{Field: "scope", Err: errors.New("it is kept for audits")}
	}
	r := begin(ctx, &c.cfg, &c.ports)
	rec, mine, err := r.Claim(fresh)
	switch {
	case err != nil:
		return impl.Reply{}, err
	case mine:
		return c.send(r, rec, onlySender)
	case rec.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case rec.State.Terminal():
		return impl.Replay(rec)
	case !r.abandoned(rec):
		return r.InProgress()
	default:
		return c.resolve(r, rec, true)
	}
}

// send charges once, after the audit and the mark are known to be stored. A
// record that is marked already has its audit.
func (c *compensator) send(r *run, rec impl.Record, who sender) (impl.Reply, error) {
	if rec.State == impl.StateClaimed {
		if !c.audited(r, rec) {
			return r.InProgress()
		}
		next := rec
		next.State = impl.StateSent
		marked, err := r.Write(impl.StepMarkSent, rec, next)
		if err != nil {
			return r.AnswerLost(marked)
		}
		rec = marked
	}
	if !r.MaySend(&rec) {
		return r.InProgress()
	}
	result, err := c.ports.Provider.Charge(r.ctx, impl.StepCharge, impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request})
	r.Observe(impl.StepCharge, rec.ID, err)
	// A decline is definite for the only sender, who completes on its own
	// version. Among others it is not: an earlier send may still be approved.
	if err != nil || !result.Approved && who == amongOthers {
		return r.InProgress()
	}
	return r.save(rec, result)
}

// resolve finds out how an operation ended whose owner's lease is over: the
// clock, then the look-up, then one write. Unlike the reference it does not
// wait for the earlier send to be dead before it sends again, except where the
// second lease is over too: a card that is declined would else be asked again
// for ever, since a decline is only definite once the earlier sends are dead.
func (c *compensator) resolve(r *run, rec impl.Record, wanted want) (impl.Reply, error) {
	now := c.ports.Clock.Now()
	charges, err := c.ports.Provider.Lookup(r.ctx, impl.StepLookUp, rec.ProviderKey)
	r.Observe(impl.StepLookUp, rec.ID, err)
	windowOpen := r.CanSend(&rec, now.Add(c.cfg.HealthyRun)) // or a take-over moves the lease and sends nothing
	alone := sender(rec.State == impl.StateClaimed || r.Dead(&rec, now))
	switch {
	case err != nil:
		return r.InProgress()
	case len(charges) > 0 && matches(rec, charges[0]):
		return r.Complete(rec, impl.StepComplete, impl.PaidReply(&rec, charges[0].ID))
	case rec.State == impl.StateReview:
		return r.InProgress()
	case len(charges) > 0:
		next := rec
		next.State = impl.StateReview
		if now, err := r.Write(impl.StepReview, rec, next); err != nil {
			return r.AnswerLost(now)
		}
		return r.InProgress()
	case bool(wanted) && windowOpen && (alone == onlySender || now.Before(rec.WindowFrom.Add(2*c.cfg.Lease))):
		taken, err := r.takeOver(rec)
		if err != nil {
			return r.AnswerLost(taken)
		}
		return c.send(r, taken, alone)
	case r.Dead(&rec, now) && (r.Unwanted(&rec, now) || !windowOpen):
		return r.Complete(rec, impl.StepSettle, impl.DeclinedReply("not_charged"))
	default:
		return r.InProgress()
	}
}

// matches reports whether a charge is what the record asked for, and still
// stands.
func matches(rec impl.Record, charge impl.Charge) bool {
	amount, err := impl.ParseAmount(rec.Request)
	return err == nil && charge.Amount == amount.Minor && charge.Currency == amount.Currency && !charge.Refunded
}
