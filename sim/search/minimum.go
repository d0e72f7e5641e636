package search

import (
	"context"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Minimum looks for a plan with fewer deviations than the violation's, among
// all plans of the fault classes that it uses, and puts the first of the
// smallest in its place. proven reports whether all smaller ones were run:
// then none with fewer deviations of these classes violates.
func Minimum(ctx context.Context, v *Violation, open OpenStore, budget int) (proven bool, err error) {
	if v.Plan.Weather != 0 {
		return false, nil
	}
	s := *v.Subject
	s.Classes = [plan.ClassCount]bool{}
	for _, d := range v.Plan.Deviations {
		s.Classes[d.Choice.Class] = true
	}
	if len(v.Plan.Deviations) == 0 {
		return true, nil
	}
	p, err := Exhaust(ctx, ExhaustiveOptions{
		Subject: s, Deviations: len(v.Plan.Deviations) - 1, Target: v.Invariant, Open: open, Budget: budget,
	})
	if err != nil || p.Verdict == Undecided {
		return false, err
	}
	if p.Violation != nil {
		smaller := *p.Violation
		smaller.Run, smaller.Subject, smaller.Found = v.Run, v.Subject, v.Found
		*v = smaller
	}
	return p.Verdict == Held || p.Verdict == Violated, nil
}

// Without is what a plan comes to when one of its deviations is left out.
type Without struct {
	Deviation plan.Deviation
	Verdict   Verdict
	Falls     []string // invariants that fall all the same
	// Part is the first line of the trace in which the two runs differ, in
	// the run of the whole plan; -1 if they never do.
	Part int
	At   int64 // its time, in virtual nanoseconds
}

// Explanation says what each part of a plan does, and what would have helped.
type Explanation struct {
	Whole   *Replay
	Without []Without
	Fixes   []Fix
}

// Fix is a design under which the very same plan holds.
type Fix struct {
	Design string
	Unmet  int // deviations that do not apply there
}

// Explain runs a plan without each of its deviations, and on other designs.
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
		w := Without{Deviation: d, Verdict: part.Verdict, Part: -1}
		for _, v := range part.Violations {
			w.Falls = append(w.Falls, v.Invariant.String())
		}
		w.Part, w.At = parting(whole, part)
		e.Without = append(e.Without, w)
	}
	for _, o := range others {
		r, err := Run(o, p, open)
		if err != nil {
			return nil, err
		}
		if len(r.Violations) == 0 && r.Result.Finding == nil && r.Verdict != Nondeterministic {
			e.Fixes = append(e.Fixes, Fix{o.Design.Name, len(r.Unmet)})
		}
	}
	return e, nil
}

// parting finds the first line in which the runs differ, the choices
// themselves aside.
func parting(a, b *Replay) (line int, at int64) {
	j := 0
	for i := range a.Lines {
		if a.Lines[i].Mark == sim.MarkChoice {
			continue
		}
		for j < len(b.Lines) && b.Lines[j].Mark == sim.MarkChoice {
			j++
		}
		if j == len(b.Lines) || a.Lines[i] != b.Lines[j] {
			return i, a.Lines[i].At
		}
		j++
	}
	return -1, 0
}
