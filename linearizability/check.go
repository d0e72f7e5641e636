package linearizability

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
)

// Verdict is the outcome of a check. The zero value is Undecided.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota // a bound was hit before the answer was known
	Held                     // there is an order of what happened that the specification allows
	Violated                 // there is none
)

// String returns the verdict's name.
func (v Verdict) String() string {
	switch v {
	case Undecided:
		return "undecided"
	case Held:
		return "held"
	case Violated:
		return "violated"
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Options bound a check. The zero value bounds nothing.
type Options struct {
	// Budget is how long the whole check may take; 0 is as long as it needs.
	// What it cuts off depends on the machine: keep such verdicts out of
	// anything that must be the same everywhere.
	Budget time.Duration
	// Steps is how many steps of the specification each search may try; 0 is
	// as many as it needs. It cuts off at the same place on every machine.
	Steps int
}

// Result is what was found.
type Result struct {
	// Verdict is Violated if any operation is, otherwise Undecided if any
	// is, otherwise Held.
	Verdict Verdict
	// Orders is how many orders were judged. A history without any holds, and
	// says nothing.
	Orders int
	// Findings are the operations that are not Held, by the event, the
	// undecided ones last.
	Findings []Finding
}

// Finding is one operation that is not Held.
type Finding struct {
	Verdict Verdict
	// Orders names the operation: the order, or all that share its keys.
	Orders []string
	// Event is the index of the first event that no order explains: without
	// it and all after it, the history is right. (Which attempts were refused
	// is taken as known from the start.) In a file, it stands on line Event+2.
	// It is -1 if a bound was hit before it was known.
	Event int
	// Reason is why that event is not allowed after those before it, or why
	// the operation is Undecided; model.Allowed if it is not known.
	Reason model.Reason
}

// String says it in one line.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s", f.Verdict, strings.Join(f.Orders, ", "))
	if f.Event >= 0 {
		fmt.Fprintf(&b, ", event %d", f.Event)
	}
	switch {
	case f.Reason != model.Allowed:
		fmt.Fprintf(&b, ": %v", f.Reason)
	case f.Verdict == Undecided:
		b.WriteString(": a bound was hit")
	}
	if i := f.Reason.Invariant(); i != "" {
		fmt.Fprintf(&b, " (%s)", i)
	}
	return b.String()
}

// Check judges a history with a Checker of its own.
func Check(h history.Header, events []history.Event, opts Options) Result {
	return new(Checker).Check(h, events, opts)
}

// Checker judges one history after the other and reuses its memory. The zero
// value is ready. It must not be used by two goroutines at once.
type Checker struct {
	assembly assembly
	scratch  world
}

// Check judges a history. It keeps the events' strings until the next call.
func (c *Checker) Check(h history.Header, events []history.Event, opts Options) Result {
	bounds := bounds{steps: opts.Steps}
	if opts.Budget > 0 {
		bounds.deadline = time.Now().Add(opts.Budget)
	}
	rules := model.Rules{Compensates: h.Compensates}
	c.assembly.assemble(events, rules)
	r := Result{Verdict: Held, Orders: len(c.assembly.orders)}
	for i := range c.assembly.operations {
		j := judge{rules, &c.assembly.operations[i], &bounds, &c.scratch}
		if verdict, why := j.verdict(); verdict != Held {
			r.Findings = append(r.Findings, j.finding(verdict, why))
		}
	}
	if bounds.abandoned {
		*c = Checker{} // what was cut off may still read the memory for a moment
	}
	for _, f := range r.Findings {
		if f.Verdict == Violated || r.Verdict == Held {
			r.Verdict = f.Verdict
		}
	}
	slices.SortStableFunc(r.Findings, func(f, g Finding) int {
		return cmp.Compare(uint(f.Event), uint(g.Event)) // -1 comes last
	})
	return r
}
