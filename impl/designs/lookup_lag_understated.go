package designs

import "github.com/chargeonce/chargeonce/impl"

// lookupLagUnderstated is the reference with a provider whose look-up is
// slower than the configuration says.
func lookupLagUnderstated() impl.Design {
	return impl.Design{
		Name:    "lookup-lag-understated",
		Summary: "the reference, with a look-up that may miss charges older than its configuration says",
		Doc: `It believes that look-up is complete after LookupLag (A5). The number is from a quiet day. A
stale "no such operation", from a replica or a search index that is behind, comes when
every send has long been dead, and is taken for the truth: without keys the payment is sent
again. With keys the second send is collapsed while the window is open, and after it the
operation is settled as not charged.`,
		Source:    "model checking of the protocol",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{onePayment, retryOtherReplica},
		Breaks:    []impl.Assumption{impl.A5},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
