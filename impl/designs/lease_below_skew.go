package designs

import "github.com/chargeonce/chargeonce/impl"

// leaseBelowSkew is the reference with a lease that was set for speed. Its
// configuration does not say so: Validate would refuse it.
func leaseBelowSkew() impl.Design {
	var d decisions
	return impl.Design{
		Name:    "lease-below-skew",
		Summary: "a lease is no longer than two clocks may differ",
		Doc: `It believes that a shorter lease means a faster recovery. A lease that is not longer than the
clock skew and a healthy run together is over, by somebody's clock or by its owner's, before
its owner has sent: it may not send any more, and neither may the next. They take the record
from each other and nobody charges. The leases decide nothing about safety, so nothing is
charged twice.`,
		Source:    "model checking of the protocol",
		Expect:    "NotWedged",
		Profiles:  []string{keyed},
		Scenarios: []string{twoReplicasOneKey, onePayment},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			cfg.Lease = cfg.MaxClockSkew // the defect
			return d.handler(cfg, ports)
		},
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			cfg.Lease = cfg.MaxClockSkew
			return d.reconciler(cfg, ports)
		},
	}
}
