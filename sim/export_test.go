package sim

import "github.com/chargeonce/chargeonce/sim/plan"

// Running returns the true time, and whose attempt the code that runs now
// works on, in which process.
func (w *World) Running() (now int64, in plan.Process, of plan.Attempt) {
	return w.now(), w.current.p.id, w.current.attempt
}
