package search

import (
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Without is what a plan comes to when one of its deviations is left out.
type Without struct {
	Deviation plan.Deviation
	Run       *Replay
	Falls     []string // invariants that fall all the same
	// Line and Other are where the two runs part: the first lines in which
	// they differ, the choices themselves aside, of the whole plan's trace and
	// of this run's. Both are -1 if they never do.
	Line, Other int
}

// Fix is a design under which the very same plan holds.
type Fix struct {
	Other   int // its number in the list that was given
	Applied int // deviations of the plan whose site the design's run comes by
}

// Explanation says what each part of a plan does, and what would have helped.
type Explanation struct {
	Whole   *Replay
	Without []Without // in the order of the plan's deviations
	Fixes   []Fix     // in the order in which the others were given
}

// Explain runs a plan without each of its deviations, and on other designs. A
// design whose run comes by none of the plan's sites says nothing, and is left
// out.
func Explain(s Subject, p *plan.Plan, others []Subject, open OpenStore) (*Explanation, error) {
	whole, err := Run(s, p, open)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Whole: whole}
	for i, d := range p.Deviations {
		part, err := Run(s, p.Without(i), open)
		if err != nil {
			return nil, err
		}
		w := Without{Deviation: d, Run: part}
		for _, v := range part.Violations {
			w.Falls = append(w.Falls, v.Invariant.String())
		}
		w.Line, w.Other = parting(whole, part)
		e.Without = append(e.Without, w)
	}
	for i := range others {
		r, err := Run(others[i], p, open)
		if err != nil {
			return nil, err
		}
		applied := len(p.Deviations) - len(r.Unmet)
		holds := r.Verdict == Held || r.Verdict == Vacuous
		if holds && len(r.Violations) == 0 && (applied > 0 || len(p.Deviations) == 0) {
			e.Fixes = append(e.Fixes, Fix{i, applied})
		}
	}
	return e, nil
}

// parting finds the first lines in which two runs differ, choices aside.
func parting(a, b *Replay) (i, j int) {
	next := func(r *Replay, at int) int {
		for at < len(r.Lines) && r.Lines[at].Mark == sim.MarkChoice {
			at++
		}
		return at
	}
	for i, j = next(a, 0), next(b, 0); i < len(a.Lines) && j < len(b.Lines); i, j = next(a, i+1), next(b, j+1) {
		if a.Lines[i] != b.Lines[j] || a.Lines[i].Mark == sim.MarkHistory && a.Events[a.Lines[i].Value] != b.Events[b.Lines[j].Value] {
			return i, j
		}
	}
	return -1, -1
}
