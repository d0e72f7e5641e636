package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// chargeThenSave claims the operation as it should, and then charges without
// a provider key. What happened between the charge and the save is nowhere.
func chargeThenSave() impl.Design {
	return impl.Design{
		Name:    "charge-then-save",
		Summary: "claim, charge without a provider key, save; a retry that finds the lease over charges again",
		Doc: `It believes that an owner whose lease is over did not charge. It may have died between
the charge and the save, its answer may have been lost, or it may just be slow: the next
owner cannot tell, does not look, and charges again with nothing by which the provider
could know the request. One crash after the charge breaks it.`,
		Source:    "akash-network/console#3449, aws-powertools/powertools-lambda-python#8049",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return &saver{cfg, ports} },
	}
}

type saver struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *saver) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	r := begin(ctx, &h.cfg, &h.ports)
	rec, mine, err := r.Claim(fresh)
	if err != nil {
		return impl.Reply{}, err
	}
	if !mine {
		switch {
		case rec.Fingerprint != fresh.Fingerprint:
			return impl.Reply{}, impl.ErrMismatch
		case rec.State.Terminal():
			return impl.Replay(rec)
		case !r.abandoned(rec):
			return r.InProgress()
		}
		if rec, err = r.takeOver(rec); err != nil {
			return r.AnswerLost(rec)
		}
	}
	if !r.MaySend(&rec) {
		return r.InProgress()
	}
	// The defect: no key, and no look-up after a take-over.
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request})
	if err != nil {
		return r.InProgress()
	}
	return r.save(rec, result)
}
