package designs

import "github.com/chargeonce/chargeonce/impl"

// keyNotJournaled is the reference service behind a client that keeps its key
// in memory.
func keyNotJournaled() impl.Design {
	return impl.Design{
		Name:    "key-not-journaled",
		Summary: "the client makes one key for all attempts and does not write it down",
		Doc: `It believes that a client which began a payment is there to end it. It may die, and the job
that goes on with the order makes a key of its own: to the service that is another order.
Within one life the key is stable, so no lost answer does any harm. One crash of the client
between its first attempt and the answer breaks it, whatever the service does.`,
		Source:    "woocommerce-gateway-stripe#2339, square-mcp-server#31",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: func(cfg impl.Config, ports impl.ClientPorts) impl.Client {
			ports.Journal = func(string) {} // the defect
			return oneKey(cfg, ports)
		},
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
