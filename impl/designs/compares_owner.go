package designs

import "github.com/chargeonce/chargeonce/impl"

// comparesOwner is the reference on statements that say "where locked_by = ?"
// and no more.
func comparesOwner() impl.Design {
	return impl.Design{
		Name:    "compares-owner",
		Summary: "a write compares the owner of the record and not its version",
		Doc: `It believes that a record which has the same owner is the same. The owner that was slow is not
gone: between the look-up that shows nothing and the take-over, it may charge and complete, and
a completion has the owner that the claim had. The take-over finds it, and the finished record is
claimed again. A mark that arrives a second time, late, does the same. The owner tells who wrote
and the version how often: an update needs both.`,
		Source:    "rafidahmed870/queue-jobs-worker#19 (its repair compares the lock alone)",
		Expect:    "TerminalIsFinal",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: serviceHandler, Reconciler: serviceReconciler,
		Registry: func(r impl.Registry) impl.Registry { return &halfFence{r, sameOwner} },
	}
}

// sameOwner is the defect.
func sameOwner(now, was impl.Fence) bool { return now.Owner == was.Owner }
