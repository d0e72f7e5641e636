package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

func simVerb() verb {
	return verb{
		name: "sim", summary: "run a design under random faults and say what breaks",
		doc: `Each run draws which kinds of faults happen and how many, and is judged by all invariants. The first
run that breaks one is made small: the plan that is left is the faults that it takes and the clients, orders and servers that
it takes (the others it is without), and it is written to a file that replay reads. The outcome depends on the flags alone, not on the machine or the number of workers.
A campaign that held says what it leaves open. The residual line bounds the share of violating runs among all that could
have been drawn in the same way: if it were higher, a campaign of this length would have met one in 95 of 100 cases (the rule
of three: 3 by the number of runs). It also estimates the chance that one more run meets a situation, or a set of
situations, that no run met: how many were met by exactly one run, by the number of runs (Good and Turing). Both speak of
the strategy's draws in these worlds with these faults. They do not say how likely a double charge is in production, nor
anything of faults that were off, and a rare order of events that the strategy hardly ever draws may still be wrong; see
chargeonce search for what no plan does. Runs of the strategy guided are not independent draws, so nothing is estimated from
them.`,
		examples: []string{
			"chargeonce sim",
			"chargeonce sim -design charge-then-save",
			"chargeonce sim -design charge-then-save -faults all,-duplicate -seed 7",
			"chargeonce sim -break A2 -scenario one-payment",
			"chargeonce sim -registry sqlite -runs 2000 -json",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided, exitVacuous, exitNondeterministic},
		command: func(fs *flag.FlagSet) action {
			o := &simOptions{runs: count{50000, 1, 1e9}, seed: 1, strategy: search.Strategies[0].Name}
			o.add(fs)
			o.faults = names{"all"}
			fs.Var(&o.runs, "runs", "how many runs (`N`) to make at most")
			fs.Var(&o.seed, "seed", "`N` from which all random choices follow")
			fs.StringVar(&o.strategy, "strategy", o.strategy, "`NAME` of how runs are drawn; see chargeonce help compare")
			fs.Var(&o.faults, "faults", "`NAMES` of faults: all that break no assumption, none, a name to switch one on and to ask that it takes effect, -name to switch one off; see chargeonce faults")
			fs.StringVar(&o.history, "history", "", "write what was seen in the run that breaks an invariant, or else in the first, to `FILE`, as check reads it")
			return func(ctx context.Context, c *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				o.planGiven = isGiven(fs, "plan")
				campaign, err := o.resolve()
				if err != nil {
					return 0, err
				}
				return campaign.run(ctx, c)
			}
		},
	}
}

func isGiven(fs *flag.FlagSet, name string) (given bool) {
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// simOptions are the flags of sim.
type simOptions struct {
	subjectOptions
	runs     count
	seed     seed
	strategy string // "" is the default
	history  string // name of a file, "" for none
}

// campaign is what sim is to do, with every name looked up.
type campaign struct {
	search.Options
	design    impl.Design
	scenarios []string
	profiles  []string
	broken    []impl.Assumption
	faults    faults
	registry  string
	json      bool
	plan      string // file
	history   string // file
	minimal   bool   // no plan with fewer deviations of its kinds violates
	builds    builds
}

// resolve looks every name up and refuses what makes no sense. It writes
// nothing.
func (o *simOptions) resolve() (*campaign, error) {
	c, err := o.subjectOptions.resolve(func(*impl.Design) names { return o.faults })
	if err != nil {
		return nil, err
	}
	c.history, c.Runs, c.Seed, c.Asked = o.history, o.runs.n, uint64(o.seed), c.faults.asked
	if c.Strategy, err = search.StrategyByName(cmp.Or(o.strategy, search.Strategies[0].Name)); err != nil {
		return nil, err
	}
	return &c, c.checkFiles()
}

// subjects are the scenarios with each of the profiles.
func (c *campaign) subjects(scenarios, profiles names) (err error) {
	if c.Subjects, err = selected(c.design, scenarios, profiles); err != nil {
		return err
	}
	for i := range c.Subjects {
		s := &c.Subjects[i]
		s.Classes, s.Break = c.faults.on, c.broken
		if err := validate(s); err != nil {
			return err
		}
		if !slices.Contains(c.scenarios, s.Scenario.Name) {
			c.scenarios = append(c.scenarios, s.Scenario.Name)
		}
		if !slices.Contains(c.profiles, s.Profile.Name) {
			c.profiles = append(c.profiles, s.Profile.Name)
		}
	}
	return nil
}

func (c *campaign) checkFiles() error {
	for _, name := range []string{c.plan, c.history} {
		if name == "" {
			continue
		}
		if err := writable(name); err != nil {
			return err
		}
	}
	if c.plan != "" && c.plan == c.history {
		return fmt.Errorf("plan and history cannot both be written to %s", c.plan)
	}
	return nil
}

// run makes the campaign and tells of it.
func (c *campaign) run(ctx context.Context, k *console) (exitCode, error) {
	// A worker has one store for its runs and one for a run that is made
	// again; what comes after the campaign has one more.
	open, shut, err := openStores(c.registry, 2*c.Workers+1)
	if err != nil {
		return 0, err
	}
	defer shut()
	c.Open = open
	ctx, stop := interruptible(ctx)
	defer stop()
	if !c.json {
		c.announce(k.out)
		_ = k.out.Flush() // run tells of an output that is broken
	}
	line := &progress{w: k.err}
	if k.terminal {
		c.Progress = line.show
	}
	report, err := search.Campaign(ctx, c.Options)
	line.erase()
	if err != nil {
		return 0, err
	}
	stop() // from here on an interrupt ends the program
	return c.conclude(k, report), nil
}

// interruptible returns a context that the first interrupt ends; the second
// ends the program. Nothing starts a goroutine when an interrupt comes: beside
// a run it would be taken for the work of the code under test.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-interrupts:
		case <-ctx.Done():
		}
		signal.Stop(interrupts)
		cancel()
	}()
	return ctx, func() {
		signal.Stop(interrupts)
		cancel()
	}
}

// announce says what is about to be run, defaults included.
func (c *campaign) announce(w io.Writer) {
	labelled(w, "design", "%s: %s", c.design.Name, c.design.Summary)
	labelled(w, "scenarios", "%s", strings.Join(c.scenarios, ", "))
	labelled(w, "profiles", "%s", strings.Join(c.profiles, ", "))
	labelled(w, "faults", "%s", c.faultText())
	if len(c.broken) > 0 {
		labelled(w, "broken", "assumptions %s", joined(c.broken))
	}
	labelled(w, "registry", "%s", c.registry)
	labelled(w, "campaign", "%d runs from seed %d until %s falls; strategy %s; workers: %d", c.Runs, c.Seed, c.target(), c.Strategy.Name, c.Workers)
}

func (c *campaign) target() string {
	if c.Target == 0 {
		return "any invariant"
	}
	return c.Target.String()
}

func (c *campaign) faultText() string {
	on := c.faults.names()
	switch {
	case len(on) == 0:
		return "none"
	case c.faults.on == sim.Within():
		return fmt.Sprintf("all %d that break no assumption", len(on))
	}
	return strings.Join(on, ", ")
}

// conclude tells what a campaign came to, writes its files, and returns the
// exit code.
func (c *campaign) conclude(k *console, r *search.Report) exitCode {
	if r.Violation != nil {
		// What cannot be proven within the budget is only not said.
		c.minimal, _ = search.Minimum(context.Background(), r.Violation, c.Open, minimumBudget)
	}
	o := c.outcome(r)
	p := planOf(r)
	run := c.again(k, r, p)
	if p != nil {
		o.story = c.story(k, r, p, run)
	}
	if c.json {
		k.line(o)
	} else {
		c.tell(k.out, r, o, run)
	}
	c.builds.tell(k, "sim", c.json, []judged{c.judged(o)})
	return o.exit()
}

// judged is the outcome for a build server.
func (c *campaign) judged(o *outcome) judged {
	j := judged{suite: "sim", name: o.Design, verdict: o.Verdict, message: o.Reason}
	if o.fall != nil {
		j.message = o.Invariant + ": " + o.Sentence
	}
	if o.story != nil {
		j.detail, j.file = o.Plan, o.PlanFile
	}
	return j
}

// planOf is the plan of the run that matters, nil if none does. Of a run that
// never came back nobody knows what it chose.
func planOf(r *search.Report) *plan.Plan {
	switch {
	case r.Violation != nil:
		return r.Violation.Plan
	case r.Finding != nil && r.Finding.Kind == "blocked":
		return nil
	}
	return r.FindingAt
}

// outcome is the report for machines, but for its story.
func (c *campaign) outcome(r *search.Report) *outcome {
	t := c.totals(r)
	o := &outcome{
		Verdict: r.Verdict, Reason: r.Reason, Design: c.design.Name,
		Scenario: strings.Join(c.scenarios, ","), Profile: strings.Join(c.profiles, ","),
		Break: c.broken, Registry: c.registry, Strategy: c.Strategy.Name, Seed: &c.Seed, Planned: r.Planned,
		Runs: r.Runs, RunsPerSecond: rate(r.Runs, r.Elapsed),
		Faults: t.faults(), Situations: t.situationCounts(), HandedOver: r.HandedOver,
		Expect: c.design.Expect, Finding: newFinding(r.Finding), Residual: newResidual(r.Risk),
	}
	if r.Finding != nil && r.Verdict != search.Nondeterministic {
		o.Verdict = search.Violated
	}
	if r.Violation != nil {
		o.fall = newFall(&r.Violation.Violation, r.Violation.Others)
		o.Run = r.Violation.Run
	}
	if p := planOf(r); p != nil {
		o.Scenario, o.Profile = p.Scenario, p.Profile
	}
	return o
}

func (c *campaign) totals(r *search.Report) *totals {
	return &totals{c.faults.on, r.Chosen, r.Effective, r.Situations}
}

// again makes the run once more that is to be shown or written down: the one
// of the plan, or else the first. It returns nil if there is none to show.
func (c *campaign) again(k *console, r *search.Report, p *plan.Plan) *search.Replay {
	shown := p
	if c.history != "" && p == nil {
		if shown = r.First; shown == nil {
			k.warn("sim", fmt.Errorf("%s is not written: there is no run to tell of", c.history))
		}
	}
	if shown == nil {
		return nil
	}
	s, err := subjectIn(c.Subjects, shown)
	if err == nil {
		var run *search.Replay
		if run, err = search.Run(*s, shown, c.Open); err == nil {
			c.writeHistory(k, run)
			return run
		}
	}
	k.warn("sim", err)
	return nil
}

// subjectIn finds what a plan of this campaign is about.
func subjectIn(all []search.Subject, p *plan.Plan) (*search.Subject, error) {
	for i := range all {
		if all[i].Scenario.Name == p.Scenario && all[i].Profile.Name == p.Profile {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("the campaign has no scenario %s with profile %s", p.Scenario, p.Profile)
}

func (c *campaign) writeHistory(k *console, run *search.Replay) {
	if c.history == "" {
		return
	}
	if err := saveHistory(c.history, run.Header, run.Events); err != nil {
		k.warn("sim", fmt.Errorf("%s is not written: %w", c.history, err))
	}
}

// saveHistory writes a history to a file.
func saveHistory(name string, h history.Header, events []history.Event) error {
	return writeFile(name, func(w io.Writer) error {
		out, err := history.NewWriter(w, h)
		if err != nil {
			return err
		}
		for i := range events {
			if err := out.Event(&events[i]); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// story tells of the plan and writes it to its file. If that fails the plan
// is printed instead, as without a file.
func (c *campaign) story(k *console, r *search.Report, p *plan.Plan, run *search.Replay) *story {
	s := &story{Plan: p.String(), Deviations: len(p.Deviations)}
	switch {
	case r.Violation != nil:
		s.Sites, s.Hash, s.Minimal = r.Violation.Sites, hexadecimal(p.Hash), c.minimal
	case run != nil:
		s.Sites, s.Hash = run.Result.Sites, hexadecimal(run.Result.Hash)
	}
	if c.plan != "" {
		err := writeFile(c.plan, func(w io.Writer) error { _, err := io.WriteString(w, s.Plan); return err })
		if err == nil {
			s.PlanFile = c.plan
		} else {
			k.warn("sim", fmt.Errorf("%s is not written: %w", c.plan, err))
		}
	}
	s.Replay = c.replayCommand(k.program, s)
	return s
}

// replayCommand is what makes the run of a story again, for a shell.
func (c *campaign) replayCommand(program string, s *story) string {
	command := program + " replay"
	if c.registry != stores[0] {
		command += " -registry " + c.registry
	}
	switch {
	case s.PlanFile == "":
		return command + " - <<'EOF'\n" + s.Plan + "EOF"
	case strings.HasPrefix(s.PlanFile, "-"):
		return command + " ./" + quote(s.PlanFile)
	}
	return command + " " + quote(s.PlanFile)
}

func hexadecimal(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// maxRows bounds the picture of a run; replay -v shows everything.
const maxRows = 60

// tell writes the report for people.
func (c *campaign) tell(w io.Writer, r *search.Report, o *outcome, run *search.Replay) {
	if o.fall != nil {
		writeFall(w, o.fall)
	}
	if o.Finding != nil {
		writeFinding(w, o.Finding)
	}
	if o.story != nil {
		c.tellStory(w, r, o.story, run)
	}
	fmt.Fprintln(w)
	labelled(w, "runs", "%d of %d in %.1f s, %.0f a second", r.Runs, r.Planned, r.Elapsed.Seconds(), o.RunsPerSecond)
	c.totals(r).write(w)
	if r.HandedOver > 0 {
		labelled(w, "handed over", "%d operations ended with a person, who must look", r.HandedOver)
	}
	writeResidual(w, r.Risk)
	writeVerdict(w, o, c.remark(o))
}

// tellStory shows the plan, the picture of its run, and how to make it again.
func (c *campaign) tellStory(w io.Writer, r *search.Report, s *story, run *search.Replay) {
	fmt.Fprintf(w, "\nThe plan: %s%s.\n\n", deviating(s.Deviations, s.Sites), c.shrunk(r.Violation))
	indented(w, s.Plan)
	if run != nil {
		fmt.Fprint(w, "\nThe run:\n\n")
		writePicture(w, run, r.Violation)
	}
	if s.PlanFile == "" {
		fmt.Fprintf(w, "\nTo make it again:\n\n%s\n", s.Replay)
		return
	}
	fmt.Fprintf(w, "\nThe plan is in %s. To make the run again (-v shows every event):\n\n  %s\n", s.PlanFile, s.Replay)
}

// deviating says how much of a run is not benign.
func deviating(n, sites int) string {
	switch n {
	case 0:
		return fmt.Sprintf("none of %d sites deviates", sites)
	case 1:
		return fmt.Sprintf("1 of %d sites deviates", sites)
	}
	return fmt.Sprintf("%d of %d sites deviate", n, sites)
}

// minimumBudget bounds the search for a plan with fewer deviations: a second
// or two.
const minimumBudget = 50_000

// shrunk says how small the plan is.
func (c *campaign) shrunk(v *search.Violation) (text string) {
	if v == nil {
		return ""
	}
	if len(v.Plan.Deviations) == 0 {
		return ", so it takes no fault at all"
	}
	if v.Found > len(v.Plan.Deviations) {
		text = fmt.Sprintf("; %d were found, and the others do not matter", v.Found)
	}
	if c.minimal {
		text += ".\nNo plan with fewer faults of these kinds does this"
	}
	return text
}

// writePicture draws a run, with the place at which an invariant falls.
func writePicture(w io.Writer, run *search.Replay, v *search.Violation) {
	at := -1
	for i := range run.Violations {
		if v != nil && run.Violations[i].Invariant == v.Invariant {
			at = run.Violations[i].Index
		}
	}
	picture := &timeline.Run{Lines: run.Lines, Events: run.Events, Deviations: run.Result.Deviations, Violation: at, MaxRows: maxRows}
	if v != nil && at >= 0 {
		picture.Operation = v.Operation
		picture.Chain = timeline.Chain(picture)
	}
	_ = timeline.Write(w, picture) // an error is the output's, and run tells of it
}

// remark compares the outcome with what the gallery says of the design. It
// says so of the world that the design is meant for.
func (c *campaign) remark(o *outcome) string {
	switch {
	case len(c.broken) > 0 || o.Verdict != search.Held && o.Verdict != search.Violated:
		return ""
	case o.Verdict == search.Held && c.design.Expect != held:
		where := "" // the gallery knows it everywhere
		if len(c.design.Scenarios) > 0 {
			where = " in " + strings.Join(c.design.Scenarios, " or ")
		}
		return "the gallery says that " + c.design.Expect + " falls" + where
	case o.Verdict == search.Violated && c.design.Expect == held:
		return "the gallery says that all invariants hold"
	}
	return "as the gallery says"
}
