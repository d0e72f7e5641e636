package designs

import "github.com/chargeonce/chargeonce/impl"

// Twin is a design that decides everything as the reference does.
func Twin() impl.Design {
	var asReference decisions
	d := reference()
	d.Handler, d.Reconciler = asReference.handler, asReference.reconciler
	return d
}

// Held is the Expect of a design that keeps every invariant.
const Held = held
