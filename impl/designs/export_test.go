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

// Unguarded is the reference with sends that nothing permits.
func Unguarded() impl.Design {
	unguarded := decisions{maySend: func(*run, *impl.Record) bool { return true }}
	d := reference()
	d.Name, d.Handler, d.Reconciler = "unguarded", unguarded.handler, unguarded.reconciler
	return d
}
