package designs

import "github.com/chargeonce/chargeonce/impl"

// unfencedRelease is the reference with a courtesy: a run that ends without an
// outcome gives its lease back, so that the next attempt need not wait for it.
func unfencedRelease() impl.Design {
	d := decisions{unsure: release}
	return impl.Design{
		Name:    "unfenced-release",
		Summary: "a run that ends without an outcome ends the lease, whoever holds it by then",
		Doc: `It believes that the lock it releases is its own. To release one's own lease early is
sound: nothing is sent after it. But a run that was slow has lost its lease, and ends
the next owner's: a third may come in while that one works. Masked by provider keys,
which collapse what the two send; FencedWrites shows the defect alone.`,
		Source:    "Truxify#4623",
		Expect:    "FencedWrites",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func release(r *run, rec impl.Record, _ error) (impl.Reply, error) {
	now, ok, err := r.ReadBack(rec.ID)
	if err != nil || !ok || now.State.Terminal() || now.State == impl.StateReview {
		return r.InProgress()
	}
	next := now
	next.LeaseUntil = r.ports.Clock.Now()
	// The defect: nobody asks whether now.Owner is this run.
	_, _ = r.Write(impl.StepTakeOver, now, next)
	return r.InProgress()
}
