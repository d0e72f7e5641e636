package designs

import "github.com/chargeonce/chargeonce/impl"

// storeEveryStatus is the reference with a middleware in front that saves
// whatever answer goes out under the key.
func storeEveryStatus() impl.Design {
	d := decisions{busy: saveBusy, replay: replayBusy}
	return impl.Design{
		Name:    "store-every-status",
		Summary: "every answer is saved under the key, \"in progress\" too",
		Doc: `It believes that the first answer to a key is the answer to the key. Two requests come at
once, the second is told 409, "in progress", and that is saved: the row is finished, the
first request finds it so and cannot save its own answer. From then on every attempt is
told that the payment is in progress. A 400 that is saved refuses the corrected request in
the same way. Only what says how the money went may be stored.`,
		Source:    "Truxify#2869, paradigmxyz/centaur#1507",
		Expect:    "NotWedged",
		Profiles:  []string{keyed},
		Scenarios: []string{twoReplicasOneKey, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func saveBusy(r *run, rec impl.Record) (impl.Reply, error) {
	r.Renew()
	// The defect: the answer is this attempt's and not the operation's.
	_, _ = r.Write(impl.StepComplete, rec, r.Finished(rec, impl.Reply{Status: statusBusy}))
	return r.InProgress()
}

func replayBusy(r *run, rec impl.Record) (impl.Reply, error) {
	if rec.Reply.Status == statusBusy {
		return r.InProgress()
	}
	return impl.Replay(rec)
}
