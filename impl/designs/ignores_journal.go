package designs

import "github.com/chargeonce/chargeonce/impl"

// ignoresJournal is the reference towards a provider without keys. It writes
// its journal as it should, and does not read it.
func ignoresJournal() impl.Design {
	d := decisions{resolve: sendAgain}
	return impl.Design{
		Name:    "ignores-journal",
		Summary: "a take-over sends again without asking the record or the provider whether something was sent",
		Doc: `It believes that an owner whose lease is over got nowhere. The record says "sent": a
charge may be on its way or made, and the provider could be asked. The next owner takes
the record over and does what it always does first, which is to charge. One lost answer
breaks it.`,
		Source:    "aws-powertools/powertools-lambda-python#8049 (withdrawal runs twice)",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: serviceReconciler,
	}
}

func sendAgain(t *twin, r *run, rec impl.Record, _ want) (impl.Reply, error) {
	if rec.State == impl.StateReview || !r.CanSend(&rec, r.ports.Clock.Now()) {
		return r.InProgress()
	}
	// The defect: rec.State and the provider's look-up would tell.
	taken, err := r.TakeOver(rec, r.ports.Clock.Now())
	if err != nil {
		return r.AnswerLost(taken)
	}
	return t.charge(r, taken)
}
