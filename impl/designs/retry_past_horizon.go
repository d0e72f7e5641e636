package designs

import "github.com/chargeonce/chargeonce/impl"

// retryPastHorizon is the reference with clients that may ask at any time.
func retryPastHorizon() impl.Design {
	return impl.Design{
		Name:    "retry-past-horizon",
		Summary: "the reference, with clients that send a key again after its records were forgotten",
		Doc: `It believes that no client sends a key after the horizon that it promised to keep (A4). A job
queue that was stopped over the holidays, or a phone that was switched off, did not promise
anything. The record, its tombstone and the provider's key are all gone, and the retry is a
new payment. However long records are kept, somebody must promise to stop asking.`,
		Source:    "triggerdotdev/trigger.dev#4953 (the key outlives what it was compared with)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryAfterRetention},
		Breaks:    []impl.Assumption{impl.A4},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
