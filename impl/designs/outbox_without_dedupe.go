package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// outboxWithoutDedupe claims an operation and leaves the charge to a relay,
// which delivers what it finds at least once.
func outboxWithoutDedupe() impl.Design {
	return impl.Design{
		Name:    "outbox-without-dedupe",
		Summary: "the handler writes to an outbox; a relay sends what stands in it, and again if it is not sure",
		Doc: `It believes that the outbox makes the write and the charge one. It makes sure that what was
accepted is sent, at least once; that it is not sent twice is the receiver's part, and the
relay gives the receiver nothing to do it with. A relay that dies between the charge and the
mark, or whose answer is lost, sends again. The entry's id would have been a provider key.`,
		Source:    "akash-network/console#3449 (a payment for each delivery)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client:     oneKey,
		Handler:    func(cfg impl.Config, ports impl.Ports) impl.Handler { return &outbox{cfg, ports} },
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler { return &outbox{cfg, ports} },
	}
}

type outbox struct {
	cfg   impl.Config
	ports impl.Ports
}

// Handle puts the operation into the outbox, once.
func (o *outbox) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	r := begin(ctx, &o.cfg, &o.ports)
	fresh.WindowFrom = o.ports.Clock.Now()
	fresh.LeaseUntil = fresh.WindowFrom // nobody works on it yet
	fresh.Owner = r.Owner()
	rec, _, err := o.ports.Registry.Insert(ctx, impl.StepClaim, fresh)
	switch {
	case err != nil:
		return impl.Reply{}, impl.ErrUnavailable
	case rec.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case rec.State.Terminal():
		return impl.Replay(rec)
	default:
		return r.InProgress()
	}
}

// Reconcile is the relay.
func (o *outbox) Reconcile(ctx context.Context) error {
	for entry, err := range impl.Begin(ctx, &o.cfg, &o.ports).Sweep(o.ports.Clock.Now()) {
		if err != nil {
			return err
		}
		r := begin(ctx, &o.cfg, &o.ports)
		taken, err := r.takeOver(entry)
		if err != nil || !r.MaySend(&taken) {
			continue
		}
		// The defect: an earlier delivery may have been received.
		result, err := o.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: taken.ProviderKey, Body: taken.Request})
		if err == nil {
			_, _ = r.save(taken, result)
		}
	}
	return nil
}
