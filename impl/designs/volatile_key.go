package designs

import (
	"context"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// volatileKey is the reference service behind an adapter that derives the
// provider's key from all of the request.
func volatileKey() impl.Design {
	return impl.Design{
		Name:    "volatile-key",
		Summary: "the provider key is a hash of the request, its timestamp included",
		Doc: `It believes that a hash of the request is the same for the same request. The request has a
timestamp in it (elsewhere a nonce, a version, a session), so each send has a key of its
own and no two sends are one to the provider. The look-up by reference that comes before a
second send masks that, unless the first is still on its way then: both are charged.`,
		Source:    "Adyen/adyen-commercetools#1305, tempoxyz/pympp#155",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Provider = &stamping{ports.Provider, ports.Clock}
			ports.Registry = &stamped{ports.Registry, ports.Clock}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// stampedKey is the defect: the time, to the second, is not the operation's.
func stampedKey(clock impl.Clock, body []byte) string {
	return idemkey.Derive(string(body), clock.Now().Truncate(time.Second).String(), "charge", 1)
}

type stamping struct {
	impl.Provider
	clock impl.Clock
}

func (p *stamping) Charge(ctx context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	req.Key = stampedKey(p.clock, req.Body)
	return p.Provider.Charge(ctx, step, req)
}

type stamped struct {
	impl.Registry
	clock impl.Clock
}

func (r *stamped) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	rec.ProviderKey = stampedKey(r.clock, rec.Request)
	return r.Registry.Insert(ctx, step, rec)
}
