package search

import (
	"context"
	"math"
	"testing"

	"github.com/chargeonce/chargeonce/sim"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9+1e-4*math.Abs(b) }

func TestViolationBound(t *testing.T) {
	for _, tt := range []struct {
		runs int
		want float64
	}{
		{1, 0.95}, // one run: all but 5 % of it is possible
		{2, 1 - math.Sqrt(0.05)},
		{10, 0.258866},
		{59, 0.049507}, // the least number of runs that shows less than 5 %
		{300, 0.0099361},
		{1_000_000_000, 2.9957e-9},
	} {
		got := violationBound(tt.runs)
		if !near(got, tt.want) {
			t.Errorf("after %d runs %v, want %v", tt.runs, got, tt.want)
		}
		if three := 3 / float64(tt.runs); tt.runs >= 30 && (got > three || got < 0.95*three) {
			t.Errorf("after %d runs %v, and the rule of three says %v", tt.runs, got, three)
		}
	}
}

func TestNewRisk(t *testing.T) {
	const a, b, c = met(1 << sim.Replayed), met(1 << sim.TakeOver), met(1 << sim.Settled)
	for _, tt := range []struct {
		name           string
		sets           map[met]int
		runs           int
		situation, set float64
	}{
		{"nothing was ever met", map[met]int{0: 100}, 100, 0, 0},
		{"one situation in one run", map[met]int{0: 99, a: 1}, 100, 0.01, 0.01},
		{"a situation in two sets is not new", map[met]int{a: 1, a | b: 1, b: 8}, 10, 0, 0.2},
		{"two at once", map[met]int{a | b: 1, c: 3}, 4, 0.5, 0.25},
		{"each run is new", map[met]int{a: 1, b: 1, c: 1}, 3, 1, 1},
	} {
		r := newRisk(tt.runs, tt.sets)
		if !near(r.NewSituation, tt.situation) || !near(r.NewSet, tt.set) || r.Sets != len(tt.sets) || r.Runs != tt.runs {
			t.Errorf("%s: %+v, want %v and %v", tt.name, r, tt.situation, tt.set)
		}
	}
}

// A campaign that held says what it leaves open, and its sets add up to what
// a second campaign of the same length meets: the estimate is no fiction.
func TestRiskOfACampaign(t *testing.T) {
	opt := Options{Subjects: subjects(t, "reference"), Runs: 3000, Seed: 1, Open: openMemory}
	r, err := Campaign(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if r.Risk == nil || r.Risk.Runs != opt.Runs || r.Risk.Sets < 20 || r.Risk.NewSet <= 0 || r.Risk.NewSet > 0.2 {
		t.Fatalf("%+v", r.Risk)
	}
	seen := setsOf(t, opt.Seed, opt.Runs)
	if len(seen) != r.Risk.Sets {
		t.Errorf("%d sets, and the campaign counts %d", len(seen), r.Risk.Sets)
	}
	fresh := 0
	for set, n := range setsOf(t, opt.Seed+1, opt.Runs) {
		if seen[set] == 0 {
			fresh += n
		}
	}
	got := float64(fresh) / float64(opt.Runs)
	if got > 2*r.Risk.NewSet || got < r.Risk.NewSet/3 {
		t.Errorf("%.4f of the next runs met a new set, and the estimate is %.4f", got, r.Risk.NewSet)
	}
}

// setsOf makes the runs of a campaign of the reference and counts the sets of
// situations that they meet.
func setsOf(t *testing.T, seed uint64, runs int) map[met]int {
	t.Helper()
	all := subjects(t, "reference")
	crew := make([]*arena, len(all))
	for i := range all {
		registry, empty, _, _ := openMemory()
		var err error
		if crew[i], err = newArena(all[i], registry, empty); err != nil {
			t.Fatal(err)
		}
		defer crew[i].world.Close()
	}
	sets := map[met]int{}
	source := Strategies[0].New()
	for i := range runs {
		res, _ := crew[i%len(crew)].draw(source, seed, uint64(i), how{})
		sets[metBy(res)]++
	}
	return sets
}
