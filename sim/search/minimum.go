package search

import (
	"context"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Minimum looks for a plan with fewer deviations than the violation's, among
// all plans of the fault classes that it uses, and puts the first of the
// smallest in its place. proven reports whether all smaller ones were run:
// then none with fewer deviations of these classes violates. A violation that
// takes weather is left as it is: weather is not searched. The budget is a
// number of runs, 0 is no bound.
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
