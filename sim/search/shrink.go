package search

import (
	"slices"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// shrunken is a run that breaks an invariant, on its way to a small one.
type shrunken struct {
	*arena  // of what is left of the scenario
	name    invariant.Name
	weather uint64
	kept    []plan.Deviation
}

// shrink makes the run smaller, step by step, until no step is left after
// which the invariant still falls: no weather if that goes, no deviation, no
// client, order or server that can go by itself, and no choice in whose place
// a simpler one does. It is deterministic.
func (s *shrunken) shrink() {
	for s.calm() || s.drop() || s.leaveOut() || s.simplify() {
	}
}

func (s *shrunken) breaks(weather uint64, d []plan.Deviation) bool {
	res := s.replay(weather, d, how{skip: s.name != invariant.Refines})
	return res.Finding == nil && s.broke(s.name)
}

// calm does without weather. Like the other steps it reports whether it could
// do something.
func (s *shrunken) calm() bool {
	if s.weather == 0 || !s.breaks(0, s.kept) {
		return false
	}
	s.weather = 0
	return true
}

// drop drops deviations, chunks first, then one by one until none can go.
func (s *shrunken) drop() bool {
	before := len(s.kept)
	for size := max(before/2, 1); size >= 1; {
		dropped := false
		for at := 0; at < len(s.kept); {
			end := min(at+size, len(s.kept))
			fewer := append(append([]plan.Deviation(nil), s.kept[:at]...), s.kept[end:]...)
			if s.breaks(s.weather, fewer) {
				s.kept, dropped = fewer, true
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
	return len(s.kept) < before
}

// leaveOut leaves parts of the scenario out, together with the deviations that
// name them.
func (s *shrunken) leaveOut() (some bool) {
	for _, part := range s.subject.Scenario.Parts() {
		less, err := s.subject.without(part)
		if err != nil { // it is the last of its kind, or was left with nothing to do
			continue
		}
		tried := *s
		if tried.arena, err = newArena(less, s.cfg.Store, s.cfg.Empty); err != nil {
			continue
		}
		tried.kept = slices.DeleteFunc(slices.Clone(s.kept), part.NamedBy)
		if tried.breaks(s.weather, tried.kept) {
			*s, tried, some = tried, *s, true
		}
		tried.world.Close()
	}
	return some
}

// simplify puts the simplest choice that still does in each deviation's place.
func (s *shrunken) simplify() (some bool) {
	for i := range s.kept {
		original := s.kept[i].Choice
		for _, c := range simpler(original) {
			if !s.subject.Classes[c.Class] || !c.Fits(s.kept[i].Site) {
				continue
			}
			if s.kept[i].Choice = c; s.breaks(s.weather, s.kept) {
				some = true
				break
			}
			s.kept[i].Choice = original
		}
	}
	return some
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
