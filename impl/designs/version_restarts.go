package designs

import "github.com/chargeonce/chargeonce/impl"

// versionRestarts is the reference with a lock that is a row: to take it over
// is to delete it and to insert one's own.
func versionRestarts() impl.Design {
	d := decisions{resolve: claimAnew}
	return impl.Design{
		Name:    "version-restarts",
		Summary: "a write compares the version alone, and a take-over deletes the row and inserts one at version 1",
		Doc: `It believes that a version names a state of the record. It does as long as it only goes up; a
row that is deleted and inserted begins at 1 again. The owner that was slow has version 1 in its
hand, finds version 1, and writes over the claim of the next. The owner's token would tell the
two apart, and so would a version that outlives the release. Masked by provider keys, which give
both runs the same charge; FencedWrites shows the defect. Between the delete and the insert there
is no claim at all, which SafeRetention shows.`,
		Source:    "johanhaleby/occurrent#672 (a released lock's version resets to 0)",
		Expect:    "FencedWrites",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: serviceReconciler,
		Registry: func(r impl.Registry) impl.Registry { return &halfFence{r, sameVersion} },
	}
}

// sameVersion is one half of the defect.
func sameVersion(now, was impl.Fence) bool { return now.Version == was.Version }

// claimAnew is the other half.
func claimAnew(t *twin, r *run, rec impl.Record, _ want) (impl.Reply, error) {
	now, charges, err := t.lookUp(r, &rec)
	switch {
	case err != nil || rec.State == impl.StateReview || !r.CanSend(&rec, now.Add(t.cfg.HealthyRun)):
		return r.InProgress()
	case len(charges) > 0:
		return t.found(r, rec, charges)
	}
	err = t.ports.Registry.Delete(r.ctx, impl.StepTakeOver, rec.ID, rec.Fence())
	r.Observe(impl.StepTakeOver, rec.ID, err)
	if err != nil {
		return r.InProgress()
	}
	next := rec
	next.Owner, next.LeaseUntil = r.Owner(), now.Add(t.cfg.Lease)
	taken, mine, err := t.ports.Registry.Insert(r.ctx, impl.StepTakeOver, next)
	r.Observe(impl.StepTakeOver, rec.ID, err)
	if err != nil || !mine {
		return r.InProgress()
	}
	return t.charge(r, taken)
}
