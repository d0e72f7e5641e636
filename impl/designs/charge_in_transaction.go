package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// chargeInTransaction holds a serializable transaction while it charges:
// what it writes is there when it commits, and not before.
func chargeInTransaction() impl.Design {
	return impl.Design{
		Name:    "charge-in-transaction",
		Summary: "a serializable transaction around look, charge and save; the charge carries a provider key",
		Doc: `It believes that a transaction makes the charge and the save one. Of two that run at once one
aborts, and the provider key makes their charges one: that holds. But nothing is there before
the commit, so an attempt whose commit was lost leaves no trace, not even of when the
provider's window began. Each further attempt sends the key as if it were the first, and the
one that comes when the window is over charges again. SentJournaled falls sooner, by one pause:
a run that sends while another has finished has written nothing itself.`,
		Source:    "teesofttech/PayBridge#115 (accepted, and the local save fails)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return &committer{cfg, ports} },
	}
}

type committer struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *committer) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	r := begin(ctx, &h.cfg, &h.ports)
	stored, known, err := r.ReadBack(fresh.ID)
	switch {
	case err != nil:
		return impl.Reply{}, impl.ErrUnavailable
	case known && stored.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case known:
		return impl.Replay(stored)
	}
	// The defect: a rollback takes the record back and not the money.
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Key: fresh.ProviderKey, Ref: fresh.ProviderKey, Body: fresh.Request})
	if err != nil {
		return r.InProgress()
	}
	return r.insertFinished(fresh, result)
}
