package search

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// still is a strategy that never deviates.
type still struct{ Uniform }

func (*still) Choose(plan.Site, []plan.Choice) plan.Choice { return plan.Choice{} }

// contest compares strategies on charge-then-save.
func contest(t *testing.T, strategies ...Strategy) CompareOptions {
	t.Helper()
	d, err := designs.ByName("charge-then-save")
	if err != nil {
		t.Fatal(err)
	}
	return CompareOptions{
		Designs: []impl.Design{d}, Strategies: strategies, Trials: 6, Runs: 200, Seed: 1, Open: openMemory,
		Worlds: func(d impl.Design) ([]Subject, error) { return worlds(t, d), nil },
	}
}

func scoresOf(t *testing.T, opt CompareOptions) (all []Score) {
	t.Helper()
	if err := Compare(context.Background(), opt, func(s []Score) error { all = append(all, s...); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCompareShowsAStrategyThatNeverDeviates(t *testing.T) {
	broken := Strategy{Name: "still", New: func() Source { return &still{} }}
	scores := scoresOf(t, contest(t, broken, Strategies[0]))
	if len(scores) != 2 || scores[0].Strategy != "still" || scores[0].Misses != scores[0].Trials {
		t.Fatalf("%+v", scores)
	}
	if _, ok := scores[0].Quantile(0.5); ok {
		t.Error("a strategy that only misses has a median")
	}
	if median, ok := scores[1].Quantile(0.5); scores[1].Misses != 0 || !ok || median < 1 || scores[1].Invariant != invariant.SingleCharge {
		t.Errorf("%+v", scores[1])
	}
	if best := Totals(scores, 200)[0]; best.Strategy != Strategies[0].Name || best.Misses != 0 {
		t.Errorf("the best is %+v", best)
	}
}

func TestCompareDoesNotDependOnWorkers(t *testing.T) {
	opt := contest(t, Strategies...)
	opt.Workers = 1
	one := scoresOf(t, opt)
	opt.Workers = 3
	if three := scoresOf(t, opt); !reflect.DeepEqual(one, three) {
		t.Errorf("with three workers\n%+v\nwith one\n%+v", three, one)
	}
	if slices.Max(one[0].First) == slices.Min(one[0].First) {
		t.Errorf("all trials are the same: %v", one[0].First)
	}
}

func TestCompareEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	opt := contest(t, Strategies[0])
	opt.Progress = func(p Trials) {
		if p.Of != opt.Trials {
			t.Errorf("%d trials in all, want %d", p.Of, opt.Trials)
		}
		cancel()
	}
	opt.Workers = 1
	err := Compare(ctx, opt, func([]Score) error { t.Error("an unfinished row is told"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	opt.Trials = 0
	if err := Compare(context.Background(), opt, nil); err == nil {
		t.Error("no trial is no error")
	}
	right := contest(t, Strategies[0])
	right.Designs[0].Expect = string(Held)
	if err := Compare(context.Background(), right, nil); err == nil {
		t.Error("a design that is expected to hold is no error")
	}
}

func TestQuantile(t *testing.T) {
	for _, tt := range []struct {
		first []int
		share float64
		want  int // 0: none
	}{
		{[]int{7}, 0.5, 7},
		{[]int{4, 1, 3, 2}, 0.5, 2},
		{[]int{5, 4, 1, 3, 2}, 0.5, 3},
		{[]int{5, 4, 1, 3, 2}, 0.95, 5},
		{[]int{0, 1}, 0.5, 1},
		{[]int{0, 1}, 0.95, 0},
		{[]int{0, 0, 1}, 0.5, 0},
		{[]int{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.95, 19},
		{[]int{0}, 0.5, 0},
	} {
		s := Score{First: tt.first}
		if got, ok := s.Quantile(tt.share); got != tt.want || ok != (tt.want > 0) {
			t.Errorf("the %v quantile of %v is %d, %v; want %d", tt.share, tt.first, got, ok, tt.want)
		}
	}
}

func TestTotals(t *testing.T) {
	all := Totals([]Score{
		{Strategy: "a", Trials: 2, First: []int{1, 100}},
		{Strategy: "b", Trials: 2, First: []int{4, 9}},
		{Strategy: "c", Trials: 2, Misses: 1, First: []int{1, 0}},
		{Strategy: "a", Trials: 1, First: []int{10}},
		{Strategy: "b", Trials: 1, First: []int{6}},
		{Strategy: "c", Trials: 1, First: []int{1}},
	}, 1000)
	var names []string
	for _, s := range all {
		names = append(names, s.Strategy)
	}
	if !slices.Equal(names, []string{"b", "a", "c"}) || int(all[0].Mean+0.5) != 6 || int(all[1].Mean+0.5) != 10 || int(all[2].Mean+0.5) != 10 {
		t.Errorf("%+v", all)
	}
}
