package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// keyPerAttempt claims the operation as it should and sends a provider key
// with every charge, a new one each time.
func keyPerAttempt() impl.Design {
	return impl.Design{
		Name:    "key-per-attempt",
		Summary: "every charge carries a fresh provider key",
		Doc: `It believes that a provider key makes a charge idempotent, whatever the key is. The key
protects against what the network does to one send. The next owner makes another key,
and to the provider that is another payment. A lost answer breaks it, and WindowGuarded
falls with SingleCharge: what goes under one reference was not collapsed.`,
		Source:    "woocommerce-gateway-stripe#2339, Adyen/adyen-commercetools#1305",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{retryOtherReplica, onePayment},

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return &rekeyer{cfg, ports} },
	}
}

type rekeyer struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *rekeyer) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	r := begin(ctx, &h.cfg, &h.ports)
	fresh.ProviderKey = h.ports.IDs.Owner() // the defect: this attempt's, and not the operation's
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
		rec.ProviderKey = fresh.ProviderKey // "a key is for one request"
		if rec, err = r.takeOver(rec); err != nil {
			return r.AnswerLost(rec)
		}
	}
	if !r.MaySend(&rec) {
		return r.InProgress()
	}
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Key: rec.ProviderKey, Ref: rec.ProviderKey, Body: rec.Request})
	if err != nil {
		return r.InProgress()
	}
	return r.save(rec, result)
}
