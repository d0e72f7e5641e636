package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// oneScope is the reference service with one key space for everybody.
func oneScope() impl.Design {
	return impl.Design{
		Name:    "one-scope",
		Summary: "keys of all tenants and endpoints share one space",
		Doc: `It believes that clients choose keys that nobody else chooses. Some number their orders.
Two tenants that use one key get in each other's way: with other parameters the second is
told that it used the key before, which it did not, and cannot pay; with equal ones it is
told of the first tenant's charge, and its own customer is not charged.`,
		Source:    "irzix/nestjs-agentic#126, LabsCrypt/remitlend#1680",
		Expect:    "FingerprintBound",
		Profiles:  []string{keyed},
		Scenarios: []string{mixed},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			return &global{service(cfg, ports)}
		},
		Reconciler: serviceReconciler,
	}
}

type global struct{ rest impl.Handler }

func (h *global) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	req.Scope = impl.Scope("", "POST /payments") // the defect: whose request is it?
	return h.rest.Handle(ctx, req)
}
