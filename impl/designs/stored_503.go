package designs

import "github.com/chargeonce/chargeonce/impl"

// stored503 is the reference with an answer for every request.
func stored503() impl.Design {
	d := decisions{unsure: finishUnavailable, replay: replayUnavailable}
	return impl.Design{
		Name:    "stored-503",
		Summary: "a charge without an answer is finished as 503, and 503 is what every retry is told",
		Doc: `It believes that a request must be finished to be safe. A time-out is saved as the reply
"unavailable, try again", and because replies are final each retry is told to try again,
whether the charge was made or not. Unlike timeout-means-failed it tells no lie about the
money, and it never tells the truth: no attempt and no reconciler looks what became of it.`,
		Source:    "LabsCrypt/remitlend#1329, the well-known Rails example of idempotency keys",
		Expect:    "NotWedged",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// unavailable is a reply that says nothing of the money.
var unavailable = impl.Reply{Status: 503}

func finishUnavailable(r *run, rec impl.Record, err error) (impl.Reply, error) {
	if err == nil {
		return r.InProgress() // nothing was sent by this run
	}
	// The defect: this is not an outcome.
	_, _ = r.Write(impl.StepComplete, rec, r.Finished(rec, unavailable))
	return impl.Reply{}, impl.ErrUnavailable
}

func replayUnavailable(_ *run, rec impl.Record) (impl.Reply, error) {
	if rec.Reply.Status == unavailable.Status {
		return impl.Reply{}, impl.ErrUnavailable
	}
	return impl.Replay(rec)
}
