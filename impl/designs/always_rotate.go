package designs

import "github.com/chargeonce/chargeonce/impl"

// alwaysRotate is the reference with a provider key for each owner.
func alwaysRotate() impl.Design {
	d := decisions{mark: keyOfOwner}
	return impl.Design{
		Name:    "always-rotate",
		Summary: "each owner of a record sends under its own provider key, which it saves first",
		Doc: `It believes that a key belongs to an attempt, so that a stored failure cannot freeze the
payment for ever. Unlike key-per-attempt it keeps its keys in order: derived, numbered and
saved before the send. It looks up before it sends, too, but under the key of the last
owner. What that owner sent may land later, under a key that the record has forgotten.`,
		Source:    "medusajs/medusa#16390 (the other extreme: never rotating freezes a stored 4xx)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func keyOfOwner(r *run, rec impl.Record) (impl.Record, error) {
	if rec.Version == 1 {
		return rec, nil // the first owner's key was made at the claim
	}
	return rotate(r, rec) // the defect
}
