package designs

import "github.com/chargeonce/chargeonce/impl"

// asyncFailover is the reference towards a provider without keys, on a
// registry that replicates after it has acknowledged.
func asyncFailover() impl.Design {
	return impl.Design{
		Name:    "async-failover",
		Summary: "the reference, on a registry whose failover loses acknowledged writes",
		Doc: `It believes that what was acknowledged stays (A3). The registry acknowledges when one node
has the write; that node dies, another takes its place, and the mark "a charge may be on its
way" is gone, while the charge is not. The next attempt finds a record under which nothing
was sent, and sends. Provider keys mask the second charge, for they are derived and survive
the loss; the journal of a provider without keys is worth what its registry is worth.`,
		Source:    "opsmill/infrahub#9450",
		Expect:    "SingleCharge",
		Profiles:  []string{keyless},
		Scenarios: []string{onePayment, retryOtherReplica},
		Breaks:    []impl.Assumption{impl.A3},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
