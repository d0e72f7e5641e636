package search

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// drawnPlans makes the runs of a campaign with a strategy, and returns their
// plans and traces as text.
func drawnPlans(t *testing.T, s Strategy, runs int, again func(a *arena, weather uint64, deviations []plan.Deviation, hash uint64)) (text []string) {
	t.Helper()
	registry, empty, _, _ := openMemory()
	a, err := newArena(subjects(t, "charge-then-save")[0], registry, empty)
	if err != nil {
		t.Fatal(err)
	}
	defer a.world.Close()
	source := s.New()
	for i := range runs {
		res, weather := a.draw(source, 5, uint64(i), how{})
		deviations, hash := slices.Clone(res.Deviations), res.Hash
		text = append(text, fmt.Sprintf("%s%016x", a.subject.Plan(weather, deviations), hash))
		if again != nil {
			again(a, weather, deviations, hash)
		}
	}
	return text
}

func TestStrategiesAreDeterministic(t *testing.T) {
	for _, s := range Strategies {
		first, second := drawnPlans(t, s, 200, nil), drawnPlans(t, s, 200, nil)
		if !slices.Equal(first, second) {
			t.Errorf("%s draws other plans from the same seed", s.Name)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(first)))
		if len(distinct) < 100 {
			t.Errorf("%s draws only %d plans in 200 runs", s.Name, len(distinct))
		}
	}
}

// What a strategy chose is the run's plan: the run of that plan is the same.
func TestDrawnPlansReplay(t *testing.T) {
	for _, s := range Strategies {
		drawnPlans(t, s, 100, func(a *arena, weather uint64, deviations []plan.Deviation, hash uint64) {
			p := a.subject.Plan(weather, deviations)
			if again := a.replay(p.Weather, p.Deviations, how{}); again.Hash != hash || len(a.fixed.Unmet()) > 0 {
				t.Fatalf("%s: the run of the plan has the trace %016x, want %016x:\n%s", s.Name, again.Hash, hash, p)
			}
		})
	}
}

func TestStrategiesBreakChargeThenSave(t *testing.T) {
	for _, s := range Strategies {
		r, err := Campaign(context.Background(), Options{
			Subjects: subjects(t, "charge-then-save"), Runs: 500, Seed: 1, Target: invariant.SingleCharge, Open: openMemory, Strategy: s,
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Violated || r.Violation.Invariant != invariant.SingleCharge || r.Risk != nil {
			t.Errorf("%s: %v after %d runs, risk %v", s.Name, r.Verdict, r.Runs, r.Risk)
		}
	}
}

// A learner learns within a lineage, so that its campaign does not depend on
// the number of workers either; and nothing is estimated from runs that are
// not independent.
func TestGuidedCampaignDoesNotDependOnWorkers(t *testing.T) {
	guided, err := StrategyByName("guided")
	if err != nil {
		t.Fatal(err)
	}
	var reports []*Report
	for _, workers := range []int{1, 3} {
		r, err := Campaign(context.Background(), Options{
			Subjects: subjects(t, "reference")[:2], Runs: lineageSize + 900, Seed: 3, Workers: workers, Open: openMemory, Strategy: guided,
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Elapsed = 0; r.Verdict != Held || r.Risk != nil {
			t.Errorf("%v, risk %v", r.Verdict, r.Risk)
		}
		reports = append(reports, r)
	}
	if !reflect.DeepEqual(reports[0], reports[1]) {
		t.Errorf("with three workers\n%+v\nwith one\n%+v", reports[1], reports[0])
	}
}

// Guided keeps what met something new and nothing else, and its changes are
// of plans that it kept.
func TestGuidedKeepsWhatIsNew(t *testing.T) {
	g := NewGuided()
	registry, empty, _, _ := openMemory()
	a, err := newArena(subjects(t, "reference")[0], registry, empty)
	if err != nil {
		t.Fatal(err)
	}
	defer a.world.Close()
	changed := 0
	for i := range 600 {
		known, before := len(g.seen), len(g.corpus)
		situations := g.situation
		a.draw(g, 1, uint64(i), how{})
		news := len(g.seen) > known || g.situation != situations
		if kept := len(g.corpus) > before; kept != news {
			t.Fatalf("run %d: kept %v, met something new %v", i, kept, news)
		}
		if !g.fresh {
			changed++
		}
	}
	if len(g.corpus) < 10 || len(g.corpus) > 500 || changed < 200 {
		t.Errorf("%d plans are kept and %d runs are changes of them", len(g.corpus), changed)
	}
}

func TestStrategyByName(t *testing.T) {
	for _, s := range Strategies {
		if got, err := StrategyByName(s.Name); err != nil || got.Name != s.Name || s.Doc == "" {
			t.Errorf("%s: %v, %v", s.Name, got.Name, err)
		}
	}
	if _, err := StrategyByName("luck"); err == nil || !strings.Contains(err.Error(), "swarm, uniform") {
		t.Errorf("%v", err)
	}
}
