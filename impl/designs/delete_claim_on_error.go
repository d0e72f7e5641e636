package designs

import "github.com/chargeonce/chargeonce/impl"

// deleteClaimOnError is the reference with a tidy error path.
func deleteClaimOnError() impl.Design {
	d := decisions{unsure: deleteClaim}
	return impl.Design{
		Name:    "delete-claim-on-error",
		Summary: "when the charge returns an error, the claim is deleted so that the client may try again",
		Doc: `It believes that an error means that nothing happened. After a time-out or a 500 the
charge may have been made, and with the claim goes the only trace of it: the next attempt
starts as if it were the first, with a new window, and nobody sweeps what is not there.
A provider key that is derived from the operation masks the second charge as long as the
provider's window is open; SafeRetention shows the defect alone. See key-is-row-id for
what happens without that luck.`,
		Source:    "pathosDev/actor-ts#984",
		Expect:    "SafeRetention",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func deleteClaim(r *run, rec impl.Record, err error) (impl.Reply, error) {
	if err != nil {
		// The defect. A lost race or an unanswered delete leaves it as it is.
		_ = r.ports.Registry.Delete(r.ctx, impl.StepCollect, rec.ID, rec.Fence())
	}
	return r.InProgress()
}
