package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// noFingerprint claims, charges under a provider key and saves, and takes the
// key alone for the request.
func noFingerprint() impl.Design {
	return impl.Design{
		Name:    "no-fingerprint",
		Summary: "the key alone decides: the parameters of a later attempt are never compared",
		Doc: `It believes that clients use a key for one request only. A client that sends the key
again with another amount is told that the first amount was paid, and takes it for its
own answer. The money is right: the bytes sent are the record's. The answer is not.`,
		Source:    "ikyriak/IdempotentAPI#58 (all payloads have one digest)",
		Expect:    "FingerprintBound",
		Profiles:  []string{keyed},
		Scenarios: []string{otherAmount},

		Client:     oneKey,
		Handler:    func(cfg impl.Config, ports impl.Ports) impl.Handler { return &keyOnly{cfg, ports} },
		Reconciler: serviceReconciler,
	}
}

type keyOnly struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *keyOnly) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
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
		// The defect: rec.Fingerprint may be another's, and nothing asks.
		switch {
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
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Key: rec.ProviderKey, Ref: rec.ProviderKey, Body: rec.Request})
	if err != nil {
		return r.InProgress()
	}
	return r.save(rec, result)
}
