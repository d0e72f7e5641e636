package designs

import "github.com/chargeonce/chargeonce/impl"

// windowMoved is the reference with a take-over that starts afresh.
func windowMoved() impl.Design {
	d := decisions{mark: freshWindow}
	return impl.Design{
		Name:    "window-moved",
		Summary: "a take-over sets the start of the provider's window to now",
		Doc: `It believes that a new owner begins a new operation. The key is the old one, and at the
provider its window has been open since the first send landed. FencedWrites shows that
something changed which is bound at the claim. WindowGuarded shows what comes of it: a
send lands when the key has been forgotten; that this is a double charge is masked by the
look-up before each send, unless the first landing was a decline.`,
		Source:    "model checking of the protocol",
		Expect:    "WindowGuarded",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{decline},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func freshWindow(r *run, rec impl.Record) (impl.Record, error) {
	if rec.Version == 1 {
		return rec, nil // the claim has it right
	}
	next := rec
	next.WindowFrom = r.ports.Clock.Now() // the defect
	return r.Write(impl.StepTakeOver, rec, next)
}
