package designs

import (
	"context"
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// replyBeforeSave is the reference service that answers with what the provider
// said, saved or not.
func replyBeforeSave() impl.Design {
	return impl.Design{
		Name:    "reply-before-save",
		Summary: "the client is told the provider's answer even when it could not be saved",
		Doc: `It believes that a save that failed can be made good later. The client has its answer and
does not come back; the record is still open, and the reconciler, which knows nothing of
what was said, finds out for itself. Of a charge it finds the same. Of a decline there is
nothing to find, and it settles with a reply of its own: the client heard one thing and the
record says another. Only what is saved may be told.`,
		Source:    "teesofttech/PayBridge#115 (accepted, and the local save fails)",
		Expect:    "StableReply",
		Profiles:  []string{keyed},
		Scenarios: []string{decline, onePayment},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &outspoken{ports.Registry}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// outspoken lets a completion pass for saved unless somebody else's was first.
type outspoken struct{ impl.Registry }

func (o *outspoken) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	err := o.Registry.Update(ctx, step, was, next)
	if step == impl.StepComplete && !errors.Is(err, impl.ErrConflict) {
		return nil // the defect
	}
	return err
}
