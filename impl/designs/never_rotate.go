package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// neverRotate is the reference towards a provider that stores failures, with
// the faith that a key is good until it has an answer.
func neverRotate() impl.Design {
	d := decisions{canSend: theWindowAlone}
	return impl.Design{
		Name:    "never-rotate",
		Summary: "what failed is sent again under the same provider key, for as long as the client asks",
		Doc: `It believes that a failure is no answer, and that the next send may fare better. This provider
stores what it answered under the key, failures too, and gives it again: the payment is frozen,
and each send moves the end of the lease, so that nobody can tell that the first is over. The
client asks until its horizon and hears "in progress". Nothing is charged twice, and nothing is
paid. Once the send is dead and look-up shows no charge, the operation has to be given up, for
the client to come with a new key; to give the key up any sooner is always-rotate.`,
		Source:    "medusajs/medusa#16390, alphagov/pay-connector#3989 (a stored failure is given again for as long as the key is kept)",
		Expect:    "NotWedged",
		Profiles:  []string{keyedStoresFailures},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// theWindowAlone is the defect: this provider has stored the failure.
func theWindowAlone(r *run, rec *impl.Record, now time.Time) bool { return r.CanSend(rec, now) }
