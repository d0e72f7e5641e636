package tla

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Outcome is what TLC says of a specification.
type Outcome string

// The outcomes.
const (
	Holds       Outcome = "holds"     // everything holds, and every state was seen
	Invariant   Outcome = "invariant" // a state breaks an invariant
	StepBreaks  Outcome = "step"      // a step breaks an action property
	NotLive     Outcome = "liveness"  // a fair behaviour breaks a temporal property
	Deadlock    Outcome = "deadlock"  // a state has no successor, and each must have one
	outcomeNone Outcome = ""          // not said
)

// Report is what TLC reported.
type Report struct {
	Outcome  Outcome
	Property string // the invariant or action property that falls; TLC does not name others
	// Distinct and Generated count states, Depth the states on the longest
	// shortest path. They are exact if the outcome is Holds.
	Distinct, Generated, Depth int
	// Searched is the wall time from TLC's word that it has its initial
	// states to its word that everything holds: neither the start of the
	// JVM nor the reading of the module is in it. 0 if Outcome is not Holds.
	Searched time.Duration
	// Trace is the counterexample. For Invariant and StepBreaks it is a
	// shortest one.
	Trace []TraceState
}

// TraceState is one state of a counterexample.
type TraceState struct {
	Action string // the action that led to it; empty for the first
	Text   string // the state, as TLC writes it
}

// The exit codes of TLC that are a verdict.
const (
	exitHeld     = 0
	exitDeadlock = 11
	exitSafety   = 12
	exitProperty = 13
)

// What TLC says when it begins to search, and when it has seen everything and
// nothing was wrong.
const (
	begins = "Finished computing initial states:"
	passed = "Model checking completed. No error has been found."
)

var (
	countsLine   = regexp.MustCompile(`(?m)^(\d+) states generated, (\d+) distinct states found, \d+ states left on queue\.`)
	depthLine    = regexp.MustCompile(`(?m)^The depth of the complete state graph search is (\d+)\.`)
	invariant    = regexp.MustCompile(`(?m)^Error: Invariant (\w+) is violated`)
	actionBroken = regexp.MustCompile(`(?m)^Error: Action property (\w+) is violated`)
	stateHeader  = regexp.MustCompile(`(?m)^State (\d+): <(.*)>$`)
)

// ParseReport reads what TLC wrote before it ended with the exit code. It
// returns an error, with TLC's own words, if that is no verdict.
func ParseReport(exit int, output string) (Report, error) {
	r := Report{Trace: parseTrace(output)}
	if m := countsLine.FindStringSubmatch(output); m != nil {
		r.Generated, _ = strconv.Atoi(m[1])
		r.Distinct, _ = strconv.Atoi(m[2])
	}
	if m := depthLine.FindStringSubmatch(output); m != nil {
		r.Depth, _ = strconv.Atoi(m[1])
	}
	broken, step := invariant.FindStringSubmatch(output), actionBroken.FindStringSubmatch(output)
	switch {
	case exit == exitHeld && strings.Contains(output, passed) && r.Distinct > 0 && r.Depth > 0:
		r.Outcome = Holds
	case exit == exitDeadlock && strings.Contains(output, "Error: Deadlock reached."):
		r.Outcome = Deadlock
	case exit == exitSafety && broken != nil:
		r.Outcome, r.Property = Invariant, broken[1]
	case exit == exitProperty && step != nil:
		r.Outcome, r.Property = StepBreaks, step[1]
	case exit == exitProperty && strings.Contains(output, "Temporal properties were violated."):
		r.Outcome = NotLive
	default:
		return Report{}, fmt.Errorf("TLC ended with %d and no verdict:\n%s", exit, errorText(output))
	}
	return r, nil
}

// errorText is the part of the output from the first error on, or the end of
// it.
func errorText(output string) string {
	const enough = 2000
	if i := strings.Index(output, "Error"); i >= 0 {
		output = output[i:]
		return output[:min(enough, len(output))]
	}
	return output[max(0, len(output)-enough):]
}

func parseTrace(output string) []TraceState {
	var trace []TraceState
	headers := stateHeader.FindAllStringSubmatchIndex(output, -1)
	for _, h := range headers {
		text := output[h[1]:]
		if end := strings.Index(text, "\n\n"); end >= 0 {
			text = text[:end]
		}
		trace = append(trace, TraceState{actionOf(output[h[4]:h[5]]), strings.TrimSpace(text)})
	}
	return trace
}

// actionOf cuts the position in the module off a header of a state.
func actionOf(header string) string {
	if header == "Initial predicate" {
		return ""
	}
	name, _, _ := strings.Cut(header, " ")
	return name
}
