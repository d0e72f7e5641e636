package explore_test

import (
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// line counts up from 0 to end and stays there without a step.
func line(end uint8) explore.Model[uint8] {
	return explore.Model[uint8]{
		Initial: func() []uint8 { return []uint8{0} },
		Next: func(steps []explore.Step[uint8], s uint8) []explore.Step[uint8] {
			if s < end {
				steps = append(steps, explore.Step[uint8]{Next: s + 1})
			}
			return steps
		},
	}
}

// TestOrder: of what is found in one round the deadlock comes first, which is
// nearer, then the properties in the order of the model. What is found in an
// earlier round comes before all that.
func TestOrder(t *testing.T) {
	not := func(name string, bad uint8) explore.Property[uint8] {
		return explore.Always(name, func(s uint8) bool { return s != bad })
	}
	step := explore.AlwaysStep("step", func(_ uint8, _ explore.Action, to uint8) bool { return to != 3 })
	for _, c := range []struct {
		name       string
		properties []explore.Property[uint8]
		want       string
		length     int
	}{
		{"nearer", []explore.Property[uint8]{not("four", 4), not("two", 2)}, "two", 2},
		{"first of two states", []explore.Property[uint8]{not("a", 3), not("b", 3)}, "a", 3},
		{"state before step", []explore.Property[uint8]{not("a", 3), step}, "a", 3},
		{"step before state", []explore.Property[uint8]{step, not("a", 3)}, "step", 3},
		{"deadlock", []explore.Property[uint8]{not("far", 7)}, explore.Deadlock, 6},
	} {
		m := line(6)
		m.Properties = c.properties
		r := search(t, m, explore.Options{Deadlock: true})
		if r.Property != c.want || r.Trace.Length() != c.length {
			t.Errorf("%s: %q in %d steps, want %q in %d", c.name, r.Property, r.Trace.Length(), c.want, c.length)
		}
	}

	// A deadlock and a violation one step farther, in one round.
	m := line(6)
	m.Initial = func() []uint8 { return []uint8{0, 6} }
	m.Properties = []explore.Property[uint8]{not("one", 1)}
	if r := search(t, m, explore.Options{Deadlock: true}); r.Property != explore.Deadlock || r.Trace.Length() != 0 {
		t.Errorf("%q in %d steps, want the deadlock at once", r.Property, r.Trace.Length())
	}
}

// TestSymmetryWalksRealStates has two alike that leap over one another, so
// that each step leaves the representative. The trace must not.
func TestSymmetryWalksRealStates(t *testing.T) {
	type pair [2]uint8
	m := explore.Model[pair]{
		Initial: func() []pair { return []pair{{0, 0}} },
		Next: func(steps []explore.Step[pair], s pair) []explore.Step[pair] {
			for i := range s {
				if high := max(s[0], s[1]); s[i] < high || s[0] == s[1] {
					to := s
					to[i] = high + 1
					steps = append(steps, explore.Step[pair]{Action: explore.Action(i), Next: to})
				}
			}
			return steps
		},
		Constraint: func(s pair) bool { return max(s[0], s[1]) < 20 },
		Canonical:  func(s pair) pair { return pair{min(s[0], s[1]), max(s[0], s[1])} },
		Properties: []explore.Property[pair]{explore.Always("low", func(s pair) bool { return max(s[0], s[1]) < 9 })},
	}
	for _, exact := range []bool{false, true} {
		r := search(t, m, explore.Options{Symmetry: true, Exact: exact})
		if r.Verdict != explore.Violated || r.Trace.Length() != 9 {
			t.Fatalf("%v in %d steps, want violated in 9", r.Verdict, r.Trace.Length())
		}
		checkPath(t, m, r.Trace)
	}
	m.Properties = nil
	if r := search(t, m, explore.Options{Symmetry: true}); r.Distinct != 20 {
		t.Errorf("%d representatives, want 20", r.Distinct)
	}
	if r := search(t, m, explore.Options{}); r.Distinct != 39 {
		t.Errorf("%d states, want 39", r.Distinct)
	}
}

// TestLassoIsShort: where staying is fair one step away, no cycle is shown.
func TestLassoIsShort(t *testing.T) {
	g := small{nodes: 2, initial: []uint8{0}, edges: []edge{{0, 1, 0}, {1, 0, 1}}}
	l := lively{g, 3, []condition{{explore.Weak, 1}}, eventually, 0, 0}
	r := search(t, l.model(), explore.Options{})
	if r.Trace.Length() != 1 || r.Trace.Loop != 1 {
		t.Errorf("the lasso is %+v, want to stay in node 1", r.Trace)
	}
}
