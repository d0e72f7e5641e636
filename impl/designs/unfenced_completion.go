package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// unfencedCompletion is the reference service on a table whose last statement
// says "where id = ?" and no more.
func unfencedCompletion() impl.Design {
	return impl.Design{
		Name:    "unfenced-completion",
		Summary: "the reply is saved over whatever the record has become meanwhile",
		Doc: `It believes that who began an operation also ends it. A handler that outlives its lease
has lost the record to the next owner; its completion then lands in that owner's row.
Masked by provider keys: both runs got the same charge, so money and replies agree, and
only FencedWrites shows that a run wrote what it no longer owned. One pause past the
lease breaks it.`,
		Source:    "DonaldMurillo/gofastr#198",
		Expect:    "FencedWrites",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &unfenced{ports.Registry, impl.StepComplete}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// unfenced writes at one step over whatever stands there.
type unfenced struct {
	impl.Registry
	step impl.Step
}

func (u *unfenced) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	if step != u.step {
		return u.Registry.Update(ctx, step, was, next)
	}
	now, ok, err := u.Registry.Get(ctx, impl.StepReadBack, next.ID)
	switch {
	case err != nil:
		return err
	case !ok:
		return impl.ErrConflict
	}
	// The defect: the fence is that of whoever owns the record now.
	return u.Registry.Update(ctx, step, now.Fence(), next)
}
