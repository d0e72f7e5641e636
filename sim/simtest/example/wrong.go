package checkout

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/simtest"
)

// Wrong looks whether the order was paid, charges, and saves.
func Wrong(_ impl.Config, ports impl.Ports) impl.Handler {
	return simtest.HandlerFunc(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
		rec, err := impl.Parse(req)
		if err != nil {
			return impl.Reply{}, err
		}
		known, ok, err := ports.Registry.Get(ctx, impl.StepReadBack, rec.ID)
		if err != nil {
			return impl.Reply{}, impl.ErrUnavailable
		}
		if ok {
			return impl.Replay(known)
		}
		result, err := ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request})
		if err != nil || !result.Approved {
			return impl.Reply{}, impl.ErrUnavailable
		}
		rec.State, rec.ChargeID = impl.StateSucceeded, result.ChargeID
		rec.Reply = impl.PaidReply(&rec, result.ChargeID)
		if _, _, err := ports.Registry.Insert(ctx, impl.StepComplete, rec); err != nil {
			return impl.Reply{}, impl.ErrUnavailable
		}
		return rec.Reply, nil
	})
}
