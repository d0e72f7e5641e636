package sim_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
)

// stage is a world that a test runs plans in, and what the last run left.
// Tests with a stage do not run in parallel: the world counts goroutines.
type stage struct {
	*sim.World
	cfg     sim.Config
	events  []history.Event
	checker *invariant.Checker
}

func (s *stage) Event(e *history.Event) {
	s.events = append(s.events, *e)
	s.checker.Event(e)
}

// newStage opens a world on a registry of its own.
func newStage(t testing.TB, cfg sim.Config) *stage {
	t.Helper()
	store := memory.New()
	cfg.Store, cfg.Empty = store, func() error { store.Reset(); return nil }
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &stage{World: w, cfg: cfg, checker: invariant.New(w.Header())}
}

// run makes a run with everything kept.
func (s *stage) run(c sim.Chooser, weather uint64) *sim.Result {
	s.events = s.events[:0]
	s.checker.Reset(s.Header())
	return s.Run(c, sim.Options{Weather: weather, Sink: s, Trace: true})
}

// violated returns the names of the invariants that the last run broke.
func (s *stage) violated() (names []string) {
	for _, v := range s.checker.Violations() {
		names = append(names, v.Invariant.String())
	}
	slices.Sort(names)
	return names
}

// replay makes the run of a plan's deviations, and fails if the run does not
// come by one of them.
func (s *stage) replay(t testing.TB, weather uint64, deviations []plan.Deviation) *sim.Result {
	t.Helper()
	var f plan.Fixed
	f.Reset(deviations)
	res := s.run(&f, weather)
	for _, d := range f.Unmet() {
		t.Fatalf("the run does not come by %q", d)
	}
	return res
}

// follow is replay of a few lines.
func (s *stage) follow(t testing.TB, lines ...string) *sim.Result {
	t.Helper()
	return s.replay(t, 0, deviations(t, lines...))
}

func deviations(t testing.TB, lines ...string) (all []plan.Deviation) {
	t.Helper()
	for _, line := range lines {
		d, err := plan.ParseDeviation(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

func design(t testing.TB, name string) impl.Design {
	t.Helper()
	d, err := designs.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func scenario(t testing.TB, name string) sim.Scenario {
	t.Helper()
	s, err := sim.ScenarioByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func profile(t testing.TB, name string) provider.Profile {
	t.Helper()
	p, err := provider.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// world is the configuration of a design in a scenario, with its first
// profile and every class that breaks nothing but the given.
func world(t testing.TB, designName, scenarioName string, broken ...impl.Assumption) sim.Config {
	t.Helper()
	d := design(t, designName)
	return sim.Config{
		Design: d, Scenario: scenario(t, scenarioName), Profile: profile(t, d.Profiles[0]),
		Classes: sim.Within(broken...), Break: broken,
	}
}

// planned is the configuration that a plan names.
func planned(t testing.TB, p *plan.Plan) sim.Config {
	t.Helper()
	cfg := world(t, p.Design, p.Scenario, p.Break...)
	if p.Profile != "" {
		cfg.Profile = profile(t, p.Profile)
	}
	return cfg
}

// worlds lists the designs that hold with each of their profiles in every
// scenario, and the wrong ones, which are many, in one scenario each.
func worlds(t testing.TB, broken ...impl.Assumption) (all []sim.Config) {
	t.Helper()
	for i, d := range designs.All() {
		for j, p := range d.Profiles {
			for k, s := range sim.Scenarios {
				if d.Expect != "held" && (i+j+k)%len(sim.Scenarios) != 0 {
					continue
				}
				cfg := world(t, d.Name, s.Name, broken...)
				cfg.Profile = profile(t, p)
				all = append(all, cfg)
			}
		}
	}
	return all
}

func title(cfg *sim.Config) string {
	return fmt.Sprintf("%s/%s/%s", cfg.Design.Name, cfg.Profile.Name, cfg.Scenario.Name)
}

// swarm is a random chooser for run n of a configuration: another one than
// that of run n of another configuration.
func swarm(cfg *sim.Config, n uint64) (c *search.Swarm, weather uint64) {
	seed := fnv.New64a()
	fmt.Fprint(seed, title(cfg), cfg.Break)
	c = &search.Swarm{}
	return c, c.Reset(seed.Sum64(), n, sim.ServiceConfig(cfg.Profile).MessageLifetime)
}

// chooserFunc makes a function a chooser.
type chooserFunc func(site plan.Site, menu []plan.Choice) plan.Choice

func (f chooserFunc) Choose(site plan.Site, menu []plan.Choice) plan.Choice { return f(site, menu) }

// handler makes a function a handler.
type handler func(ctx context.Context, req impl.Request) (impl.Reply, error)

func (h handler) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	return h(ctx, req)
}

// wrap returns the reference design with something around its handler.
func wrap(t testing.TB, around func(inner impl.Handler, ports impl.Ports) impl.Handler) impl.Design {
	t.Helper()
	d := design(t, "reference")
	inner := d.Handler
	d.Name = "wrapped"
	d.Handler = func(cfg impl.Config, ports impl.Ports) impl.Handler { return around(inner(cfg, ports), ports) }
	return d
}

// lines prints a trace, for failures.
func lines(all []sim.Line) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "%10d %-8v %v %v %v %v %d\n", l.At, l.Mark, l.Who, l.Peer, l.Step, l.Attempt, l.Value)
	}
	return b.String()
}
