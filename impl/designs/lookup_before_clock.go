package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// lookupBeforeClock is the reference with two lines in the other order.
func lookupBeforeClock() impl.Design {
	d := decisions{look: lookThenRead}
	return impl.Design{
		Name:    "lookup-before-clock",
		Summary: "the clock is read after the look-up, to see whether what it did not show is dead",
		Doc: `It believes that the order of a look-up and a clock reading does not matter. "Not found"
is as old as the look-up, "dead" as fresh as the clock: between the two the run may stand
still, and the charge lands. By then all sends are dead indeed, but the look-up was before
that. The record is settled as declined, and the customer was charged.`,
		Source:    "model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func lookThenRead(r *run, rec *impl.Record) (time.Time, []impl.Charge, error) {
	charges, err := r.lookUp(rec)
	return r.ports.Clock.Now(), charges, err // the defect
}
