package search

import (
	"context"
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// minimumRuns is how many runs the search for a minimum takes at most: well
// under a second.
const minimumRuns = 50_000

// optimumRuns is how many runs the search for the optimum takes at most.
const optimumRuns = 400_000

// Designs whose violation is not known to be as small as can be: larger ones,
// where fewer faults of other classes do, and open ones, where the layers
// below are too large to be run here.
var (
	larger = []string{"charge-in-transaction", "retry-past-window", "window-moved"}
	open   = []string{"lookup-before-clock"}
)

// A violation that a random campaign finds, made small, has as few deviations
// as any plan of its world has, for at least 95 of 100 designs.
func TestMinimumIsTheOptimum(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches the layers below each violation with all classes")
	}
	compared, not, unknown := 0, []string{}, []string{}
	for _, d := range designs.All() {
		if d.Expect == string(Held) {
			continue
		}
		want, err := invariant.Parse(d.Expect)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Campaign(context.Background(), Options{Subjects: worlds(t, d), Runs: 200_000, Seed: 1, Open: openMemory, Target: want})
		if err != nil {
			t.Fatal(err)
		}
		v := r.Violation
		if v == nil || v.Invariant != want {
			t.Errorf("%s: %v did not fall in %d runs: %s %s", d.Name, want, r.Runs, r.Verdict, r.Reason)
			continue
		}
		before := len(v.Plan.Deviations)
		proven, err := Minimum(context.Background(), v, openMemory, minimumRuns)
		if err != nil {
			t.Fatal(err)
		}
		size := len(v.Plan.Deviations)
		best, known := optimum(t, v)
		t.Logf("%s: found with %d, dropped to %d, minimum %d (proven: %v), optimum %d (known: %v)", d.Name, v.Found, before, size, proven, best, known)
		switch {
		case !known:
			unknown = append(unknown, d.Name)
		case size != best:
			not = append(not, d.Name)
		}
		if compared++; known && size == best && !proven && v.Plan.Weather == 0 {
			t.Errorf("%s: the layers below %d deviations take more than %d runs:\n%s", d.Name, before, minimumRuns, v.Plan)
		}
	}
	for _, name := range not {
		if !slices.Contains(larger, name) {
			t.Errorf("%s is larger than the optimum, and not in the list", name)
		}
	}
	for _, name := range unknown {
		if !slices.Contains(open, name) {
			t.Errorf("of %s the optimum is not known, and it is not in the list", name)
		}
	}
	if 20*len(not) > compared {
		t.Errorf("%d of %d are larger than the optimum", len(not), compared)
	}
}

// optimum is the least number of deviations that break a violation's
// invariant in its world, if it is known.
func optimum(t *testing.T, v *Violation) (size int, known bool) {
	t.Helper()
	size = len(v.Plan.Deviations)
	if size == 0 {
		return size, true
	}
	p := exhaust(t, ExhaustiveOptions{Subject: *v.Subject, Deviations: size - 1, Target: v.Invariant, Budget: optimumRuns})
	if p.Violation != nil {
		size = len(p.Violation.Plan.Deviations)
	}
	return size, p.Verdict == Held || p.Violation != nil
}

// The minimum replaces a plan that only seems small: two faults where one of
// the same kind would do.
func TestMinimumReplaces(t *testing.T) {
	s := small(t, "charge-then-save", "retry-other-replica", plan.ClassDrop)
	p := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 1, Target: invariant.SingleCharge})
	if p.Violation == nil {
		t.Fatal(p.Verdict)
	}
	v := *p.Violation
	one := v.Plan.Deviations[0]
	two := s.Plan(0, []plan.Deviation{one, {Site: one.Site.Nth(2), Choice: one.Choice}})
	v.Plan, v.Run, v.Found = two, 7, 9
	proven, err := Minimum(context.Background(), &v, openMemory, 0)
	if err != nil || !proven {
		t.Fatal(proven, err)
	}
	if len(v.Plan.Deviations) != 1 || v.Plan.Expect != "SingleCharge" || v.Plan.Hash == 0 || v.Run != 7 || v.Found != 9 {
		t.Errorf("%+v\n%s", v, v.Plan)
	}
	v.Plan = two
	if proven, err := Minimum(context.Background(), &v, openMemory, 1); proven || err != nil || v.Plan != two {
		t.Errorf("with one run: %v, %v", proven, err)
	}
	stormy := s.Plan(3, []plan.Deviation{one})
	v.Plan = stormy
	if proven, err := Minimum(context.Background(), &v, openMemory, 0); !proven || err != nil || v.Plan.Weather != 0 || len(v.Plan.Deviations) != 1 {
		t.Errorf("with weather: %v, %v\n%s", proven, err, v.Plan)
	}
	none := small(t, "charge-then-save", "retry-other-replica") // no class is on: nothing without weather breaks it
	v.Subject, v.Plan = &none, none.Plan(3, nil)
	if proven, err := Minimum(context.Background(), &v, openMemory, 0); proven || err != nil || v.Plan.Weather != 3 {
		t.Errorf("with weather that it takes: %v, %v", proven, err)
	}
	v.Subject, v.Plan = &s, s.Plan(0, nil)
	if proven, err := Minimum(context.Background(), &v, openMemory, 0); !proven || err != nil {
		t.Errorf("of nothing: %v, %v", proven, err)
	}
}
