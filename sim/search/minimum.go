package search

import (
	"context"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Minimum looks for a smaller plan that breaks a violation's invariant, and
// puts the first of the smallest in its place. It runs all plans of at most
// one deviation out of all classes of the subject, and then all that are
// smaller than the violation's out of the classes that it uses. Weather counts
// as more than a deviation: a plan of the same size without any is smaller.
// proven reports that all plans with fewer deviations of the classes used were
// run, and hold. The budget is a number of runs, 0 is no bound.
func Minimum(ctx context.Context, v *Violation, open OpenStore, budget int) (proven bool, err error) {
	most := len(v.Plan.Deviations) - 1
	if v.Plan.Weather != 0 {
		most++
	}
	if most < 0 {
		return true, nil
	}
	any, used := *v.Subject, *v.Subject
	used.Classes = [plan.ClassCount]bool{}
	for _, d := range v.Plan.Deviations {
		used.Classes[d.Choice.Class] = true
	}
	for _, step := range []ExhaustiveOptions{{Subject: any, Deviations: min(most, 1)}, {Subject: used, Deviations: most}} {
		step.Target, step.Open, step.Budget = v.Invariant, open, budget
		p, err := Exhaust(ctx, step)
		switch {
		case err != nil:
			return false, err
		case p.Verdict == Violated && p.Violation != nil:
			smaller := *p.Violation
			smaller.Run, smaller.Subject, smaller.Found = v.Run, v.Subject, v.Found
			*v = smaller
			return true, nil
		case p.Verdict != Held:
			return false, nil
		}
		budget = max(budget-p.Plans, min(budget, 1))
	}
	return v.Plan.Weather == 0, nil
}
