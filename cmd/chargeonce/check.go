package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/linearizability"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/search"
)

func checkVerb() verb {
	return verb{
		name: "check", operands: "HISTORY.jsonl", summary: "judge a recorded history from any system",
		doc: `The history is JSON Lines as the package model/history documents them: what clients asked and heard, the
lines of the provider's ledger and, if they are known, the writes of the registry. It is judged by the named invariants,
and by Porcupine against the specification of what clients may see. What the history does not state is not judged.
HISTORY.jsonl is - for standard input.`,
		examples: []string{
			"chargeonce sim -history run.jsonl && chargeonce check run.jsonl",
			"chargeonce check -json - < production.jsonl",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided, exitVacuous},
		command: func(fs *flag.FlagSet) action {
			o := &checkOptions{budget: span(10 * time.Second)}
			fs.Var(&o.budget, "budget", "how long (`DURATION`) Porcupine may search for an order of what happened; what it cannot decide is undecided")
			fs.BoolVar(&o.json, "json", false, "write JSON instead of text")
			return func(_ context.Context, c *console, operands []string) (exitCode, error) {
				name, err := oneOperand(operands, "HISTORY.jsonl")
				if err != nil {
					return 0, err
				}
				return o.run(c, name)
			}
		},
	}
}

// checkOptions are the flags of check.
type checkOptions struct {
	budget span
	json   bool
}

// judgement is what a history comes to: the last line of check with -json.
// The names of its members stay.
type judgement struct {
	Verdict    search.Verdict `json:"verdict"`
	Reason     string         `json:"reason,omitempty"`
	Operations int            `json:"operations"`
	Events     int            `json:"events"`
	HandedOver int            `json:"handed_over"` // operations that ended with a person
	*breach                   // the gravest
	Others     []string       `json:"others,omitempty"` // other invariants that are broken

	breaches []breach // all, the gravest first
}

// breach is an invariant that a history breaks: a line of check with -json.
type breach struct {
	Invariant string `json:"invariant"`
	Operation string `json:"operation,omitempty"`
	Line      int    `json:"line,omitempty"` // of the file, from 1; 0 if it is not known
	Sentence  string `json:"sentence"`
}

func (o *checkOptions) run(c *console, name string) (exitCode, error) {
	r, err := c.open(name)
	if err != nil {
		return 0, err
	}
	header, events, err := history.Read(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	j := judge(header, events, time.Duration(o.budget))
	if o.json {
		for _, b := range j.breaches {
			c.line(b)
		}
		c.line(j)
	} else {
		j.write(c.out)
	}
	return j.exit(), nil
}

// judge asks all checkers. Lines that contradict each other are the first
// thing to know of a history, since the other checkers take them as given.
func judge(h history.Header, events []history.Event, budget time.Duration) *judgement {
	j := &judgement{Verdict: search.Held, Events: len(events), Operations: operations(events)}
	var inconsistent *history.Inconsistency
	switch err := history.WellFormed(h, events); {
	case errors.As(err, &inconsistent):
		at := events[inconsistent.Line-2]
		j.breaches = []breach{{
			inconsistent.Invariant, at.Operation, inconsistent.Line,
			fmt.Sprintf("want %s, got %s", inconsistent.Want, inconsistent.Got),
		}}
	default:
		j.invariants(h, events)
		j.linearizability(h, events, budget)
	}
	switch {
	case len(j.breaches) > 0:
		j.Verdict, j.Reason = search.Violated, ""
		j.breach = &j.breaches[0]
		for _, b := range j.breaches[1:] {
			j.Others = append(j.Others, b.Invariant)
		}
	case j.Operations == 0:
		j.Verdict, j.Reason = search.Vacuous, "the history has no operation"
	}
	return j
}

// operations counts the intents that a history tells of.
func operations(events []history.Event) int {
	seen := map[string]bool{}
	for i := range events {
		if name := events[i].Operation; name != "" {
			seen[name] = true
		}
	}
	return len(seen)
}

func (j *judgement) invariants(h history.Header, events []history.Event) {
	c := invariant.New(h)
	for i := range events {
		c.Event(&events[i])
	}
	violations := slices.Clone(c.Violations())
	slices.SortStableFunc(violations, func(a, b invariant.Violation) int {
		return cmp.Compare(slices.Index(search.Gravity, a.Invariant), slices.Index(search.Gravity, b.Invariant))
	})
	for _, v := range violations {
		j.breaches = append(j.breaches, breach{v.Invariant.String(), v.Operation, v.Index + 2, v.Sentence})
	}
	j.HandedOver = c.HandedOver()
}

func (j *judgement) linearizability(h history.Header, events []history.Event, budget time.Duration) {
	result := linearizability.Check(h, events, linearizability.Options{Budget: budget})
	if result.Verdict == linearizability.Undecided {
		j.Verdict = search.Undecided
		j.Reason = fmt.Sprintf("whether there is an order of what happened could not be found out in %v; -budget gives it more time", budget)
	}
	for _, f := range result.Findings {
		if f.Verdict == linearizability.Undecided && f.Reason != model.Allowed {
			j.Reason = f.Reason.String()
		}
		if f.Verdict == linearizability.Violated {
			j.breaches = append(j.breaches, unexplained(f))
			return // one is enough: it is the first
		}
	}
}

// unexplained tells of an operation that no order explains.
func unexplained(f linearizability.Finding) breach {
	b := breach{invariant.Linearizable.String(), f.Orders[0], f.Event + 2, "no order of what happened explains it"}
	if f.Event < 0 {
		b.Line = 0
	}
	if f.Reason != model.Allowed {
		b.Sentence += ": " + f.Reason.String()
	}
	return b
}

func (j *judgement) exit() exitCode {
	var broken []string
	for _, b := range j.breaches {
		broken = append(broken, b.Invariant)
	}
	return exitOf(j.Verdict, broken)
}

// write writes the report for people.
func (j *judgement) write(w io.Writer) {
	for i, b := range j.breaches {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "violated %s%s\n\n%s", b.Invariant, b.place(), wrap(b.Sentence+".", "  "))
	}
	if len(j.breaches) > 0 {
		fmt.Fprintln(w)
	}
	labelled(w, "history", "%d operations, %d events", j.Operations, j.Events)
	if j.HandedOver > 0 {
		labelled(w, "handed over", "%d operations ended with a person, who must look", j.HandedOver)
	}
	text := string(j.Verdict)
	switch {
	case j.breach != nil:
		text += ": " + j.Invariant
	case j.Reason != "":
		text += ": " + j.Reason
	}
	labelled(w, "verdict", "%s", text)
}

func (b *breach) place() (text string) {
	if b.Line > 0 {
		text = fmt.Sprintf(" at line %d", b.Line)
	}
	if b.Operation != "" {
		text += " by " + b.Operation
	}
	return text
}
