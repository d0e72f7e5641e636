package designs

import (
	"context"
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// failOpen is the reference towards a provider without keys, with a handler
// around it that keeps the shop open.
func failOpen() impl.Design {
	return impl.Design{
		Name:    "fail-open",
		Summary: "when the registry cannot be asked, the payment is made without it",
		Doc: `It believes that a payment which is not registered is better than one which is not made.
That is so for a cache. The charge is made and told, and nothing knows of it: the next
attempt, or one that was under way, finds a registry in which nothing was sent. That the
claim was not answered does not even say that it was not made. Provider keys mask it; where
there are none the customer is charged again. For money the registry fails closed.`,
		Source:    "a question on which practice differs: what to do while the registry is down",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{onePayment, retryOtherReplica, twoReplicasOneKey},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			return &open{cfg, ports, service(cfg, ports)}
		},
		Reconciler: serviceReconciler,
	}
}

type open struct {
	cfg   impl.Config
	ports impl.Ports
	shut  impl.Handler
}

func (h *open) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	reply, err := h.shut.Handle(ctx, req)
	if !errors.Is(err, impl.ErrUnavailable) {
		return reply, err
	}
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	// The defect: nothing says that this is sent.
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: fresh.ProviderKey, Body: fresh.Request})
	if err != nil {
		return begin(ctx, &h.cfg, &h.ports).InProgress()
	}
	return replyTo(fresh, result), nil
}
