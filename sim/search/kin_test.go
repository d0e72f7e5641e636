package search

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// comings are what runs come to: the invariants that fall, by what was seen.
type comings struct {
	t  *testing.T
	mu sync.Mutex
	of map[uint64]string
	n  int
}

func (c *comings) seen(_ []plan.Deviation, a *arena) {
	c.mu.Lock()
	defer c.mu.Unlock()
	falls := fmt.Sprint(a.violations())
	seen, _ := a.world.Past()
	if other, ok := c.of[seen]; ok && other != falls {
		c.t.Errorf("what was seen of two runs is the same, and there fall %s and %s", other, falls)
	}
	c.of[seen], c.n = falls, c.n+1
}

// compareKin runs all plans with and without those that others stand for, and
// holds that it comes to the same. The target must not fall.
func compareKin(t *testing.T, s Subject, deviations int, target invariant.Name) {
	t.Helper()
	all := map[bool]*comings{}
	for _, whole := range []bool{true, false} {
		c := &comings{t: t, of: map[uint64]string{}}
		p := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: deviations, Target: target, seen: c.seen, whole: whole})
		if p.Verdict != Held || p.Plans != c.n {
			t.Fatalf("%s: %s, %d plans, really %d", p.Verdict, p.Reason, p.Plans, c.n)
		}
		if whole != (p.Pruned == 0) || whole && p.Next.Pruned != 0 || !whole && p.Next.Pruned == 0 {
			t.Errorf("whole: %v, %d plans are said to be pruned, and %d of the next layer", whole, p.Pruned, p.Next.Pruned)
		}
		all[whole] = c
	}
	if !maps.Equal(all[true].of, all[false].of) {
		t.Errorf("%d plans come to %d different things, the %d that are left of them to %d", all[true].n, len(all[true].of), all[false].n, len(all[false].of))
	}
	t.Logf("%s: %d plans, %d of them run, come to %d different things", s.Design.Name, all[true].n, all[false].n, len(all[false].of))
}

// What is pruned comes to nothing that is not met without it: not to another
// history, nor to the fall of another invariant. Some of the designs have a
// memory, locks, or clocks of their own.
func TestPrunedPlansComeToTheSame(t *testing.T) {
	for _, tt := range []struct{ design, scenario string }{
		{"reference", "one-payment"}, {"local-lock", "two-replicas-one-key"}, {"local-cache", "retry-other-replica"}, {"reaper-by-age", "one-payment"},
	} {
		if testing.Short() && tt.design != "reference" {
			continue
		}
		t.Run(tt.design, func(t *testing.T) {
			s := small(t, tt.design, tt.scenario)
			s.Classes = sim.Within()
			compareKin(t, s, 2, invariant.BoundedRefunds)
		})
	}
}

// The same with three deviations, of few classes.
func TestPrunedPlansOfThreeComeToTheSame(t *testing.T) {
	for i, classes := range [][]plan.Class{
		{plan.ClassCutLink}, {plan.ClassDrop, plan.ClassHoldUntil}, {plan.ClassPause}, {plan.ClassStallNode, plan.ClassSkew},
	} {
		for _, design := range []string{"reference", "settles-while-sending"} {
			if testing.Short() && i > 0 {
				continue
			}
			s := small(t, design, "one-payment", classes...)
			var err error
			if s, err = s.without(plan.Part{Process: plan.Server | 2}); err != nil {
				t.Fatal(err)
			}
			t.Run(design+"/"+s.classNames(), func(t *testing.T) { compareKin(t, s, 3, invariant.BoundedRefunds) })
		}
	}
}

// The first plan that violates is the same, pruned or not.
func TestPruningKeepsTheFirstViolation(t *testing.T) {
	for _, d := range designs.All() {
		if d.Expect == string(Held) || testing.Short() && d.Name > "e" {
			continue
		}
		target, err := invariant.Parse(d.Expect)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range worlds(t, d)[:1] {
			var found [2]string
			for i, whole := range []bool{true, false} {
				p, err := Exhaust(context.Background(), ExhaustiveOptions{Subject: s, Deviations: 2, Target: target, Open: openMemory, Budget: 20_000, whole: whole})
				if err != nil {
					t.Fatal(err)
				}
				if found[i] = string(p.Verdict); p.Violation != nil {
					found[i] = fmt.Sprint(p.Violation.Plan, p.Held())
				}
			}
			if found[0] != found[1] && found[0] != string(Undecided) {
				t.Errorf("%s: pruned, the first that violates is\n%s\nand not\n%s", d.Name, found[1], found[0])
			}
		}
	}
}

// A run is extended up to where it is in the state of a run before it, of
// whichever lets it be extended the least, and never where something is left
// of its choices.
func TestKin(t *testing.T) {
	run := func(states ...uint64) (after []asked) {
		for _, s := range states {
			after = append(after, asked{state: s})
		}
		return after
	}
	var k kin
	k.reset()
	for i, tt := range []struct {
		after []asked
		whole uint64
		cut   int
	}{
		{run(1, 2, 3, 4), 9, 4},
		{run(7, 7, 3, 4), 9, 2},
		{run(3, 4), 8, 2}, // it comes to something else in the end
		{run(7, 3, 4), 9, 0},
		{run(8, unsettled, 4), 9, 2},
		{run(5, unsettled, 4), 9, 2},
		{run(6, unsettled), 9, 2},
		{run(), 9, 0},
	} {
		if cut := k.join(tt.after, tt.whole); cut != tt.cut {
			t.Errorf("run %d is cut at %d, want %d", i, cut, tt.cut)
		}
	}
	if k.reset(); k.join(run(1, 2), 9) != 2 {
		t.Error("it remembers what was before")
	}
}
