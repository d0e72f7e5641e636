package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

func tlaVerb() verb {
	return verb{
		name: "tla", summary: "check the TLA+ specification with TLC, and compare what it counts",
		doc: `Every cfg file is one question to the specification: what must hold, what must fall and in how many states, and how many
states there are. TLC must say the same; if it says something else of one, the exit code is 1. It needs Java, and the jar of TLC
in the local Maven repository or where CHARGEONCE_TLC_JAR says. The specifications come with this command.`,
		examples: []string{
			"chargeonce tla",
			"chargeonce tla -cfg keyless,no-guard",
			"chargeonce tla -cfg all -json",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitUndecided},
		command: func(fs *flag.FlagSet) action {
			var chosen names
			fs.Var(&chosen, "cfg", "`NAMES` of cfg files, or all; if not given those that take seconds")
			asJSON := fs.Bool("json", false, "write JSON, one object a cfg, and the verdict at the end")
			return func(ctx context.Context, k *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				a := &audit{json: *asJSON}
				if err := a.choose(chosen); err != nil {
					return 0, err
				}
				tools, err := tla.FindTools()
				if err != nil {
					return 0, err
				}
				return a.run(ctx, k, tools.Run), nil
			}
		},
	}
}

// audit asks TLC and compares.
type audit struct {
	entries []tla.Entry
	json    bool
}

// choose looks the names up; none are those of class ci.
func (a *audit) choose(chosen names) error {
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		return err
	}
	if len(chosen) == 0 || slices.Equal(chosen, names{"all"}) {
		for _, e := range m.Specifications {
			if len(chosen) > 0 || e.Class == tla.ClassCI {
				a.entries = append(a.entries, e)
			}
		}
		return nil
	}
	var known []string
	for _, e := range m.Specifications {
		known = append(known, e.Config)
	}
	for _, name := range chosen {
		e, ok := m.Entry(name)
		if !ok {
			return fmt.Errorf("there is no cfg %q%s", name, instead(name, known))
		}
		a.entries = append(a.entries, e)
	}
	return nil
}

// answer is what TLC said of a cfg, as a line of tla -json. The names of its
// members stay.
type answer struct {
	Config    string  `json:"cfg"`
	Expected  string  `json:"expected"` // in words, as got
	Got       string  `json:"got"`
	Distinct  int     `json:"distinct"` // as TLC counted; exact if it holds
	Generated int     `json:"generated"`
	OK        bool    `json:"ok"`
	Seconds   float64 `json:"seconds"`

	undecided bool // TLC came to no verdict
}

// auditOutcome is the last line of tla -json. The names of its members stay.
type auditOutcome struct {
	Verdict search.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
	Same    int            `json:"same"`
	Differ  []string       `json:"differ"` // names of cfg files
	Of      int            `json:"of"`     // how many there are to ask
}

// run asks with ask, which is TLC but in tests, and tells of it.
func (a *audit) run(ctx context.Context, k *console, ask func(context.Context, tla.Job) (tla.Report, error)) exitCode {
	ctx, stop := interruptible(ctx)
	defer stop()
	o := &auditOutcome{Verdict: search.Held, Differ: []string{}, Of: len(a.entries)}
	began := time.Now()
	line := &progress{w: k.err}
	for i, e := range a.entries {
		if k.terminal {
			line.replace(fmt.Sprintf("%d of %d: %s, %.0f s", i+1, len(a.entries), e.Config, time.Since(began).Seconds()))
		}
		got := compared(ctx, e, ask)
		line.erase()
		if ctx.Err() != nil {
			o.doubt(fmt.Sprintf("stopped after %d of %d", i, len(a.entries)))
			break
		}
		switch {
		case got.OK:
			o.Same++
		case got.undecided:
			o.doubt(e.Config + ": " + got.Got)
		default:
			o.Differ = append(o.Differ, e.Config)
		}
		if a.json {
			k.line(got)
		} else {
			writeAnswer(k.out, got)
		}
		_ = k.out.Flush() // run tells of an output that is broken
	}
	if len(o.Differ) > 0 {
		o.Verdict, o.Reason = search.Violated, "TLC says something else of "+strings.Join(o.Differ, ", ")
	}
	if a.json {
		k.line(o)
	} else {
		o.tell(k.out, time.Since(began))
	}
	return exitOf(o.Verdict, o.Differ)
}

// doubt keeps the first reason why not everything is decided.
func (o *auditOutcome) doubt(reason string) {
	if o.Verdict == search.Held {
		o.Verdict, o.Reason = search.Undecided, oneLine(reason)
	}
}

// compared asks one question and holds the answer against the manifest.
func compared(ctx context.Context, e tla.Entry, ask func(context.Context, tla.Job) (tla.Report, error)) answer {
	began := time.Now()
	got := answer{Config: e.Config, Expected: e.Expectation()}
	r, err := ask(ctx, tla.Job{Module: e.Module, Config: e.ConfigFile()})
	var c tla.Config
	if err == nil {
		c, err = tla.ReadConfig(tla.Files, e.ConfigFile())
	}
	var measured tla.Entry
	if err == nil {
		measured, err = e.Measured(c, r)
	}
	got.Seconds = float64(time.Since(began).Round(time.Millisecond)) / float64(time.Second)
	if err != nil {
		got.Got, got.undecided = oneLine(err.Error()), true
		return got
	}
	got.Got, got.Distinct, got.Generated = measured.Expectation(), r.Distinct, r.Generated
	got.OK = got.Got == got.Expected
	return got
}

func writeAnswer(w io.Writer, a answer) {
	word := "same"
	switch {
	case a.undecided:
		word = "undecided"
	case !a.OK:
		word = "differs"
	}
	fmt.Fprintf(w, "%-10s %-34s %s\n", word, a.Config, a.Got)
	if !a.OK {
		fmt.Fprintf(w, "%-10s %-34s %s\n", "", "expected", a.Expected)
	}
}

// tell writes the end of the report for people.
func (o *auditOutcome) tell(w io.Writer, elapsed time.Duration) {
	fmt.Fprintln(w)
	labelled(w, "cfg files", "%d of %d came out as the manifest says, in %.1f s", o.Same, o.Of, elapsed.Seconds())
	text := string(o.Verdict)
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	labelled(w, "verdict", "%s", text)
}
