package designs

import (
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// backToClaimed is the reference towards a provider without keys, with a
// journal that goes backwards.
func backToClaimed() impl.Design {
	d := decisions{unsure: unmark}
	return impl.Design{
		Name:    "back-to-claimed",
		Summary: "when the provider answers with an error, the record goes from \"sent\" back to \"claimed\"",
		Doc: `It believes that a request which was answered with an error is over. "Claimed" says that
nothing was ever sent, and whoever reads it sends without waiting for anything. But the
provider may act on what it has answered with a 500, and a copy of the request may still
be under way. The state of a record must never go back: "sent" is a fact.`,
		Source:    "model checking of the protocol",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func unmark(r *run, rec impl.Record, err error) (impl.Reply, error) {
	var rejected *impl.ProviderError
	if errors.As(err, &rejected) {
		next := rec
		next.State = impl.StateClaimed // the defect
		_, _ = r.Write(impl.StepMarkSent, rec, next)
	}
	return r.InProgress()
}
