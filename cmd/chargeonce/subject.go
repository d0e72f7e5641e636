package main

import (
	"cmp"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
)

// held is what a design or a plan expects if no invariant is to fall.
const held = "held"

// scenariosOf are the scenarios that a design runs in if none is named: those
// in which its defect shows, or all.
func scenariosOf(d *impl.Design) names {
	if d.Expect != held && len(d.Scenarios) > 0 {
		return d.Scenarios
	}
	return names{"all"}
}

// profilesOf are the provider profiles that a design is meant for.
func profilesOf(d *impl.Design) names {
	if len(d.Profiles) > 0 {
		return d.Profiles
	}
	return names{provider.Profiles[0].Name}
}

// worldsOf are the worlds that a design runs in if none is named.
func worldsOf(d impl.Design) ([]search.Subject, error) { return selected(d, nil, nil) }

// selected are the worlds of these names, each list of which may be all; empty
// ones are for scenariosOf and profilesOf.
func selected(d impl.Design, scenarios, profiles names) ([]search.Subject, error) {
	if len(scenarios) == 0 {
		scenarios = scenariosOf(&d)
	}
	if slices.Equal(scenarios, names{"all"}) {
		scenarios = nil
		for _, s := range sim.Scenarios {
			scenarios = append(scenarios, s.Name)
		}
	}
	if slices.Equal(profiles, names{"all"}) {
		profiles = nil
		for _, p := range provider.Profiles {
			profiles = append(profiles, p.Name)
		}
	}
	return search.Worlds(d, search.Selection{Scenarios: scenarios, Profiles: profiles})
}

// subjectOptions are the flags by which sim and search choose what they run,
// until when, and what they write.
type subjectOptions struct {
	design                              string
	scenarios, profiles, faults, broken names
	workers                             count
	registry                            word
	any, json, planGiven                bool
	plan                                string // name of a file
	builds                              builds
}

// add adds the flags that both verbs have in the same words.
func (o *subjectOptions) add(fs *flag.FlagSet) {
	o.workers, o.registry = count{0, 0, 1024}, word{"memory", stores}
	fs.StringVar(&o.design, "design", "reference", "which `NAME` of the gallery to run; see chargeonce designs")
	fs.Var(&o.scenarios, "scenario", "`NAMES` with commas, or all; if not given: all for a design that should hold, and for another those in which its defect shows")
	fs.Var(&o.profiles, "profile", "`NAMES` of what the provider promises, or all; if not given: those that the design is meant for")
	fs.Var(&o.broken, "break", "`NAMES` of assumptions (A1, A2, …) that the world may break: the faults that break them come on; if not given: those that the design's deployment does not keep")
	fs.Var(&o.registry, "registry", "where records are kept: `WORD` memory or sqlite, the real one, in memory")
	fs.Var(&o.workers, "workers", "`N` runs at a time; 0 is one for each processor")
	fs.BoolVar(&o.any, "any", false, "stop at whatever invariant falls first; if not given, a design of which one is known to fall is run until that one does")
	fs.StringVar(&o.plan, "plan", "", "write the plan to `FILE`; if not given DESIGN.plan in this directory; '' writes none and prints it for the shell")
	fs.BoolVar(&o.json, "json", false, "write one JSON object instead of text")
	fs.StringVar(&o.builds.junit, "junit", "", "write the outcome to `FILE` as JUnit XML")
	fs.BoolVar(&o.builds.github, "github", false, "annotate the workflow of GitHub Actions with what fails")
}

// resolve looks every name up and refuses what makes no sense. Which faults
// are tried if none is named depends on the verb and the design.
func (o *subjectOptions) resolve(faults func(*impl.Design) names) (c campaign, err error) {
	c = campaign{registry: o.registry.value, json: o.json, builds: o.builds}
	if c.design, err = designs.ByName(o.design); err != nil {
		return c, err
	}
	c.plan = c.design.Name + ".plan"
	if o.planGiven {
		c.plan = o.plan
	}
	c.Workers = cmp.Or(o.workers.n, runtime.GOMAXPROCS(0))
	if c.broken, err = assumptions(o.broken); err != nil {
		return c, err
	}
	if len(o.broken) == 0 {
		c.broken = c.design.Breaks
	}
	if c.faults, err = chooseFaults(faults(&c.design), c.broken); err != nil {
		return c, err
	}
	if !o.any && c.design.Expect != held {
		if c.Target, err = invariant.Parse(c.design.Expect); err != nil {
			return c, err
		}
	}
	if err = c.subjects(o.scenarios, o.profiles); err != nil || c.builds.junit == "" {
		return c, err
	}
	return c, writable(c.builds.junit)
}

// assumptions parses the names of assumptions, in the order of their list.
func assumptions(list names) (all []impl.Assumption, err error) {
	for _, name := range list {
		if !slices.Contains(impl.Assumptions, impl.Assumption(name)) {
			return nil, fmt.Errorf("no assumption is called %q: want one of %s", name, joined(impl.Assumptions))
		}
	}
	for _, a := range impl.Assumptions {
		if slices.Contains(list, string(a)) {
			all = append(all, a)
		}
	}
	return all, nil
}

// faults are the fault classes of a campaign.
type faults struct {
	on    [plan.ClassCount]bool
	asked []plan.Class // those that the verdict is to be about
}

// chooseFaults reads a list of classes from the left: a name switches one on
// and asks for it, a name after "-" switches one off, "all" stands for all
// that break no assumption, and "none" for none. The classes that break one of
// the given assumptions are on and asked for unless they are switched off.
func chooseFaults(list names, broken []impl.Assumption) (f faults, err error) {
	var asked, off [plan.ClassCount]bool
	if len(list) == 0 || strings.HasPrefix(list[0], "-") {
		f.on = sim.Within()
	}
	for _, name := range list {
		switch name {
		case "all":
			f.on = sim.Within()
			continue
		case "none":
			f.on, asked = [plan.ClassCount]bool{}, [plan.ClassCount]bool{}
			continue
		}
		bare, without := strings.CutPrefix(name, "-")
		class, err := plan.ParseClass(bare)
		if err != nil {
			return f, err
		}
		if a := class.Breaks(); a != "" && !without && !slices.Contains(broken, a) {
			return f, fmt.Errorf("the fault %s breaks assumption %s: it can only be on together with -break %s", class, a, a)
		}
		f.on[class], asked[class], off[class] = !without, !without, without
	}
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if a := c.Breaks(); a != "" && slices.Contains(broken, a) && !off[c] {
			f.on[c], asked[c] = true, true
		}
		if asked[c] {
			f.asked = append(f.asked, c)
		}
	}
	return f, nil
}

// names lists the classes that are on.
func (f *faults) names() (on []string) {
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if f.on[c] {
			on = append(on, c.String())
		}
	}
	return on
}

// validate refuses what a design cannot be configured for.
func validate(s *search.Subject) error {
	cfg := sim.ServiceConfig(s.Profile)
	cfg.Waive = append(cfg.Waive, s.Break...)
	if s.Design.Tune != nil {
		cfg = s.Design.Tune(cfg)
	}
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("%s cannot run with the provider profile %s: %w", s.Design.Name, s.Profile.Name, err)
	}
	return nil
}

// loadPlan reads a plan and looks up what it is about: its own design, or
// another if one is named.
func (c *console) loadPlan(name, design string) (*plan.Plan, *search.Subject, error) {
	text, err := c.readPlan(name)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	s, err := subjectOf(p, design)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, s, nil
}

// subjectOf is the subject of a plan, what it leaves out left out; with
// another design if one is named.
func subjectOf(p *plan.Plan, design string) (*search.Subject, error) {
	if design == "" {
		design = p.Design
	}
	d, err := designs.ByName(design)
	if err != nil {
		return nil, err
	}
	scenario, err := sim.ScenarioByName(p.Scenario)
	if err != nil {
		return nil, err
	}
	name := p.Profile
	if name == "" {
		name = profilesOf(&d)[0]
	}
	profile, err := provider.ByName(name)
	if err != nil {
		return nil, err
	}
	s := &search.Subject{Design: d, Scenario: scenario, Profile: profile, Classes: sim.Within(p.Break...), Break: p.Break}
	if p.Expect != "" && p.Expect != held {
		if _, err := invariant.Parse(p.Expect); err != nil {
			return nil, fmt.Errorf("the plan expects %q: %w", p.Expect, err)
		}
	}
	if s.Scenario, err = scenario.Without(p.Absent...); err != nil {
		return nil, err
	}
	for _, deviation := range p.Deviations {
		if err := knows(s, deviation); err != nil {
			return nil, fmt.Errorf("the plan's line %q: %w", deviation, err)
		}
	}
	return s, validate(s)
}

// knows reports what a line of a plan names that its world does not have. A
// site that this run does not come by is another matter.
func knows(s *search.Subject, d plan.Deviation) error {
	if a := d.Choice.Class.Breaks(); a != "" && !slices.Contains(s.Break, a) {
		return fmt.Errorf("the fault %s breaks assumption %s: the plan needs the line \"break %s\"", d.Choice.Class, a, a)
	}
	attempt := d.Site.Attempt()
	for _, who := range []plan.Process{d.Site.Who(), d.Site.Peer(), attempt.Actor(), d.Choice.Who} {
		most := 1
		switch who.Kind() {
		case plan.Client:
			most = len(s.Scenario.Clients)
		case plan.Server:
			most = s.Scenario.Servers
		case plan.Reconciler:
		default:
			continue
		}
		if who.Index() > most {
			kind, _, _ := strings.Cut(who.String(), "-")
			return fmt.Errorf("there is no %s: scenario %s has %s-1 to %s-%d", who, s.Scenario.Name, kind, kind, most)
		}
	}
	if attempt.Order() > len(s.Scenario.Orders) {
		return fmt.Errorf("there is no order-%d: scenario %s has order-1 to order-%d", attempt.Order(), s.Scenario.Name, len(s.Scenario.Orders))
	}
	for _, part := range s.Scenario.Absent {
		if part.NamedBy(d) {
			return fmt.Errorf("there is no %s: the plan leaves it out", part)
		}
	}
	return nil
}

// joined lists things by name.
func joined[T ~string](list []T) string {
	var all []string
	for _, s := range list {
		all = append(all, string(s))
	}
	return strings.Join(all, ", ")
}
