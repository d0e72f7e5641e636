package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Twin is a design that decides everything as the reference does.
func Twin() impl.Design {
	var asReference decisions
	d := reference()
	d.Handler, d.Reconciler = asReference.handler, asReference.reconciler
	return d
}

// Held is the Expect of a design that keeps every invariant.
const Held = held

// Windowless is the reference with sends that the lease alone permits, and
// take-overs that leave no room: where they leave room for a healthy run, the
// lease is mostly over before the window.
func Windowless() impl.Design {
	windowless := decisions{maySend: whileLeased}
	d := reference()
	d.Name, d.Handler, d.Reconciler = "windowless", windowless.handler, windowless.reconciler
	d.Tune = func(cfg impl.Config) impl.Config {
		cfg.HealthyRun = time.Millisecond
		return cfg
	}
	return d
}

// Unguarded is the reference with sends that nothing permits.
func Unguarded() impl.Design {
	unguarded := decisions{maySend: func(*run, *impl.Record) bool { return true }}
	d := reference()
	d.Name, d.Handler, d.Reconciler = "unguarded", unguarded.handler, unguarded.reconciler
	return d
}
