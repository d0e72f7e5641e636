package designs

import "github.com/chargeonce/chargeonce/impl"

// refundOwnChoice is journal-and-compensate with an audit that decides for
// itself which charge stays.
func refundOwnChoice() impl.Design {
	return impl.Design{
		Name:    "refund-own-choice",
		Summary: "no provider keys: send again at once; the audit keeps the latest charge and refunds the others",
		Doc: `It believes that one charge is as good as another. The client was told of one by its id, and
has it on its receipt; the audit, which sees two, keeps the one that it likes. Two auditors
with two tastes give back both. Which charge stays is decided once, when the reply is saved,
and every refund follows that.`,
		Source:      "model checking of the protocol",
		Expect:      "BoundedRefunds",
		Profiles:    []string{keylessLookup},
		Scenarios:   []string{onePayment, retryOtherReplica},
		Compensates: true,

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return newCompensator(cfg, ports) },
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			c := newCompensator(cfg, ports)
			c.kept = theLatest
			return c
		},
	}
}

// theLatest is the defect: the reply names another.
func theLatest(_ impl.Record, charges []impl.Charge) string { return charges[len(charges)-1].ID }
