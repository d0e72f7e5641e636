package designs

import (
	"context"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// noDeadline is the reference on a table that has a column for "in progress"
// and none for "until when".
func noDeadline() impl.Design {
	d := decisions{maySend: whileWindowOpen}
	return impl.Design{
		Name:    "no-deadline",
		Summary: "a row in progress has no deadline, so whoever meets one takes it for an orphan",
		Doc: `It believes that a row which is in progress while nobody answers for it was left behind
by a crash. Without a deadline a row that is worked on looks the same, and a send that is
on its way counts as dead. The second attempt takes the row from the first and both
charge. Towards a keyed provider that is masked; without keys it is a double charge.`,
		Source:    "aws-powertools/powertools-lambda-typescript#5678, aws-powertools/powertools-lambda-python#8386",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{retryOtherReplica, twoReplicasOneKey},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &undated{ports.Registry}
			return d.handler(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// undated stores no lease. That is the defect: every row in it is over.
type undated struct{ impl.Registry }

func (u *undated) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	rec.LeaseUntil = time.Time{}
	return u.Registry.Insert(ctx, step, rec)
}

func (u *undated) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	next.LeaseUntil = time.Time{}
	return u.Registry.Update(ctx, step, was, next)
}

// whileWindowOpen permits a send where there is no lease to ask for.
func whileWindowOpen(r *run, rec *impl.Record) bool {
	return r.CanSend(rec, r.ports.Clock.Now())
}
