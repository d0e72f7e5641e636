package designs

import "github.com/chargeonce/chargeonce/impl"

// settlesOwnSend is the reference with a handler that finishes what it began.
func settlesOwnSend() impl.Design {
	d := decisions{unsure: askAndSettle}
	return impl.Design{
		Name:    "settles-own-send",
		Summary: "after a time-out the handler asks the provider at once, and declines what is not there",
		Doc: `It believes that it knows of its own send. It does ask, and with the right key; but it
asks while the request may still be on its way, since it was itself that sent it a moment
ago. No run can settle what it sent: somebody must wait until the send is dead. One held
message breaks it.`,
		Source:    "model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func askAndSettle(r *run, rec impl.Record, failure error) (impl.Reply, error) {
	if failure == nil {
		return r.InProgress() // nothing was sent by this run
	}
	charges, err := r.lookUp(&rec)
	switch {
	case err != nil:
		return r.InProgress()
	case len(charges) > 0:
		return r.Complete(rec, impl.StepComplete, impl.PaidReply(&rec, charges[0].ID))
	default: // the defect
		return r.Complete(rec, impl.StepSettle, impl.DeclinedReply("not_charged"))
	}
}
