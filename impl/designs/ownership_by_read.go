package designs

import "github.com/chargeonce/chargeonce/impl"

// ownershipByRead is the reference towards a provider without keys, with a
// question to the registry where the reference asks its clock.
func ownershipByRead() impl.Design {
	d := decisions{maySend: stillMine}
	return impl.Design{
		Name:    "ownership-by-read",
		Summary: "before it sends, a run reads whether the record is still its own, and does not read the clock",
		Doc: `It believes that what was read a moment ago is true now. Between the read and the send the
process may stand still for any length, and a read is no permission that ends: the next owner
waits until all that was permitted is dead, looks up, finds nothing and sends; then the first
goes on. A replica that lags makes the moment longer. A lease on one's own clock is known to
be over without asking anybody.`,
		Source:    "apache/hudi#19370, model checking of the protocol",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{retryAfterRetention},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// stillMine is the defect: its answer is about the past.
func stillMine(r *run, rec *impl.Record) bool {
	now, ok, err := r.ReadBack(rec.ID)
	return err == nil && ok && now.Fence() == rec.Fence()
}
