package designs

import (
	"context"
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// assumeApplied is the reference towards a provider without keys, with an
// adapter for the registry that believes in its writes.
func assumeApplied() impl.Design {
	return impl.Design{
		Name:    "assume-applied",
		Summary: "a write that is not acknowledged counts as applied",
		Doc: `It believes that a database which does not answer has done what it was told, since it
nearly always has. The mark "a charge may be on its way" is such a write. Where it was
lost the charge goes out without a mark, and whoever comes next knows for sure that
nothing was ever sent, and sends. Reading the record again after each write that was not
acknowledged is all it takes.`,
		Source:    "model checking of the protocol",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &hopeful{ports.Registry}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// hopeful is a registry whose updates are never in doubt.
type hopeful struct{ impl.Registry }

func (h *hopeful) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	err := h.Registry.Update(ctx, step, was, next)
	if err != nil && !errors.Is(err, impl.ErrConflict) && !errors.Is(err, impl.ErrNotApplied) {
		return nil // the defect
	}
	return err
}
