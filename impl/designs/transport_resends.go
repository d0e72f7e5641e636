package designs

import "github.com/chargeonce/chargeonce/impl"

// transportResends is the reference on top of an HTTP client that repeats
// requests by itself, towards a provider that stores no declines.
func transportResends() impl.Design {
	return impl.Design{
		Name:    "transport-resends",
		Summary: "the reference, on an HTTP client that sends a request again on its own",
		Doc: `It believes that it sends a request once (A6). Go's own HTTP client repeats a POST that has an
Idempotency-Key header when a reused connection breaks; so do proxies and meshes. Where
declines are stored the copies are one. Here each is a question to the bank: the first copy
is declined, the run is told so and saves it, and the second is approved. No journal sees a
copy that is made below it.`,
		Source:    "stripe/stripe-go#647, Go's net/http (a request with an Idempotency-Key header counts as replayable)",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyedForgetsDeclines},
		Scenarios: []string{onePayment, retryOtherReplica},
		Breaks:    []impl.Assumption{impl.A6},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
