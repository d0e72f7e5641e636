package designs

import "github.com/chargeonce/chargeonce/impl"

// firstSendUnguarded is the reference with a guard for retries only.
func firstSendUnguarded() impl.Design {
	d := decisions{maySend: guardRetries}
	return impl.Design{
		Name:    "first-send-unguarded",
		Summary: "the run that made the claim sends without reading the clock",
		Doc: `It believes that the first send is always in time, since the claim was just now. Between
the two the process may stand still for any length. Meanwhile the lease ends, all sends
that anyone was permitted are dead, the look-up shows nothing, and the record is settled as
not charged; then the first run goes on and sends. Had another owner charged meanwhile and
the window closed, it would be a double charge: every send needs the clock.`,
		Source:    "model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{retryAfterRetention},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func guardRetries(r *run, rec *impl.Record) bool {
	return rec.Version == 1 || r.MaySend(rec) // the defect: the first needs it as well
}
