package explore_test

import (
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// TestFairness has the cases that tell the conditions apart. Each verdict is
// written down, and found by trying everything too.
func TestFairness(t *testing.T) {
	const everywhere = 1<<6 - 1
	weak := func(labels uint) condition { return condition{explore.Weak, labels} }
	strong := func(labels uint) condition { return condition{explore.Strong, labels} }

	// From 0 one may go to 1 and back by label 0 and 1, and from 1 out to 2
	// by label 2, which is enabled in 1 only.
	ring := small{nodes: 3, initial: []uint8{0}, edges: []edge{{0, 1, 0}, {1, 0, 1}, {1, 2, 2}}}
	// The same, and in 0 one may turn to 3, from which only 0 is near, so
	// that the way out can be kept closed for ever.
	tour := small{nodes: 4, initial: []uint8{0}, edges: append(ring.edges, edge{0, 3, 0}, edge{3, 0, 1})}
	// The way out is open in 0 and in 1.
	open := small{nodes: 3, initial: []uint8{0}, edges: append(ring.edges, edge{0, 2, 2})}
	// From 1 one may come back to 0 at once or by way of 2.
	detour := small{nodes: 3, initial: []uint8{0}, edges: append(ring.edges, edge{2, 0, 1})}
	// 0 and nothing else, with an edge to itself.
	still := small{nodes: 1, initial: []uint8{0}, edges: []edge{{0, 0, 0}}}

	for _, c := range []struct {
		name string
		l    lively
		want explore.Verdict
	}{
		{"without fairness nothing must happen", lively{ring, everywhere, nil, eventually, 0, 1 << 2}, explore.Violated},
		{"an action that is enabled now and then need not be taken", lively{ring, everywhere, []condition{weak(1), weak(2), weak(4)}, eventually, 0, 1 << 2}, explore.Violated},
		{"unless it is strongly fair", lively{ring, everywhere, []condition{weak(1), weak(2), strong(4)}, eventually, 0, 1 << 2}, explore.Held},
		{"one condition on all actions is satisfied by any", lively{ring, everywhere, []condition{weak(7)}, eventually, 0, 1 << 2}, explore.Violated},
		{"a strongly fair action that is never enabled is harmless", lively{tour, everywhere, []condition{weak(1), weak(2), strong(4)}, eventually, 0, 1 << 2}, explore.Violated},
		{"a weakly fair action that stays enabled is taken", lively{open, everywhere, []condition{weak(4)}, eventually, 0, 1 << 2}, explore.Held},
		{"a step to the same state is neither enabled nor taken", lively{still, everywhere, []condition{strong(1)}, eventually, 0, 0}, explore.Violated},
		{"a step out of the constraint is enabled and cannot be taken", lively{open, 1<<0 | 1<<1, []condition{weak(4)}, eventually, 0, 0}, explore.Held},
		{"a promise is kept where it was made", lively{ring, everywhere, []condition{weak(7)}, leadsTo, 1 << 0, 1 << 1}, explore.Held},
		{"and broken where it was made too late", lively{ring, everywhere, []condition{weak(7)}, leadsTo, 1 << 2, 1 << 1}, explore.Violated},
		{"coming back is not staying", lively{ring, everywhere, []condition{weak(1), weak(2)}, eventuallyForever, 0, 1 << 1}, explore.Violated},
		{"a loop goes on until it has all that it needs", lively{detour, everywhere, []condition{strong(1), strong(2)}, eventuallyForever, 0, 1<<0 | 1<<1}, explore.Violated},
		{"coming back is infinitely often", lively{ring, everywhere, []condition{weak(1), strong(2)}, infinitelyOften, 0, 1<<0 | 1<<2}, explore.Held},
		{"eventually is asked of the start only", lively{ring, everywhere, []condition{weak(7)}, eventually, 0, 1 << 0}, explore.Held},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.l.check(t, explore.Options{}); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
