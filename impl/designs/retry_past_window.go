package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// retryPastWindow is the reference without a guard: the lease is all that it
// asks for before it sends.
func retryPastWindow() impl.Design {
	d := decisions{maySend: whileLeased, canSend: windowNeverCloses}
	return impl.Design{
		Name:    "retry-past-window",
		Summary: "the provider key is sent as long as clients ask, whatever the provider's window",
		Doc: `It believes that an idempotency key is good for ever. The provider forgets it after a
while, and to whom it has forgotten the key is new. A look-up before each send masks most
of that, for it shows the earlier charge; it does not show an earlier decline, and the
card is asked again. WindowGuarded shows the defect: two sends of one key land further
apart than the provider collapses.`,
		Source:    "triggerdotdev/trigger.dev#4953, alphagov/pay-connector#3989",
		Expect:    "WindowGuarded",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{decline},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// whileLeased permits a send by the lease alone.
func whileLeased(r *run, rec *impl.Record) bool {
	return r.ports.Clock.Now().Before(rec.LeaseUntil)
}

func windowNeverCloses(*run, *impl.Record, time.Time) bool { return true }
