package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

func replayVerb() verb {
	return verb{
		name: "replay", operands: "PLANFILE", summary: "run one plan again and show what happens",
		doc: `A plan is the whole run: the same code gives the same trace on any machine, and the hash that stands in
the plan tells whether it did. Another hash means that the code or the plan has changed since; the run is then judged as
it is. PLANFILE is - for standard input.`,
		examples: []string{
			"chargeonce replay charge-then-save.plan",
			"chargeonce replay -v charge-then-save.plan",
			"chargeonce replay -design reference charge-then-save.plan",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided, exitVacuous, exitNondeterministic},
		command: func(fs *flag.FlagSet) action {
			o := &replayOptions{registry: word{"memory", stores}}
			fs.BoolVar(&o.verbose, "v", false, "show every event, one a line, instead of the picture")
			fs.StringVar(&o.design, "design", "", "run the plan on this `NAME` of the gallery and not on its own; its hash and what it expects are then not compared")
			fs.Var(&o.registry, "registry", "where records are kept: `WORD` memory or sqlite")
			fs.StringVar(&o.history, "history", "", "write what was seen to `FILE`, as check reads it")
			fs.BoolVar(&o.json, "json", false, "write JSON instead of text")
			return func(_ context.Context, c *console, operands []string) (exitCode, error) {
				name, err := oneOperand(operands, "PLANFILE")
				if err != nil {
					return 0, err
				}
				return o.run(c, name)
			}
		},
	}
}

// replayOptions are the flags of replay.
type replayOptions struct {
	verbose, json bool
	design        string // "" is the plan's own
	registry      word
	history       string // file, "" for none
}

// replayed is a plan that was run again.
type replayed struct {
	*search.Replay
	plan    *plan.Plan
	subject *search.Subject
	elapsed time.Duration
}

func (o *replayOptions) run(c *console, name string) (exitCode, error) {
	p, subject, err := c.loadPlan(name, o.design)
	if err != nil {
		return 0, err
	}
	if o.history != "" {
		if err := writable(o.history); err != nil {
			return 0, err
		}
	}
	r, err := o.replay(p, subject)
	if err != nil {
		return 0, err
	}
	if o.history != "" {
		if err := saveHistory(o.history, r.Header, r.Events); err != nil {
			c.warn("replay", fmt.Errorf("%s is not written: %w", o.history, err))
		}
	}
	return o.tell(c, r), nil
}

func (o *replayOptions) replay(p *plan.Plan, s *search.Subject) (*replayed, error) {
	open, shut, err := openStores(o.registry.value, 1)
	if err != nil {
		return nil, err
	}
	defer shut()
	began := time.Now()
	r, err := search.Run(*s, p, open)
	if err != nil {
		return nil, err
	}
	return &replayed{r, p, s, time.Since(began)}, nil
}

// tell writes what the replay came to and returns the exit code.
func (o *replayOptions) tell(c *console, r *replayed) exitCode {
	result := o.outcome(r)
	switch {
	case o.json && o.verbose:
		writeTraceJSON(c, r.Replay)
		fallthrough
	case o.json:
		c.line(result)
	default:
		o.write(c.out, r, result)
	}
	return result.exit()
}

// first is the violation to tell of: the one that the plan expects if it is
// there, otherwise the gravest.
func (r *replayed) first() *invariant.Violation {
	for i := range r.Violations {
		if r.Violations[i].Invariant.String() == r.plan.Expect {
			return &r.Violations[i]
		}
	}
	if len(r.Violations) > 0 {
		return &r.Violations[0]
	}
	return nil
}

// handedOver counts the operations that ended with a person.
func (r *replayed) handedOver() int {
	c := invariant.New(r.Header)
	for i := range r.Events {
		c.Event(&r.Events[i])
	}
	return c.HandedOver()
}

func (r *replayed) totals() *totals {
	return &totals{effective: r.Result.Effective, chosen: r.Result.Chosen, situations: r.Result.Situations}
}

func (o *replayOptions) outcome(r *replayed) *outcome {
	t := r.totals()
	out := &outcome{
		Verdict: r.Verdict, Reason: r.Reason, Design: r.subject.Design.Name,
		Scenario: r.subject.Scenario.Name, Profile: r.subject.Profile.Name, Break: r.subject.Break,
		Registry: o.registry.value, Runs: 1, RunsPerSecond: rate(1, r.elapsed),
		Faults: t.faults(), Situations: t.situationCounts(), HandedOver: r.handedOver(), Expect: r.plan.Expect,
		Finding: newFinding(r.Result.Finding),
		story: &story{
			Plan: r.plan.String(), Deviations: len(r.plan.Deviations), Sites: r.Result.Sites, Hash: hexadecimal(r.Result.Hash),
		},
		comparison: o.compare(r),
	}
	if v := r.first(); v != nil {
		var others []string
		for i := range r.Violations {
			if other := r.Violations[i].Invariant; other != v.Invariant {
				others = append(others, other.String())
			}
		}
		out.fall = newFall(v, others)
	}
	return out
}

// compare says whether what the plan states of its run came true. Of another
// design's run it states nothing.
func (o *replayOptions) compare(r *replayed) *comparison {
	c := &comparison{}
	for _, d := range r.Unmet {
		c.Unmet = append(c.Unmet, d.String())
	}
	for _, class := range r.Idle {
		c.Idle = append(c.Idle, class.String())
	}
	if r.subject.Design.Name != r.plan.Design {
		return c
	}
	if r.plan.Hash != 0 {
		c.HashStated = hexadecimal(r.plan.Hash)
		met := r.plan.Hash == r.Result.Hash
		c.HashMet = &met
	}
	if r.plan.Expect != "" {
		met := r.plan.Expect == held && r.Verdict == search.Held ||
			slices.ContainsFunc(r.Violations, func(v invariant.Violation) bool { return v.Invariant.String() == r.plan.Expect })
		c.ExpectMet = &met
	}
	return c
}

// write writes the report for people.
func (o *replayOptions) write(w io.Writer, r *replayed, out *outcome) {
	r.announce(w, out)
	if out.fall != nil {
		writeFall(w, out.fall)
	}
	if out.Finding != nil {
		writeFinding(w, out.Finding)
	}
	fmt.Fprintln(w)
	if o.verbose {
		writeTrace(w, r.Replay)
	} else {
		r.writePicture(w)
	}
	fmt.Fprintln(w)
	r.totals().write(w)
	out.writeUnmet(w)
	out.writeComparison(w)
	writeVerdict(w, out, "")
}

func (r *replayed) announce(w io.Writer, out *outcome) {
	labelled(w, "design", "%s: %s", r.subject.Design.Name, r.subject.Design.Summary)
	if r.subject.Design.Name != r.plan.Design {
		labelled(w, "", "(the plan was made for %s)", r.plan.Design)
	}
	writeScenario(w, r.subject)
	labelled(w, "profile", "%s: %s", r.subject.Profile.Name, r.subject.Profile.Doc)
	if len(r.subject.Break) > 0 {
		labelled(w, "broken", "assumptions %s", joined(r.subject.Break))
	}
	labelled(w, "registry", "%s", out.Registry)
	labelled(w, "plan", "weather %d; %s", r.plan.Weather, deviating(len(r.Result.Deviations), out.Sites))
	for _, d := range r.plan.Deviations {
		fmt.Fprintf(w, "%*s%s\n", labelWidth+2, "", d)
	}
}

// writeScenario says what clients want, and what of it is left out.
func writeScenario(w io.Writer, s *search.Subject) {
	labelled(w, "scenario", "%s: %s", s.Scenario.Name, s.Scenario.Doc)
	var absent []string
	for _, part := range s.Scenario.Absent {
		absent = append(absent, part.String())
	}
	list(w, "without", absent)
}

func (r *replayed) writePicture(w io.Writer) {
	at := -1
	if v := r.first(); v != nil {
		at = v.Index
	}
	// An error is the output's, and run tells of it.
	_ = timeline.Write(w, &timeline.Run{
		Lines: r.Lines, Events: r.Events, Deviations: r.Result.Deviations, Violation: at, MaxRows: maxRows,
	})
}

func (o *outcome) writeUnmet(w io.Writer) {
	for _, d := range o.Unmet {
		labelled(w, "unmet", "%s", d)
	}
	list(w, "no effect", o.Idle)
}

func (o *outcome) writeComparison(w io.Writer) {
	switch {
	case o.HashMet == nil:
		labelled(w, "hash", "%s", o.Hash)
	case *o.HashMet:
		labelled(w, "hash", "%s, as the plan says", o.Hash)
	default:
		labelled(w, "hash", "%s, and the plan says %s: the code or the plan has changed since it was written", o.Hash, o.HashStated)
	}
	switch {
	case o.ExpectMet == nil:
	case *o.ExpectMet:
		labelled(w, "expected", "%s, as the plan says", o.Expect)
	default:
		labelled(w, "expected", "the plan expects %s, and that is not what happened", o.Expect)
	}
}
