package search

import (
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// drawnRun is a run as the property tests draw it.
type drawnRun struct {
	choices *drawn
	weather uint64
}

var drawnRuns = rapid.Custom(func(t *rapid.T) drawnRun {
	return drawnRun{drawChoices(t), uint64(rapid.IntRange(0, 3).Draw(t, "weather"))}
})

// byRapid makes rapid a source of runs. It stays in the tests: outside of them
// rapid has nothing but Example to draw with, which it says is not for that,
// and its flags and package testing come with it.
type byRapid struct{ *drawn }

func (b *byRapid) Reset(seed, run uint64, _ time.Duration) (weather uint64) {
	r := drawnRuns.Example(int(seedOf(seed, run) >> 1))
	// Example may give what it gave before: a chooser is used up by its run.
	b.drawn = &drawn{slices.Clone(r.choices.picks)}
	return r.weather
}

var rapidStrategy = Strategy{Name: "rapid", Doc: "what a property test of rapid draws", New: func() Source { return &byRapid{} }}

// What rapid draws breaks most wrong designs, though it knows nothing of them.
// To measure it beside the strategies, as chargeonce compare measures those:
//
//	CHARGEONCE_COMPARE=1 go test -v -run Rapid -timeout 60m ./sim/search
func TestRapidAsAStrategy(t *testing.T) {
	opt := CompareOptions{
		Designs:    slices.DeleteFunc(designs.All(), func(d impl.Design) bool { return d.Expect == string(Held) }),
		Strategies: []Strategy{rapidStrategy}, Trials: 1, Runs: 400, Seed: 1, Open: openMemory,
		Worlds: func(d impl.Design) ([]Subject, error) { return worlds(t, d), nil },
	}
	if os.Getenv("CHARGEONCE_COMPARE") != "" {
		opt.Strategies, opt.Trials, opt.Runs = append(opt.Strategies, Strategies...), 10, 3000
	}
	scores := scoresOf(t, opt)
	for _, total := range Totals(scores, opt.Runs) {
		t.Logf("%-8s %3d of %d trials missed; %6.1f schedules, the geometric mean", total.Strategy, total.Misses, total.Trials, total.Mean)
		if total.Strategy == rapidStrategy.Name && 2*total.Misses > total.Trials {
			t.Errorf("what rapid draws misses in %d of %d trials", total.Misses, total.Trials)
		}
	}
}

// A run that rapid draws follows from its seed and number, and most differ.
func TestRapidDrawsFromTheSeed(t *testing.T) {
	different := map[int]bool{}
	a, b := &byRapid{}, &byRapid{}
	menu := []plan.Choice{{Class: plan.ClassDrop}, {Class: plan.ClassCrash}}
	for run := range uint64(50) {
		weather := a.Reset(1, run, 0)
		if b.Reset(2, run, 0); b.Reset(1, run, 0) != weather || !slices.Equal(a.picks, b.picks) {
			t.Errorf("run %d is drawn twice as %v and %v", run, a.picks, b.picks)
		}
		digest := int(weather)
		for _, p := range a.picks {
			digest = digest*1000003 + p.skip*64 + p.class*8 + p.variant
		}
		different[digest] = true
		for site := range plan.Site(300) {
			if a.Choose(site, menu) != b.Choose(site, menu) {
				t.Errorf("run %d differs at site %d", run, site)
			}
		}
	}
	if len(different) < 25 {
		t.Errorf("only %d runs of 50 differ", len(different))
	}
}
