package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// commonFaults are what search tries if it is not told: what any network and
// any machine does. Three deviations out of these are about a million plans
// where one client pays one order.
var commonFaults = names{"drop", "duplicate", "hold", "crash", "pause"}

func searchVerb() verb {
	return verb{
		name: "search", summary: "run every plan with at most so many faults",
		doc: `It runs first the plan without faults, then all with one, all with two, and so on, each once. If one
violates, none with fewer does. If none does, that is a theorem about this very code, and the report states it: it names
the kinds of faults that were tried, and what was left out. Each fault more makes about a hundred times as many plans: out of
what is tried by default, where one client pays one order, there are nine thousand with two, a million with three and over a
hundred million with four, which is a night's work for -resume. A plan is not run, nor what extends it, if it adds a fault at a
moment when the world is in the very state of the run of another plan of the same or a smaller size, so that from there on the
two come to the same; the report counts these as pruned. An interrupt ends it, and it says what was covered.`,
		examples: []string{
			"chargeonce search",
			"chargeonce search -design charge-then-save",
			"chargeonce search -scenario retry-other-replica -profile keyed -deviations 3",
			"chargeonce search -faults all -deviations 2 -resume all-2.search",
			"chargeonce search -json -junit search.xml",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided, exitVacuous, exitNondeterministic},
		command: func(fs *flag.FlagSet) action {
			o := &searchOptions{deviations: count{2, 0, 20}, budget: count{0, 0, 1e12}}
			o.add(fs)
			fs.Var(&o.deviations, "deviations", "run all plans with at most `N` faults")
			fs.Var(&o.faults, "faults", "`NAMES` of faults, as for sim; if not given: "+strings.Join(commonFaults, ", ")+", and for a design of which one invariant is known to fall all")
			fs.Var(&o.budget, "budget", "stop, undecided, after `N` runs; 0 is no bound")
			fs.StringVar(&o.resume, "resume", "", "keep in `FILE` how far the search has come, and go on from there if the file is there")
			return func(ctx context.Context, c *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				o.planGiven = isGiven(fs, "plan")
				e, err := o.resolve()
				if err != nil {
					return 0, err
				}
				return e.run(ctx, c)
			}
		},
	}
}

// searchOptions are the flags of search.
type searchOptions struct {
	subjectOptions
	deviations, budget count
	resume             string // name of a file, "" for none
}

// enumeration is what search is to do, with every name looked up. What it has
// in common with a campaign is the campaign's.
type enumeration struct {
	campaign
	most   int // deviations
	budget int
	keeper keeper

	began   time.Time
	runs    int // of this call
	covered []covered
	took    sim.Counts // how often each class took effect, in this call
	resumed bool
}

// covered is a layer, in all worlds together.
type covered struct {
	Deviations int `json:"deviations"`
	Plans      int `json:"plans"`  // how many there are to run
	Pruned     int `json:"pruned"` // how many more are not to be run, as others stand for them
	Done       int `json:"done"`   // how many were run
}

// resolve looks every name up and refuses what makes no sense. It writes
// nothing.
func (o *searchOptions) resolve() (*enumeration, error) {
	c, err := o.subjectOptions.resolve(o.classes)
	if err != nil {
		return nil, err
	}
	e := &enumeration{campaign: c, most: o.deviations.n, budget: o.budget.n}
	e.keeper = keeper{file: o.resume, standing: e.standing()}
	return e, e.checkFiles()
}

// classes are the names of the faults to try.
func (o *searchOptions) classes(d *impl.Design) names {
	switch {
	case len(o.faults) > 0 && strings.HasPrefix(o.faults[0], "-"):
		return append(append(names{}, commonFaults...), o.faults...)
	case len(o.faults) > 0:
		return o.faults
	case d.Expect != held:
		return names{"all"}
	}
	return commonFaults
}

// standing is where the search begins.
func (e *enumeration) standing() *standing {
	s := &standing{identity: []string{
		"design " + e.design.Name, "faults " + strings.Join(e.faults.names(), ","), "break " + joined(e.broken), "until " + e.target() + " falls",
	}}
	for i := range e.Subjects {
		s.worlds = append(s.worlds, worldStanding{
			scenario: e.Subjects[i].Scenario.Name, profile: e.Subjects[i].Profile.Name, cursor: search.Cursor{Of: 1},
		})
	}
	return s
}

// run searches and tells of it.
func (e *enumeration) run(ctx context.Context, k *console) (exitCode, error) {
	open, shut, err := openStores(e.registry, e.Workers+1)
	if err != nil {
		return 0, err
	}
	defer shut()
	e.Open = open
	e.keeper.warn = func(err error) { k.warn("search", err) }
	for i := range e.Subjects {
		if e.keeper.worlds[i].root, err = search.Root(e.Subjects[i], open); err != nil {
			return 0, err
		}
	}
	if e.resumed, err = e.keeper.load(); err != nil {
		return 0, err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	if !e.json {
		e.announce(k.out)
		_ = k.out.Flush() // run tells of an output that is broken
	}
	e.began = time.Now()
	p, err := e.layers(ctx, k)
	if err != nil {
		return 0, err
	}
	stop() // from here on an interrupt ends the program
	e.keeper.save()
	return e.conclude(k, p), nil
}

// announce says what is about to be run, defaults included.
func (e *enumeration) announce(w io.Writer) {
	labelled(w, "design", "%s: %s", e.design.Name, e.design.Summary)
	labelled(w, "scenarios", "%s", strings.Join(e.scenarios, ", "))
	labelled(w, "profiles", "%s", strings.Join(e.profiles, ", "))
	labelled(w, "faults", "%s", e.faultText())
	if len(e.broken) > 0 {
		labelled(w, "broken", "assumptions %s", joined(e.broken))
	}
	labelled(w, "registry", "%s", e.registry)
	labelled(w, "search", "all plans with at most %s until %s falls; workers: %d", search.Deviations(e.most), e.target(), e.Workers)
	if e.resumed {
		labelled(w, "resumed", "from %s; the worlds of a layer that it has done are not counted again", e.keeper.file)
	}
	fmt.Fprintln(w)
}

// layers runs one layer after the other, each in all worlds. It returns the
// proof that ended it, or the last.
func (e *enumeration) layers(ctx context.Context, k *console) (p *search.Proof, err error) {
	for n := 0; n <= e.most; n++ {
		layer := covered{Deviations: n}
		layer.Plans, layer.Pruned = e.size(n)
		for i := range e.Subjects {
			at := &e.keeper.worlds[i].cursor
			if at.Layer > n {
				continue
			}
			if p, err = e.world(ctx, k, i, &layer); err != nil {
				return nil, err
			}
			*at = p.Next
			e.keeper.saveNow()
			if p.Verdict != search.Held {
				e.cover(k, layer)
				return p, nil
			}
		}
		if layer.Done > 0 {
			e.cover(k, layer)
		}
	}
	if p == nil { // all was done before
		p = &search.Proof{Verdict: search.Held, Complete: true}
	}
	return p, nil
}

// world runs a layer in one world.
func (e *enumeration) world(ctx context.Context, k *console, i int, layer *covered) (*search.Proof, error) {
	line := &progress{w: k.err}
	at := &e.keeper.worlds[i].cursor
	before, done, earlier := at.Plans, layer.Done, at.Done
	opt := search.ExhaustiveOptions{
		Subject: e.Subjects[i], Deviations: layer.Deviations, Target: e.Target, Workers: e.Workers, Open: e.Open, Resume: at,
		Progress: func(now search.Layer, c search.Cursor) {
			*at = c
			e.keeper.saveNow()
			if k.terminal {
				line.layer(*layer, done+now.Done, e.runs+now.Done-earlier, time.Since(e.began))
			}
		},
	}
	resume := *at
	opt.Resume = &resume
	if e.budget > 0 {
		if opt.Budget = e.budget - e.runs; opt.Budget <= 0 {
			return &search.Proof{
				Verdict: search.Undecided, Next: *at,
				Reason: fmt.Sprintf("stopped after %s of the %s plans with %s", grouped(layer.Done), grouped(layer.Plans), search.Deviations(layer.Deviations)),
			}, nil
		}
	}
	p, err := search.Exhaust(ctx, opt)
	line.erase()
	if err != nil {
		return nil, err
	}
	e.runs += p.Plans - before
	for _, l := range p.Layers {
		layer.Done += l.Done
	}
	for class, n := range p.Effective {
		e.took[class] += n
	}
	if p.Verdict == search.Undecided && p.FindingAt == nil {
		p.Reason = fmt.Sprintf("stopped after %s of the %s plans with %s", grouped(layer.Done), grouped(layer.Plans), search.Deviations(layer.Deviations))
	}
	return p, nil
}

// size is how many plans with n deviations there are to run in the worlds that
// have not done them, and how many others they stand for.
func (e *enumeration) size(n int) (plans, pruned int) {
	for i := range e.keeper.worlds {
		if c := &e.keeper.worlds[i].cursor; c.Layer == n {
			plans += c.Of
			pruned += c.Pruned
		}
	}
	return plans, pruned
}

// pruned is how many plans with at most so many deviations were not to be run,
// as others stand for them, earlier calls included.
func (e *enumeration) pruned(most int) (n int) {
	for i := range e.keeper.worlds {
		n += e.keeper.worlds[i].cursor.PrunedTo(most)
	}
	return n
}

// cover tells of a layer.
func (e *enumeration) cover(k *console, l covered) {
	e.covered = append(e.covered, l)
	if e.json {
		return
	}
	text := "all run"
	if l.Done < l.Plans {
		text = fmt.Sprintf("%s run", grouped(l.Done))
	}
	if l.Pruned > 0 {
		text += "; pruned: " + grouped(l.Pruned)
	}
	fmt.Fprintf(k.out, "%-13s %14s plans, %s\n", search.Deviations(l.Deviations), grouped(l.Plans), text)
	_ = k.out.Flush()
}

// grouped prints a number with commas.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// layer shows how far a layer is.
func (p *progress) layer(l covered, done, runs int, elapsed time.Duration) {
	if elapsed < patience {
		return
	}
	rate := float64(runs) / elapsed.Seconds()
	left := time.Duration(float64(l.Plans-done) / max(rate, 1) * float64(time.Second))
	p.replace(fmt.Sprintf("%s: %s of %s plans, %.0f a second, %s left",
		search.Deviations(l.Deviations), grouped(done), grouped(l.Plans), rate, left.Round(time.Second)))
}

// heldTo is up to how many deviations all plans held, in all worlds.
func (e *enumeration) heldTo() int {
	least := e.most
	for i := range e.keeper.worlds {
		least = min(least, e.keeper.worlds[i].cursor.Layer-1)
	}
	return least
}

// plansRun is how many plans were run in all, earlier calls included.
func (e *enumeration) plansRun(p *search.Proof) (n int) {
	for i := range e.keeper.worlds {
		n += e.keeper.worlds[i].cursor.Plans
	}
	if p.Plans > p.Next.Plans {
		n += p.Plans - p.Next.Plans
	}
	return n
}

// theorem says what was shown.
func (e *enumeration) theorem() string {
	k := e.heldTo()
	if k < 0 {
		return "nothing is shown yet: not even the plans without deviations were all run"
	}
	out := strings.Join(e.faults.names(), ", ")
	if out == "" {
		out = "nothing"
	}
	text := fmt.Sprintf("no plan of at most %s out of these classes (%s) at these sites (every one that a run comes by before its faults are over) violates %s of %s in %s with provider %s",
		search.Deviations(k), out, e.target(), e.design.Name, strings.Join(e.scenarios, ", "), strings.Join(e.profiles, ", "))
	if n := e.pruned(k); n > 0 {
		text += fmt.Sprintf("; %s plans were not run, nor what extends them: each goes on from the very state of one that was", grouped(n))
	}
	return text
}

// leftOut says what a theorem is not about.
func (e *enumeration) leftOut() []string {
	var out []string
	if e.faults.on[plan.ClassHold] {
		out = append(out, "holds by a duration of its own (each lies between two of the named holds)")
	}
	out = append(out, "weather (random delays of all messages)")
	within := sim.Within()
	var off []string
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if within[c] && !e.faults.on[c] {
			off = append(off, c.String())
		}
	}
	if len(off) > 0 {
		out = append(out, "the classes "+strings.Join(off, ", "))
	}
	if len(e.broken) == 0 {
		out = append(out, "what breaks an assumption")
	}
	return out
}

// searchOutcome is the last line of search with -json. The names of its
// members stay.
type searchOutcome struct {
	Verdict       search.Verdict    `json:"verdict"`
	Reason        string            `json:"reason,omitempty"`
	Design        string            `json:"design"`
	Scenario      string            `json:"scenario"` // all of them, with commas, or that of the plan
	Profile       string            `json:"profile"`  // likewise
	Break         []impl.Assumption `json:"break,omitempty"`
	Registry      string            `json:"registry"`
	Faults        []string          `json:"faults"`     // classes that were tried
	Deviations    int               `json:"deviations"` // the bound, or those of the plan that violates
	HeldTo        int               `json:"held_to"`    // all plans with at most so many hold; -1 is none
	Plans         int               `json:"plans"`      // run
	Pruned        int               `json:"pruned"`     // not run because another one stands for them
	Complete      bool              `json:"complete"`   // all within the bound were run
	Layers        []covered         `json:"layers"`     // of this call
	Next          int               `json:"next"`       // plans of the layer after the last, where that is known
	RunsPerSecond float64           `json:"runs_per_second"`
	Theorem       string            `json:"theorem"`
	LeftOut       []string          `json:"left_out"` // what the theorem is not about
	Minimal       *bool             `json:"minimal,omitempty"`
	Resume        string            `json:"resume,omitempty"` // the file that says where to go on
	Expect        string            `json:"expect,omitempty"`

	*fall
	*story
	Finding *finding `json:"finding,omitempty"`
}

// conclude tells what the search came to, writes its files, and returns the
// exit code.
func (e *enumeration) conclude(k *console, p *search.Proof) exitCode {
	r := &search.Report{Verdict: p.Verdict, Reason: p.Reason, Violation: p.Violation, Finding: p.Finding, FindingAt: p.FindingAt}
	o := e.outcome(p)
	at := planOf(r)
	run := e.again(k, r, at)
	if at != nil {
		o.story = e.story(k, r, at, run)
	}
	if e.json {
		k.line(o)
	} else {
		e.tell(k.out, r, o, run)
	}
	j := e.judged(o)
	e.builds.tell(k, "search", e.json, []judged{j})
	return o.exit()
}

func (e *enumeration) judged(o *searchOutcome) judged {
	j := judged{suite: "search", name: o.Design, verdict: o.Verdict, message: o.text()}
	if o.story != nil {
		j.detail, j.file = o.Plan, o.PlanFile
	}
	return j
}

func (e *enumeration) outcome(p *search.Proof) *searchOutcome {
	o := &searchOutcome{
		Verdict: p.Verdict, Reason: p.Reason, Design: e.design.Name,
		Scenario: strings.Join(e.scenarios, ","), Profile: strings.Join(e.profiles, ","), Break: e.broken,
		Registry: e.registry, Faults: append([]string{}, e.faults.names()...), Deviations: e.most, HeldTo: e.heldTo(),
		Plans: e.plansRun(p), Complete: p.Verdict == search.Held, Layers: e.covered, Pruned: e.pruned(e.most), Theorem: e.theorem(), LeftOut: e.leftOut(),
		RunsPerSecond: rate(e.runs, time.Since(e.began)), Resume: e.keeper.file, Expect: e.design.Expect, Finding: newFinding(p.Finding),
	}
	if p.Finding != nil && p.Verdict != search.Nondeterministic {
		o.Verdict = search.Violated
	}
	if v := p.Violation; v != nil {
		o.fall = newFall(&v.Violation, v.Others)
		o.Deviations, o.Scenario, o.Profile = len(v.Plan.Deviations), v.Plan.Scenario, v.Plan.Profile
		minimal := o.HeldTo == o.Deviations-1
		o.Minimal = &minimal
	}
	if o.Verdict == search.Held {
		o.Next, _ = e.size(e.most + 1)
		if class := e.idle(); class != plan.ClassNone {
			o.Verdict = search.Vacuous
			o.Reason = fmt.Sprintf("the fault %s never took effect: nothing is shown about it", class)
		}
	}
	return o
}

// idle is a class that was asked for by name and never took effect.
func (e *enumeration) idle() plan.Class {
	if e.resumed || e.most == 0 {
		return plan.ClassNone
	}
	for _, class := range e.faults.asked {
		if e.took[class] == 0 {
			return class
		}
	}
	return plan.ClassNone
}

// exit returns the outcome's exit code.
func (o *searchOutcome) exit() exitCode {
	var broken []string
	if o.fall != nil {
		broken = append([]string{o.Invariant}, o.Others...)
	}
	if o.Finding != nil {
		broken = append(broken, o.Finding.Kind)
	}
	return exitOf(o.Verdict, broken)
}

// text says in one line what the search came to.
func (o *searchOutcome) text() string {
	switch {
	case o.Verdict == search.Violated && o.Finding != nil:
		return fmt.Sprintf("%s: %s", o.Finding.Kind, o.Finding.Message)
	case o.Verdict == search.Violated:
		return fmt.Sprintf("%s falls by %s: %s", o.Invariant, search.Deviations(o.Deviations), o.Sentence)
	case o.Verdict == search.Held:
		return ""
	}
	return o.Reason
}

// tell writes the report for people.
func (e *enumeration) tell(w io.Writer, r *search.Report, o *searchOutcome, run *search.Replay) {
	if o.fall != nil {
		writeFall(w, o.fall)
	}
	if o.Finding != nil {
		writeFinding(w, o.Finding)
	}
	if o.story != nil {
		e.tellStory(w, r, o.story, run)
	}
	fmt.Fprintln(w)
	elapsed := time.Since(e.began).Seconds()
	labelled(w, "plans", "%s run in %.1f s, %.0f a second; pruned: %s", grouped(e.runs), elapsed, o.RunsPerSecond, grouped(o.Pruned))
	if o.Plans > e.runs {
		labelled(w, "", "%s in all, earlier calls included", grouped(o.Plans))
	}
	if o.Next > 0 && o.RunsPerSecond > 0 {
		left := time.Duration(float64(o.Next) / o.RunsPerSecond * float64(time.Second)).Round(time.Second)
		labelled(w, "next", "there are %s plans with %s; at this rate %s", grouped(o.Next), search.Deviations(e.most+1), left)
	}
	labelled(w, "theorem", "%s", o.Theorem)
	labelled(w, "left out", "%s", strings.Join(o.LeftOut, "; "))
	if o.Minimal != nil && *o.Minimal && o.Deviations > 0 {
		labelled(w, "minimal", "no plan with fewer deviations violates")
	}
	if o.Verdict == search.Undecided && o.Resume != "" {
		labelled(w, "resume", "the same command goes on from %s", o.Resume)
	} else if o.Verdict == search.Undecided {
		labelled(w, "resume", "with -resume FILE a search can be gone on with")
	}
	writeVerdict(w, &outcome{Verdict: o.Verdict, Reason: o.Reason, Finding: o.Finding, fall: o.fall}, e.remark(&outcome{Verdict: o.Verdict}))
}
