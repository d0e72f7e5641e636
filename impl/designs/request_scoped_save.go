package designs

import (
	"context"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// requestScopedSave is the reference towards a provider without keys, with a
// claim that lives and dies with the request.
func requestScopedSave() impl.Design {
	return impl.Design{
		Name:    "request-scoped-save",
		Summary: "the reply is saved under the request's context; when that has ended the claim is rolled back",
		Doc: `It believes that nobody needs the reply when nobody waits for it. The request's context
ends when its time is up, as it does when the client hangs up: what is to be saved under it
is not saved, and the transaction that holds the claim rolls back. The charge does not roll
back. The next attempt finds no record and charges again. After the claim, an operation
must be finished for whoever asks next.`,
		Source:    "seen in several middlewares: the save runs under the request's context",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			return &scoped{cfg, ports}
		},
		Reconciler: serviceReconciler,
	}
}

// scoped gives each request a registry that ends with it.
type scoped struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *scoped) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	ports := h.ports
	ports.Registry = &transaction{h.ports.Registry, h.ports.Clock, h.ports.Clock.Now().Add(h.cfg.HealthyRun)}
	return service(h.cfg, ports).Handle(ctx, req)
}

type transaction struct {
	impl.Registry
	clock impl.Clock
	ends  time.Time
}

func (t *transaction) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	if t.clock.Now().Before(t.ends) {
		return t.Registry.Update(ctx, step, was, next)
	}
	// The defect: "context canceled", and the claim goes too.
	_ = t.Registry.Delete(ctx, step, next.ID, was)
	return impl.ErrNotApplied
}
