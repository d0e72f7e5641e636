package designs

import (
	"errors"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// rotateOnRejection is the reference with a provider key that is used up by
// an error.
func rotateOnRejection() impl.Design {
	d := decisions{unsure: rotateAfterError}
	return impl.Design{
		Name:    "rotate-on-rejection",
		Summary: "when the provider answers with an error, the next attempt gets a new provider key",
		Doc: `It believes that an error ends what the key stood for. The new key is derived, numbered
and saved before it is used: all is in order, but for the reason. After an error the first
send may still become a charge, and the second, under its own key, is another one. A key
may only be rotated after a definite "no". FencedWrites and StableProviderKey show the
defect as soon as the record is written; SingleCharge when both land.`,
		Source:    "model checking of the protocol (medusajs/medusa#16390 tells why people do it)",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func rotateAfterError(r *run, rec impl.Record, err error) (impl.Reply, error) {
	var rejected *impl.ProviderError
	if errors.As(err, &rejected) {
		_, _ = rotate(r, rec) // the defect
	}
	return r.InProgress()
}

// rotate gives the record its next provider key.
func rotate(r *run, rec impl.Record) (impl.Record, error) {
	next := rec
	next.ProviderKey = idemkey.Derive(rec.Scope, rec.Key, "charge", int(rec.Version)+1)
	return r.Write(impl.StepTakeOver, rec, next)
}
