package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// settlesWhileSending is the reference with a shorter wait before it settles.
func settlesWhileSending() impl.Design {
	d := decisions{dead: afterLease}
	return impl.Design{
		Name:    "settles-while-sending",
		Summary: "once the lease is over, what the provider does not show counts as not charged",
		Doc: `It believes that nothing is under way when the lease is over. The lease bounds when a send
may begin and not when it lands: its sender may be paused between the clock and the
socket, and the message takes its time. The wait must hold MessageLifetime too. The
window is closed, the look-up shows nothing, the record is settled as declined, and the
charge lands.`,
		Source:    "model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// afterLease is the defect: MessageLifetime is missing.
func afterLease(r *run, rec *impl.Record, now time.Time) bool {
	return now.After(rec.LeaseUntil.Add(r.cfg.LookupLag + r.cfg.MaxClockSkew))
}
