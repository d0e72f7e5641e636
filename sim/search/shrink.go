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

// simplify puts the simplest choice that still does in a deviation's place.
func (a *arena) simplify(weather uint64, kept []plan.Deviation, i int, breaks func(uint64, []plan.Deviation) bool) {
	original := kept[i].Choice
	for _, c := range simpler(original) {
		if !a.subject.Classes[c.Class] || !c.Fits(kept[i].Site) {
			continue
		}
		if kept[i].Choice = c; breaks(weather, kept) {
			return
		}
	}
	kept[i].Choice = original
}

// simpler lists the choices that do less than another, the simplest first: one
// message instead of a link, a link instead of a node, a shorter time.
func simpler(c plan.Choice) (list []plan.Choice) {
	shorter := func(class plan.Class) {
		for _, b := range class.Bounds() {
			if b == plan.BoundBy || class == c.Class && b == c.Bound {
				return
			}
			list = append(list, plan.Choice{Class: class, Bound: b})
		}
	}
	switch c.Class {
	case plan.ClassCutNode:
		list = append(list, plan.Choice{Class: plan.ClassDrop})
		shorter(plan.ClassCutLink)
	case plan.ClassCutLink:
		list = append(list, plan.Choice{Class: plan.ClassDrop})
	case plan.ClassStallNode:
		shorter(plan.ClassHold)
		shorter(plan.ClassStallLink)
	case plan.ClassStallLink, plan.ClassHoldUntil:
		shorter(plan.ClassHold)
	}
	shorter(c.Class)
	return list
}
