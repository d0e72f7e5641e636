package explore_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model/explore"
)

// TestCountsAndShortestPaths holds the search against distances found another
// way: in every small graph, for each node asked for, the counts and the length
// of the counterexample, with fingerprints and with states.
func TestCountsAndShortestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawSmall(t, 12)
		d := g.distances()
		target := rapid.Uint8Range(0, uint8(g.nodes-1)).Draw(t, "target")
		o := explore.Options{Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Exact: rapid.Bool().Draw(t, "exact")}

		want := explore.Result[wide]{Generated: uint64(len(g.initial))}
		for v := range g.nodes {
			if d[v] >= 0 {
				want.Distinct++
				want.Depth = max(want.Depth, d[v]+1)
			}
		}
		for _, e := range g.edges {
			if d[e.from] >= 0 {
				want.Generated++
			}
		}
		m := g.model()
		m.Properties = []explore.Property[wide]{explore.Sometimes("target", in(1<<target))}
		r := search(t, m, o)
		if r.Distinct != want.Distinct || r.Generated != want.Generated || r.Depth != want.Depth || !r.Complete {
			t.Logf("distinct %d, generated %d, depth %d; want %d, %d, %d", r.Distinct, r.Generated, r.Depth, want.Distinct, want.Generated, want.Depth)
			t.Fatal("the counts differ")
		}
		m.Properties = []explore.Property[wide]{explore.Always("not target", in(^uint(1<<target)))}
		bad := search(t, m, o)
		if d[target] < 0 {
			if r.Verdict != explore.Vacuous || !slices.Equal(r.Unmet, []string{"target"}) || bad.Verdict != explore.Held {
				t.Logf("%v, unmet %v; as an invariant %v", r.Verdict, r.Unmet, bad.Verdict)
				t.Fatal("a node out of reach was found")
			}
			return
		}
		if r.Verdict != explore.Held || len(r.Witnesses) != 1 || bad.Verdict != explore.Violated || bad.Property != "not target" {
			t.Logf("%v, %d witnesses; as an invariant %v of %q", r.Verdict, len(r.Witnesses), bad.Verdict, bad.Property)
			t.Fatal("a node in reach was not found")
		}
		for _, trace := range []explore.Trace[wide]{r.Witnesses[0].Trace, bad.Trace} {
			checkPath(t, m, trace)
			if trace.Length() != d[target] || trace.States[d[target]].State != widen(target) || trace.Loop != -1 {
				t.Logf("the way to %d is %d steps, not %v", target, d[target], trace)
				t.Fatal("the way is not a shortest one")
			}
		}
	})
}

// TestSteps asks for a property of steps: the shortest way to the violation is
// one step more than to the nearest node where such a step starts.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawSmall(t, 10)
		d := g.distances()
		nearest := -1
		for _, e := range g.edges {
			if e.label == 0 && e.from != e.to && d[e.from] >= 0 && (nearest < 0 || d[e.from] < nearest) {
				nearest = d[e.from]
			}
		}
		m := g.model()
		m.Properties = []explore.Property[wide]{explore.AlwaysStep("never 0", func(from wide, a explore.Action, to wide) bool { return a != 0 })}
		r := search(t, m, explore.Options{})
		if nearest < 0 {
			if r.Verdict != explore.Held {
				t.Fatal("violated although no such step can be taken")
			}
			return
		}
		if r.Verdict != explore.Violated || r.Trace.Length() != nearest+1 || r.Trace.States[nearest+1].Action != 0 {
			t.Logf("%v by %v, want a violation in %d steps", r.Verdict, r.Trace, nearest+1)
			t.Fatal("the nearest step was not found")
		}
		checkPath(t, m, r.Trace)
	})
}

// TestDeadlock looks for the nearest node without edges; a node with only an
// edge to itself is none.
func TestDeadlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawSmall(t, 8)
		d := g.distances()
		out := make([]int, g.nodes)
		for _, e := range g.edges {
			out[e.from]++
		}
		nearest := -1
		for v := range g.nodes {
			if out[v] == 0 && d[v] >= 0 && (nearest < 0 || d[v] < nearest) {
				nearest = d[v]
			}
		}
		m := g.model()
		if r := search(t, m, explore.Options{}); r.Verdict != explore.Held {
			t.Fatal("a violation although nobody asked for deadlocks")
		}
		r := search(t, m, explore.Options{Deadlock: true})
		if nearest < 0 {
			if r.Verdict != explore.Held {
				t.Fatal("a violation without a deadlock")
			}
			return
		}
		if r.Verdict != explore.Violated || r.Property != explore.Deadlock || r.Trace.Length() != nearest {
			t.Logf("%v of %q by %v, want a deadlock in %d steps", r.Verdict, r.Property, r.Trace, nearest)
			t.Fatal("the nearest deadlock was not found")
		}
		checkPath(t, m, r.Trace)
	})
}

// counter is a TLA+ module that was run with TLC 2.18:
//
//	Init == x \in {0} (or {0, 9})
//	Next == \/ x' = x + 1 \/ x' = x + 2 \/ x' = x
//	CONSTRAINT x < 4
func counter(initial ...uint8) explore.Model[uint8] {
	return explore.Model[uint8]{
		Initial: func() []uint8 { return initial },
		Next: func(steps []explore.Step[uint8], x uint8) []explore.Step[uint8] {
			return append(steps, explore.Step[uint8]{Action: 0, Next: x + 1}, explore.Step[uint8]{Action: 1, Next: x + 2}, explore.Step[uint8]{Action: 2, Next: x})
		},
		Constraint: func(x uint8) bool { return x < 4 },
	}
}

// TestConstraint has the figures that TLC printed.
func TestConstraint(t *testing.T) {
	for _, c := range []struct {
		initial   []uint8
		generated uint64
	}{{[]uint8{0}, 13}, {[]uint8{0, 9}, 14}} {
		r := search(t, counter(c.initial...), explore.Options{})
		if r.Verdict != explore.Held || r.Generated != c.generated || r.Distinct != 4 || r.Depth != 3 {
			t.Errorf("initial %v: %v, generated %d, distinct %d, depth %d; want held, %d, 4, 3", c.initial, r.Verdict, r.Generated, r.Distinct, r.Depth, c.generated)
		}
	}
}

// TestInvariantOutsideConstraint: TLC judges states that it does not explore.
func TestInvariantOutsideConstraint(t *testing.T) {
	below5 := explore.Always("below 5", func(x uint8) bool { return x < 5 })
	for _, c := range []struct {
		initial []uint8
		states  []uint8
	}{{[]uint8{0}, []uint8{0, 1, 3, 5}}, {[]uint8{0, 9}, []uint8{9}}} {
		m := counter(c.initial...)
		m.Properties = []explore.Property[uint8]{below5}
		r := search(t, m, explore.Options{})
		var states []uint8
		for _, v := range r.Trace.States {
			states = append(states, v.State)
		}
		if r.Verdict != explore.Violated || !slices.Equal(states, c.states) {
			t.Errorf("initial %v: %v by %v, want violated by %v", c.initial, r.Verdict, states, c.states)
		}
	}
}
