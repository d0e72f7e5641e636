package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// reaperByAge is the reference service with a nightly job that keeps the
// table small.
func reaperByAge() impl.Design {
	return impl.Design{
		Name:    "reaper-by-age",
		Summary: "rows that are old are deleted, finished or not",
		Doc: `It believes that an old row is a finished row. A row that is old and not finished is the
one that must not be lost: a charge may stand behind it that nobody has been told of. The
reaper forgets it, and the next retry begins anew. A provider key that is derived from
the operation masks the second charge until the provider's window closes; SafeRetention
shows the defect alone.`,
		Source:    "the well-known Rails example of idempotency keys (its reaper looks at the age only)",
		Expect:    "SafeRetention",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client:  oneKey,
		Handler: serviceHandler,
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			return &reaper{cfg, ports}
		},
	}
}

type reaper struct {
	cfg   impl.Config
	ports impl.Ports
}

func (p *reaper) Reconcile(ctx context.Context) error {
	now := p.ports.Clock.Now()
	var unfinished []impl.Record
	for rec, err := range impl.Begin(ctx, &p.cfg, &p.ports).Sweep(now) {
		if err != nil {
			return err
		}
		unfinished = append(unfinished, rec)
	}
	expired, err := p.ports.Registry.Expired(ctx, impl.StepCollect, now, sweepLimit)
	if err != nil {
		return err
	}
	// The defect: both go the same way.
	for _, rec := range append(unfinished, expired...) {
		_ = p.ports.Registry.Delete(ctx, impl.StepCollect, rec.ID, rec.Fence())
	}
	return nil
}
