package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// auditStopsEarly is journal-and-compensate with an audit that is content
// too soon.
func auditStopsEarly() impl.Design {
	return impl.Design{
		Name:    "audit-stops-early",
		Summary: "no provider keys: send again at once; the audit ends when a look-up shows one charge",
		Doc: `It believes that an account that is right once stays right. The audit looks up, sees the one
charge that is kept, and closes the books while another send is still on its way. It lands,
and nobody looks again. An audit may end only when the operation is final, all its sends are
dead, and a look-up that began after that shows nothing to give back.`,
		Source:      "model checking of the protocol",
		Expect:      "SingleCharge",
		Profiles:    []string{keylessLookup},
		Scenarios:   []string{onePayment, retryOtherReplica},
		Compensates: true,

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return newCompensator(cfg, ports) },
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			c := newCompensator(cfg, ports)
			c.over = atFirstSight
			return c
		},
	}
}

// atFirstSight is the defect: another send may be under way.
func atFirstSight(*run, impl.Record, time.Time) bool { return true }
