package designs

import "github.com/chargeonce/chargeonce/impl"

// notFoundMeansFailed is the reference with a look-up that is believed at
// once.
func notFoundMeansFailed() impl.Design {
	d := decisions{notFound: settleNow}
	return impl.Design{
		Name:    "not-found-means-failed",
		Summary: "the provider does not know the charge, so the payment is declined",
		Doc: `It believes that what the provider does not know will not be. A request lives for as long
as the longest delivery delay, process pauses included, and look-up lags: "not found"
proves nothing before that. The operation is settled as declined, the client is told, and
then the first send lands. One held message breaks it.`,
		Source:    "getAlby/hub#1727 (marked failed, settles later)",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// settleNow is the defect: it asks neither for the time nor for the window.
func settleNow(r *run, rec impl.Record) (impl.Reply, error) {
	return r.Complete(rec, impl.StepSettle, impl.DeclinedReply("not_charged"))
}
