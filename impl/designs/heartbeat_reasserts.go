package designs

import "github.com/chargeonce/chargeonce/impl"

// heartbeatReasserts is the reference with a heartbeat: before it sends, a run
// sees to it that it has a whole lease left.
func heartbeatReasserts() impl.Design {
	d := decisions{mark: heartbeat}
	return impl.Design{
		Name:    "heartbeat-reasserts",
		Summary: "a heartbeat writes the lease anew, and with it the owner",
		Doc: `It believes that it still owns what it extends. The heartbeat sets owner and lease as
they should be instead of asking whether they still are. A run that slept past its lease
takes the record back from the run that took it over, and both send. Masked by provider
keys, which collapse the two; FencedWrites shows the defect alone.`,
		Source:    "cirello-io/pglock#41, apache/hudi#19370",
		Expect:    "FencedWrites",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func heartbeat(r *run, rec impl.Record) (impl.Record, error) {
	now, ok, err := r.ReadBack(rec.ID)
	if err != nil || !ok || now.State.Terminal() {
		return now, impl.ErrConflict
	}
	// The defect: the record may have another owner by now.
	return r.TakeOver(now, r.ports.Clock.Now())
}
