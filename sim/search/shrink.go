package search

import (
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// shrink drops deviations, and the weather, until none can go without the
// invariant holding again: the result is 1-minimal. It is deterministic.
func (a *arena) shrink(weather uint64, deviations []plan.Deviation, name invariant.Name) (uint64, []plan.Deviation) {
	kept := append([]plan.Deviation(nil), deviations...)
	breaks := func(weather uint64, d []plan.Deviation) bool {
		res := a.replay(weather, d, how{})
		return res.Finding == nil && a.broke(name)
	}
	if weather != 0 && breaks(0, kept) {
		weather = 0
	}
	// Chunks first, then one by one until nothing changes.
	for size := len(kept) / 2; size >= 1; {
		dropped := false
		for at := 0; at < len(kept); {
			end := min(at+size, len(kept))
			fewer := append(append([]plan.Deviation(nil), kept[:at]...), kept[end:]...)
			if breaks(weather, fewer) {
				kept, dropped = fewer, true
			} else {
				at = end
			}
		}
		if size > 1 {
			size /= 2
		} else if !dropped {
			break
		}
	}
	if len(kept) == 1 && breaks(weather, nil) {
		kept = nil
	}
	for i := range kept {
		a.simplify(weather, kept, i, breaks)
	}
	if weather != 0 && breaks(0, kept) {
		weather = 0
	}
	return weather, kept
}

// simplify lowers a hold by a duration to the smallest class of hold that
// still does.
func (a *arena) simplify(weather uint64, kept []plan.Deviation, i int, breaks func(uint64, []plan.Deviation) bool) {
	if kept[i].Choice.Bound != plan.BoundBy {
		return
	}
	original := kept[i].Choice
	for _, b := range plan.ClassHold.Bounds() {
		kept[i].Choice = plan.Choice{Class: plan.ClassHold, Bound: b}
		if b != plan.BoundBy && breaks(weather, kept) {
			return
		}
	}
	kept[i].Choice = original
}
