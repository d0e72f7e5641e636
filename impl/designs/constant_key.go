package designs

import "github.com/chargeonce/chargeonce/impl"

// constantKey is the reference with a provider key that says what is done and
// not for whom.
func constantKey() impl.Design {
	d := decisions{claim: sameForAll}
	return impl.Design{
		Name:    "constant-key",
		Summary: "all operations have one provider key",
		Doc: `It believes that the key names the kind of request. The demonstration has one payment and
passes. With two, the second is taken for a repetition of the first: refused where the
parameters differ, and where they are equal the second customer is told of the first one's
charge and pays nothing. StableProviderKey falls with the second claim.`,
		Source:    "crbnos/carbon#252",
		Expect:    "StableProviderKey",
		Profiles:  []string{keyed},
		Scenarios: []string{mixed},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func sameForAll(_ *impl.Request, fresh *impl.Record) {
	fresh.ProviderKey = "create-payment" // the defect
}
