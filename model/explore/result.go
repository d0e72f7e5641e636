package explore

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Verdict is what a search says of a model.
type Verdict uint8

const (
	// Incomplete: the search was stopped and had found no violation. It is
	// never a pass.
	Incomplete Verdict = iota
	// Held: every reachable state was visited, every property holds, and
	// every Sometimes was met.
	Held
	// Violated: Property does not hold, and Trace shows it.
	Violated
	// Vacuous: nothing was violated, but some Sometimes was never met.
	Vacuous
)

var verdictNames = [...]string{"incomplete", "held", "violated", "vacuous"}

// String returns the verdict in one lower-case word.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "Verdict(" + strconv.Itoa(int(v)) + ")"
}

// Result is what a search found. It holds no wall time: two searches of one
// model under equal options give equal results, whatever Workers was.
type Result[S comparable] struct {
	Verdict  Verdict
	Property string   // violated: its name, or Deadlock
	Trace    Trace[S] // violated: a shortest way to see it
	Stopped  string   // incomplete: why

	Witnesses []Witness[S] // for each Sometimes that was met, in the model's order
	Unmet     []string     // the others; with Incomplete they may still be met

	// Distinct and Generated count states as TLC does. Generated includes
	// the initial states, repetitions, steps back to the same state and
	// states outside the constraint; Distinct includes none of these.
	// After a violation both depend on where the search stopped, at the end
	// of the round that met it.
	Distinct, Generated uint64

	// Depth is the number of states on the longest shortest path, so 1 if
	// there are only initial states.
	Depth int

	// Complete is true if every reachable state was visited, whatever the
	// verdict.
	Complete bool

	// Exact is true if states were compared, not fingerprints.
	Exact bool

	// CollisionProbability bounds the probability that two different
	// states had one fingerprint, so that a part was not searched: n states
	// have n(n-1)/2 pairs, each equal in one of 2^64 cases. 0 if Exact.
	CollisionProbability float64

	// Bytes is the most memory that the search's own structures took, and
	// BytesPerState that over Distinct.
	Bytes         uint64
	BytesPerState float64
}

// Summary is the result in one line, without states.
func (r Result[S]) Summary() string {
	var b strings.Builder
	b.WriteString(r.Verdict.String())
	switch r.Verdict {
	case Violated:
		fmt.Fprintf(&b, ": %s in %d steps", r.Property, r.Trace.Length())
	case Vacuous:
		fmt.Fprintf(&b, ": never %s", strings.Join(r.Unmet, ", never "))
	case Incomplete:
		fmt.Fprintf(&b, ": %s", r.Stopped)
	}
	fmt.Fprintf(&b, "; %d distinct of %d generated states, depth %d", r.Distinct, r.Generated, r.Depth)
	if r.Exact {
		b.WriteString("; exact")
	} else {
		fmt.Fprintf(&b, "; collision probability at most about %.0e", r.CollisionProbability)
	}
	fmt.Fprintf(&b, "; %.1f bytes a state", r.BytesPerState)
	return b.String()
}

// Witness is a shortest way to a state that a Sometimes asks for.
type Witness[S comparable] struct {
	Property string
	Trace    Trace[S]
}

// Trace is a behaviour: the states from an initial one on, each with the
// action that led to it.
type Trace[S comparable] struct {
	States []Visit[S]

	// Loop is -1 if the trace just ends. Otherwise it is a lasso, and the
	// behaviour goes on for ever: the last state equals States[Loop], from
	// which it repeats. If Loop is the last index, it stays in that state.
	Loop int
}

// Visit is one state of a trace.
type Visit[S comparable] struct {
	Action Action // Start for the first
	State  S
}

// Length is the number of steps, those of the cycle included.
func (t Trace[S]) Length() int { return max(0, len(t.States)-1) }

// Format writes a line for each state: its number from 1, the action, and the
// state as fmt's %v shows it. Give it a String method to make that readable.
func (t Trace[S]) Format(w io.Writer, m Model[S]) error {
	for i, v := range t.States {
		if _, err := fmt.Fprintf(w, "%3d  %-24s %v\n", i+1, m.name(v.Action), v.State); err != nil {
			return err
		}
	}
	var last string
	switch {
	case len(t.States) == 0 || t.Loop < 0:
		return nil
	case t.Loop == len(t.States)-1:
		last = "     and stays there for ever\n"
	default:
		last = fmt.Sprintf("     and on from %d for ever\n", t.Loop+1)
	}
	_, err := io.WriteString(w, last)
	return err
}

func (m *Model[S]) name(a Action) string {
	switch {
	case a == Start:
		return "start"
	case m.ActionName == nil:
		return strconv.Itoa(int(a))
	}
	return m.ActionName(a)
}

// collisionProbability is the union bound over all pairs of n fingerprints.
func collisionProbability(n uint64) float64 {
	pairs := float64(n) * (float64(n) - 1) / 2
	return math.Min(1, math.Max(0, pairs)*math.Exp2(-64))
}
