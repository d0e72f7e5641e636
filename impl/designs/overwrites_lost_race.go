package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// overwritesLostRace is the reference towards a provider without keys, with an
// upsert where an insert should be.
func overwritesLostRace() impl.Design {
	return impl.Design{
		Name:    "overwrites-lost-race",
		Summary: "a claim is an upsert: who comes second replaces the claim of who came first",
		Doc: `It believes that an insert that meets a row has met its own from an earlier try. Of two
requests that come at once the second replaces the first one's claim with its own, in which
nothing has been sent yet, and goes on as the owner. The first has sent or is about to. Both
hold a claim that they made, and both charge; FencedWrites falls as well, since what was
bound at the claim is written anew. Provider keys mask the double charge.`,
		Source:    "idempot-dev/idempot-js#182 (the lost insert race silently overwrites)",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{twoReplicasOneKey, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &upsert{ports.Registry}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

type upsert struct{ impl.Registry }

func (u *upsert) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	stored, inserted, err := u.Registry.Insert(ctx, step, rec)
	if err != nil || inserted || stored.State.Terminal() || stored.Fingerprint != rec.Fingerprint {
		return stored, inserted, err
	}
	// The defect: stored is somebody's claim.
	if err := u.Registry.Update(ctx, step, stored.Fence(), rec); err != nil {
		return impl.Record{}, false, err
	}
	rec.Version = stored.Version + 1
	return rec, true, nil
}
