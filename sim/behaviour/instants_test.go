package behaviour

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever is required, the instants that are found meet it, at either end, or
// what is said to contradict does so alone.
func TestInstantsMeetOrContradict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n instants
		count := rapid.IntRange(1, 6).Draw(t, "instants")
		for range count {
			n.add()
		}
		one := rapid.IntRange(0, count-1)
		for i := range rapid.IntRange(0, 20).Draw(t, "requirements") {
			n.atMost(one.Draw(t, "later"), one.Draw(t, "earlier"), time.Duration(rapid.IntRange(-9, 20).Draw(t, "most")), 1<<i)
		}
		why, ok := n.solve(latest)
		if _, also := n.solve(earliest); also != ok {
			t.Fatalf("solved as late as possible: %v, as early: %v", ok, also)
		}
		if !ok {
			alone := instants{at: make([]time.Duration, count)}
			for _, e := range n.edges {
				if e.why&why != 0 {
					alone.edges = append(alone.edges, e)
				}
			}
			sum := time.Duration(0)
			for _, e := range alone.edges {
				sum += e.most
			}
			if _, ok := alone.solve(latest); ok || sum >= 0 {
				t.Fatalf("%v do not contradict", alone.edges)
			}
			return
		}
		for _, e := range []end{latest, earliest} {
			n.solve(e)
			for _, r := range n.edges {
				if n.at[r.later]-n.at[r.earlier] > r.most {
					t.Fatalf("%v is not met by %v", r, n.at)
				}
			}
		}
	})
}

// The ends are ends: where the second of two instants comes three to ten after
// the first, it comes ten after it, or three.
func TestInstantsAreAtTheEnds(t *testing.T) {
	var n instants
	first, second := n.add(), n.add()
	n.atLeast(second, first, 3, 0)
	n.atMost(second, first, 10, 0)
	for e, want := range map[end]time.Duration{latest: 10, earliest: 3} {
		n.solve(e)
		if got := n.at[second] - n.at[first]; got != want {
			t.Errorf("end %d: %d apart, want %d", e, got, want)
		}
	}
}
