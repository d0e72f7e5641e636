package designs

import "github.com/chargeonce/chargeonce/impl"

// windowOverstated is the reference with a provider that forgets its keys
// earlier than it says.
func windowOverstated() impl.Design {
	return impl.Design{
		Name:    "window-overstated",
		Summary: "the reference, with a provider that forgets keys inside its documented window",
		Doc: `It believes that the provider collapses equal keys for as long as its page says (A1). Some keep
keys in a cache that is emptied when it is full, or on one node, or for thirty minutes. A
first send that is late and a second send that is early are two payments to a provider that
forgot the key between them. The look-up before the second send masks most of it. Nothing on
our side can make up for a key that is not kept.`,
		Source:    "koala73/worldmonitor#8294 (the provider has less than the blog says)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},
		Breaks:    []impl.Assumption{impl.A1},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
