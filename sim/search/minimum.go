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
// run, and hold. Then it looks for a plan of the same size that does with less
// of the scenario. The budget is a number of runs, 0 is no bound.
func Minimum(ctx context.Context, v *Violation, open OpenStore, budget int) (proven bool, err error) {
	m := minimum{ctx: ctx, v: v, open: open, bounded: budget > 0, left: budget}
	if proven, err = m.fewer(); err == nil {
		err = m.narrow()
	}
	return proven, err
}

// minimum is a violation whose plan is made as small as can be.
type minimum struct {
	ctx     context.Context
	v       *Violation
	open    OpenStore
	bounded bool
	left    int // runs, if they are bounded
}

// fewer looks for a plan with fewer deviations.
func (m *minimum) fewer() (proven bool, err error) {
	most := len(m.v.Plan.Deviations) - 1
	if m.v.Plan.Weather != 0 {
		most++
	}
	if most < 0 {
		return true, nil
	}
	used := *m.v.Subject
	used.Classes = m.used()
	for _, step := range []ExhaustiveOptions{{Subject: *m.v.Subject, Deviations: min(most, 1)}, {Subject: used, Deviations: most}} {
		if verdict, err := m.exhaust(step); verdict != Held {
			return verdict == Violated, err
		}
	}
	return m.v.Plan.Weather == 0, nil
}

// used are the classes of the plan's deviations.
func (m *minimum) used() (on [plan.ClassCount]bool) {
	for _, d := range m.v.Plan.Deviations {
		on[d.Choice.Class] = true
	}
	return on
}

// exhaust runs plans, and puts the first that violates in the place of the
// violation's. The verdict is Undecided if it was not to run them all.
func (m *minimum) exhaust(step ExhaustiveOptions) (Verdict, error) {
	if m.bounded && m.left <= 0 {
		return Undecided, nil
	}
	step.Target, step.Open, step.Budget = m.v.Invariant, m.open, m.left
	p, err := Exhaust(m.ctx, step)
	if err != nil {
		return Undecided, err
	}
	m.left -= p.Plans
	if p.Verdict == Violated && p.Violation == nil { // a finding
		return Undecided, nil
	}
	if p.Violation != nil {
		smaller := *p.Violation
		smaller.Run, smaller.Subject, smaller.Found = m.v.Run, m.v.Subject, m.v.Found
		*m.v = smaller
	}
	return p.Verdict, nil
}

// narrow leaves out what can go of the scenario if the same kinds of faults
// happen elsewhere.
func (m *minimum) narrow() error {
	if len(m.v.Plan.Deviations) == 0 {
		return nil
	}
	for again := true; again; {
		again = false
		scenario := m.v.Subject.Scenario
		scenario.Absent = m.v.Plan.Absent
		for _, part := range scenario.Parts() {
			step := ExhaustiveOptions{Subject: *m.v.Subject, Deviations: len(m.v.Plan.Deviations)}
			step.Subject.Classes = m.used()
			var err error
			if step.Subject.Scenario, err = scenario.Without(part); err != nil { // it is the last of its kind
				continue
			}
			verdict, err := m.exhaust(step)
			if err != nil || verdict == Undecided {
				return err
			}
			if again = verdict == Violated; again {
				break
			}
		}
	}
	return nil
}
