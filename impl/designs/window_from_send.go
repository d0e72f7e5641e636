package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// windowFromSend is the reference with a guard that counts from the last
// send.
func windowFromSend() impl.Design {
	d := decisions{
		maySend: func(r *run, rec *impl.Record) bool {
			now := r.ports.Clock.Now()
			return now.Before(rec.LeaseUntil) && sinceLastSend(r, rec, now)
		},
		canSend: sinceLastSend,
	}
	return impl.Design{
		Name:    "window-from-send",
		Summary: "the provider's window is counted from the latest send",
		Doc: `It believes that each send renews the key at the provider. The provider counts from the
first landing. Each take-over gives itself a whole window, the next one starts from there,
and the last send lands when the key has long been forgotten. A look-up before each send
masks that unless the first landing was a decline; WindowGuarded shows the defect.`,
		Source:    "model checking of the protocol",
		Expect:    "WindowGuarded",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{decline},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// sinceLastSend counts from when the lease began, which is just before the
// send. The defect: the claim was earlier.
func sinceLastSend(r *run, rec *impl.Record, now time.Time) bool {
	latest := *rec
	latest.WindowFrom = rec.LeaseUntil.Add(-r.cfg.Lease)
	return r.CanSend(&latest, now)
}
