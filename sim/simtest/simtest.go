package simtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/client"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

// Handler makes a design of a handler alone: its clients keep one key for
// each order and retry until the horizon, and nothing reconciles. Set more
// fields of the design for more.
func Handler(name string, handler func(impl.Config, impl.Ports) impl.Handler) impl.Design {
	return impl.Design{
		Name: name, Expect: "held", Handler: handler,
		Client: func(cfg impl.Config, ports impl.ClientPorts) impl.Client {
			return client.New(ports, client.Retry{Horizon: cfg.RetryHorizon, First: cfg.Lease / 4, Most: cfg.Lease})
		},
	}
}

// HandlerFunc is a function as a handler.
type HandlerFunc func(context.Context, impl.Request) (impl.Reply, error)

// Handle calls the function.
func (f HandlerFunc) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	return f(ctx, req)
}

// Option says what Holds searches. Without any it is Exhaustive(1) and
// Random(10000).
type Option func(*settings)

type settings struct {
	deviations int // -1: none
	runs       int
	seed       uint64
	scenarios  []string
	profiles   []string
	without    []plan.Class
	broken     []impl.Assumption
}

// Exhaustive runs all plans with at most so many deviations, the first
// violation is then a smallest one.
func Exhaustive(deviations int) Option { return func(s *settings) { s.deviations = deviations } }

// Random makes so many random runs, from seed 1.
func Random(runs int) Option { return func(s *settings) { s.runs = runs } }

// Seed is another seed for the random runs.
func Seed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// Scenarios runs these scenarios only; the names are those of sim.Scenarios.
func Scenarios(names ...string) Option { return func(s *settings) { s.scenarios = names } }

// Profiles runs with these provider profiles; the names are those of
// provider.Profiles. Without it, those of the design, or "keyed".
func Profiles(names ...string) Option { return func(s *settings) { s.profiles = names } }

// Without switches fault classes off.
func Without(classes ...plan.Class) Option {
	return func(s *settings) { s.without = append(s.without, classes...) }
}

// Break lets the world break assumptions, to see what then falls.
func Break(assumptions ...impl.Assumption) Option {
	return func(s *settings) { s.broken = append(s.broken, assumptions...) }
}

// Holds fails the test if some run violates an invariant. Plans that failed
// before run first.
func Holds(t testing.TB, d impl.Design, options ...Option) {
	t.Helper()
	s := settings{deviations: -1, seed: 1}
	for _, o := range options {
		o(&s)
	}
	if s.deviations < 0 && s.runs == 0 {
		s.deviations, s.runs = 1, 10_000
	}
	if testing.Short() {
		s.runs /= 10
		s.deviations = max(min(s.deviations, 0), s.deviations-1)
	}
	subjects := s.subjects(t, d)
	regress(t, d, subjects)
	if s.deviations >= 0 {
		exhaust(t, subjects, s.deviations)
	}
	if s.runs > 0 {
		random(t, subjects, s)
	}
}

func (s *settings) subjects(t testing.TB, d impl.Design) []search.Subject {
	t.Helper()
	classes := sim.Within(s.broken...)
	for _, c := range s.without {
		classes[c] = false
	}
	all, err := search.Worlds(d, search.Selection{Scenarios: s.scenarios, Profiles: s.profiles})
	if err != nil {
		t.Fatalf("simtest: %v", err)
	}
	for i := range all {
		all[i].Classes, all[i].Break = classes, s.broken
	}
	return all
}

func first(lists ...[]string) []string {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

// openMemory is the registry of all runs: the real one in memory.
func openMemory() (impl.Registry, func() error, func() error, error) {
	r := memory.New()
	return r, func() error { r.Reset(); return nil }, func() error { return nil }, nil
}

// exhaust searches all subjects by layers and stops at the first violation.
func exhaust(t testing.TB, subjects []search.Subject, deviations int) {
	t.Helper()
	for i := range subjects {
		s := &subjects[i]
		p, err := search.Exhaust(context.Background(), search.ExhaustiveOptions{Subject: *s, Deviations: deviations, Open: openMemory})
		if err != nil {
			t.Fatalf("simtest: %v", err)
		}
		switch {
		case p.Violation != nil:
			fail(t, p.Violation)
		case p.Finding != nil:
			t.Fatalf("simtest: %v\n%s\nin the run of this plan:\n\n%s", p.Finding, p.Finding.Detail, p.FindingAt)
		case p.Verdict != search.Held:
			t.Fatalf("simtest: %s: %s", p.Verdict, p.Reason)
		}
		t.Logf("simtest: %s, scenario %s, provider %s: %s (%d plans)", s.Design.Name, s.Scenario.Name, s.Profile.Name, p.Sentence(s), p.Plans)
	}
}

// random makes the random runs.
func random(t testing.TB, subjects []search.Subject, s settings) {
	t.Helper()
	r, err := search.Campaign(context.Background(), search.Options{Subjects: subjects, Runs: s.runs, Seed: s.seed, Open: openMemory})
	if err != nil {
		t.Fatalf("simtest: %v", err)
	}
	switch {
	case r.Violation != nil:
		fail(t, r.Violation)
	case r.Finding != nil:
		t.Fatalf("simtest: %v\n%s\nin the run of this plan:\n\n%s", r.Finding, r.Finding.Detail, r.FindingAt)
	case r.Verdict != search.Held:
		t.Fatalf("simtest: %s: %s", r.Verdict, r.Reason)
	}
	t.Logf("simtest: %s held in %d random runs", subjects[0].Design.Name, r.Runs)
}

// fail tells of a violation and saves its plan.
func fail(t testing.TB, v *search.Violation) {
	t.Helper()
	if _, err := search.Minimum(context.Background(), v, openMemory, 200_000); err != nil {
		t.Logf("simtest: %v", err)
	}
	r, err := search.Run(*v.Subject, v.Plan, openMemory)
	if err != nil {
		t.Fatalf("simtest: %v", err)
	}
	saved := save(t, v)
	t.Fatal(report(t, v.Plan, r, saved))
}

// report is what a test that fails prints.
func report(t testing.TB, p *plan.Plan, r *search.Replay, saved string) string {
	var b bytes.Buffer
	v := r.Violations[0]
	fmt.Fprintf(&b, "%v fell: %s\n\n%s\n", v.Invariant, v.Sentence, p)
	if err := timeline.Write(&b, &timeline.Run{
		Lines: r.Lines, Events: r.Events, Deviations: r.Result.Deviations, Violation: v.Index, MaxRows: 60,
	}); err != nil {
		fmt.Fprintf(&b, "(no timeline: %v)\n", err)
	}
	if saved != "" {
		fmt.Fprintf(&b, "\nThe plan is saved in %s and runs first from now on: go test -run '^%s$'\n", saved, regexp.QuoteMeta(t.Name()))
	}
	return b.String()
}

// folder is where plans that failed are kept, in the directory of the test.
const folder = "testdata/simtest"

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// prefix begins the names of a design's plans.
func prefix(d *impl.Design) string { return unfit.ReplaceAllString(d.Name, "_") + "-" }

// save writes the plan to a file of its own and returns its name, "" if it
// could not.
func save(t testing.TB, v *search.Violation) string {
	text := v.Plan.String()
	name := filepath.Join(folder, fmt.Sprintf("%s%s-%s-%016x.plan", prefix(&v.Subject.Design), v.Invariant, v.Plan.Scenario, v.Plan.Hash))
	err := os.MkdirAll(folder, 0o777)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o666)
	}
	if err != nil {
		t.Logf("simtest: the plan is not saved: %v", err)
		return ""
	}
	return filepath.ToSlash(name)
}

// regress runs the plans that failed before, in the order of their names.
func regress(t testing.TB, d impl.Design, subjects []search.Subject) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, prefix(&d)+"*.plan"))
	if err != nil {
		t.Fatalf("simtest: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("simtest: %v", err)
		}
		p, err := plan.Parse(string(text))
		if err != nil {
			t.Fatalf("simtest: %s: %v; mend it or delete it", name, err)
		}
		s, err := subjectOf(d, p)
		if err != nil {
			t.Fatalf("simtest: %s: %v; mend it or delete it", name, err)
		}
		r, err := search.Run(s, p, openMemory)
		if err != nil {
			t.Fatalf("simtest: %v", err)
		}
		if len(r.Violations) > 0 {
			t.Fatal(report(t, p, r, filepath.ToSlash(name)))
		}
		if r.Result.Finding != nil {
			t.Fatalf("simtest: %v in the run of %s", r.Result.Finding, name)
		}
		note := ""
		if len(r.Unmet) > 0 {
			note = fmt.Sprintf("; the code no longer comes by %q", r.Unmet[0].Site)
		}
		t.Logf("simtest: %s holds now%s", name, note)
	}
}

// subjectOf returns the world of a plan, with the design at hand.
func subjectOf(d impl.Design, p *plan.Plan) (search.Subject, error) {
	scenario, err := sim.ScenarioByName(p.Scenario)
	if err != nil {
		return search.Subject{}, err
	}
	profile, err := provider.ByName(first([]string{p.Profile}, d.Profiles, []string{"keyed"})[0])
	if err != nil {
		return search.Subject{}, err
	}
	return search.Subject{Design: d, Scenario: scenario, Profile: profile, Classes: sim.Within(p.Break...), Break: p.Break}, nil
}

// Fuzz gives the design to go test -fuzz: the bytes are the choices, site by
// site. Seeds are the benign plan and a few short ones.
func Fuzz(f *testing.F, d impl.Design, options ...Option) {
	f.Helper()
	s := settings{}
	for _, o := range options {
		o(&s)
	}
	subjects := s.subjects(f, d)
	for _, seed := range [][]byte{{}, {0, 3, 1}, {1, 10, 2, 5, 4}, {2, 20, 0, 1, 9, 2, 3}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		v, err := search.Bytes(subjects, choices, openMemory)
		if err != nil {
			t.Fatalf("simtest: %v", err)
		}
		if v != nil {
			fail(t, v)
		}
	})
}
