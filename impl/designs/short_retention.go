package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// shortRetention is the reference service with a retention that was chosen
// for the size of the table, and a purge that deletes whatever has expired.
func shortRetention() impl.Design {
	return impl.Design{
		Name:    "short-retention",
		Summary: "records are deleted long before clients stop to retry, tombstones included",
		Doc: `It believes that nobody retries after an eighth of the promised horizon, and that an
expired row is rubbish. A client that comes back inside the horizon finds no record and
claims the operation anew. A provider whose window is still open masks that: it collapses
the second charge, and only SafeRetention shows the defect. Once the provider has
forgotten the key too, the customer is charged again. It drops A4 (records outlive the
horizon), which its configuration has to waive.`,
		Source:    "triggerdotdev/trigger.dev#4953 (the key outlives the provider's window)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{retryAfterRetention},

		Tune: func(cfg impl.Config) impl.Config {
			cfg.Retention = cfg.RetryHorizon / 8
			return waive(cfg, impl.A4)
		},
		Client:  oneKey,
		Handler: serviceHandler,
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			return &purger{ports, service(cfg, ports)}
		},
	}
}

// purger deletes expired records and leaves the rest to the reference
// reconciler.
type purger struct {
	ports impl.Ports
	rest  *impl.Service
}

func (p *purger) Reconcile(ctx context.Context) error {
	expired, err := p.ports.Registry.Expired(ctx, impl.StepCollect, p.ports.Clock.Now(), sweepLimit)
	if err != nil {
		return err
	}
	for _, rec := range expired {
		// The defect: no tombstone is left to say that the key was used. A lost
		// race or an unanswered delete leaves the record to a later sweep.
		_ = p.ports.Registry.Delete(ctx, impl.StepCollect, rec.ID, rec.Fence())
	}
	return p.rest.Reconcile(ctx)
}
