package sim_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// kept is a copy of all that a run left.
type kept struct {
	result sim.Result
	lines  []sim.Line
	events []history.Event
}

func keep(s *stage, r *sim.Result) kept {
	k := kept{*r, slices.Clone(s.Lines()), slices.Clone(s.events)}
	k.result.Deviations = append([]plan.Deviation(nil), r.Deviations...)
	return k
}

// compare fails where two runs differ, and says where they part.
func compare(t *testing.T, what string, a, b kept) {
	t.Helper()
	for i := range min(len(a.lines), len(b.lines)) {
		if a.lines[i] != b.lines[i] {
			t.Fatalf("%s: line %d is\n%sand\n%s", what, i, lines(a.lines[i:i+1]), lines(b.lines[i:i+1]))
		}
	}
	for i := range min(len(a.events), len(b.events)) {
		if a.events[i] != b.events[i] {
			t.Fatalf("%s: event %d is\n%+v and\n%+v", what, i, a.events[i], b.events[i])
		}
	}
	if len(a.lines) != len(b.lines) || len(a.events) != len(b.events) {
		t.Fatalf("%s: %d and %d lines, %d and %d events", what, len(a.lines), len(b.lines), len(a.events), len(b.events))
	}
	if !reflect.DeepEqual(a.result, b.result) {
		t.Fatalf("%s: the results are\n%+v and\n%+v", what, a.result, b.result)
	}
}

// runsPerWorld is how many random plans a test tries in each world.
func runsPerWorld(t *testing.T) uint64 {
	if testing.Short() {
		return 2
	}
	return 6
}

// The same plan gives the same run: again in the same world, in a world that
// ran fifty other plans since it was new, and in a fresh one. And a random
// run is a run of the plan that it wrote: replayed it is the same, and comes
// by every site.
func TestARunIsItsPlan(t *testing.T) {
	for _, cfg := range worlds(t, impl.Assumptions...) {
		used, fresh := newStage(t, cfg), newStage(t, cfg)
		for n := uint64(1000); n < 1050; n++ {
			c, weather := swarm(&cfg, n)
			used.Run(c, sim.Options{Weather: weather})
		}
		for n := range runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			first := keep(used, used.run(c, weather))
			if first.result.Finding != nil {
				t.Fatalf("%s: %v", title(&cfg), first.result.Finding)
			}
			c, weather = swarm(&cfg, n)
			compare(t, title(&cfg)+", twice in a used world", first, keep(used, used.run(c, weather)))
			c, weather = swarm(&cfg, n)
			compare(t, title(&cfg)+", in a used and in a fresh world", first, keep(fresh, fresh.run(c, weather)))
			replayed := keep(used, used.replay(t, weather, first.result.Deviations))
			compare(t, title(&cfg)+", random and from its plan", first, replayed)
		}
	}
}

// What is kept of a run has no influence on it.
func TestWatchingARunDoesNotChangeIt(t *testing.T) {
	for _, cfg := range worlds(t) {
		s := newStage(t, cfg)
		for n := range runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			watched := *s.run(c, weather)
			watched.Deviations = append([]plan.Deviation(nil), watched.Deviations...)
			c, weather = swarm(&cfg, n)
			alone := *s.Run(c, sim.Options{Weather: weather})
			alone.Deviations = append([]plan.Deviation(nil), alone.Deviations...)
			if !reflect.DeepEqual(watched, alone) {
				t.Fatalf("%s: watched it is\n%+v and alone\n%+v", title(&cfg), watched, alone)
			}
		}
	}
}

// A site names one question of a run.
func TestNoSiteIsAskedTwice(t *testing.T) {
	for _, cfg := range worlds(t, impl.Assumptions...) {
		s := newStage(t, cfg)
		for n := range runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			asked := map[plan.Site]bool{}
			res := s.run(chooserFunc(func(site plan.Site, menu []plan.Choice) plan.Choice {
				if asked[site] {
					t.Fatalf("%s: the site %q is asked twice", title(&cfg), site)
				}
				asked[site] = true
				return c.Choose(site, menu)
			}), weather)
			if len(asked) > res.Sites || res.Sites == 0 {
				t.Fatalf("%s: %d sites were asked, %d are reported", title(&cfg), len(asked), res.Sites)
			}
		}
	}
}

// Every site that is asked, and every choice that is offered there, can be
// said in a plan, and is said back as it was.
func TestEverythingThatIsOfferedCanBeSaid(t *testing.T) {

	for _, cfg := range worlds(t, impl.Assumptions...) {
		s := newStage(t, cfg)
		said := map[plan.Site]bool{}
		for n := range runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			s.run(chooserFunc(func(site plan.Site, menu []plan.Choice) plan.Choice {
				if !said[site] {
					said[site] = true
					for i, choice := range menu {
						if choice.Bound == plan.BoundBy {
							choice.By = 12e6
						}
						want := plan.Deviation{Site: site, Choice: choice}
						got, err := plan.ParseDeviation(want.String())
						if err != nil || got != want {
							t.Fatalf("%s: %q parses to %+v, %v", title(&cfg), want, got, err)
						}
						if choice.Class == plan.ClassNone || !cfg.Classes[choice.Class] || slices.Contains(menu[:i], menu[i]) {
							t.Fatalf("%s: at %q the menu offers %+v", title(&cfg), site, menu[i])
						}
					}
				}
				return c.Choose(site, menu)
			}), weather)
		}
	}
}

// Removing a deviation does not rename what the run comes by before it: the
// sites up to there are the same, in the same order.
func TestRemovingADeviationRenamesNothingBeforeIt(t *testing.T) {
	for _, cfg := range worlds(t, impl.Assumptions...) {
		s := newStage(t, cfg)
		record := func(weather uint64, deviations []plan.Deviation) (asked []plan.Site) {
			var f plan.Fixed
			f.Reset(deviations)
			s.run(chooserFunc(func(site plan.Site, menu []plan.Choice) plan.Choice {
				asked = append(asked, site)
				return f.Choose(site, menu)
			}), weather)
			return asked
		}
		for n := range runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			whole := slices.Clone(s.run(c, weather).Deviations)
			asked := record(weather, whole)
			for i := range whole {
				without := record(weather, slices.Delete(slices.Clone(whole), i, i+1))
				upTo := slices.Index(asked, whole[i].Site) + 1
				if upTo == 0 || len(without) < upTo || !slices.Equal(asked[:upTo], without[:upTo]) {
					t.Fatalf("%s: without %q other sites come before it", title(&cfg), whole[i])
				}
			}
		}
	}
}
