package explore_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model/explore"
)

// lively is a small graph with fairness, a constraint and a liveness property.
// Sets of nodes and of labels are bits.
type lively struct {
	small
	inside uint // the constraint
	fair   []condition
	kind   string
	p, q   uint
}

// condition is a fairness condition.
type condition struct {
	strength explore.Strength
	labels   uint
}

const (
	leadsTo           = "p leads to q"
	eventually        = "eventually q"
	infinitelyOften   = "infinitely often q"
	eventuallyForever = "eventually forever q"
)

var kinds = []string{leadsTo, eventually, infinitelyOften, eventuallyForever}

func drawLively(t *rapid.T, most int) lively {
	l := lively{small: drawSmall(t, most)}
	all := uint(1)<<l.nodes - 1
	l.inside = all
	if rapid.IntRange(0, 3).Draw(t, "constrained") == 0 {
		l.inside = rapid.UintRange(0, all).Draw(t, "inside")
	}
	l.fair = make([]condition, rapid.IntRange(0, 3).Draw(t, "conditions"))
	for i := range l.fair {
		l.fair[i].strength = rapid.SampledFrom([]explore.Strength{explore.Weak, explore.Strong}).Draw(t, "strength")
		l.fair[i].labels = rapid.UintRange(1, 1<<labels-1).Draw(t, "labels")
	}
	l.kind = rapid.SampledFrom(kinds).Draw(t, "kind")
	// Few nodes in q, so that there is much room outside of it.
	l.p = rapid.UintRange(0, all).Draw(t, "p")
	l.q = rapid.UintRange(0, all).Draw(t, "q") & rapid.UintRange(0, all).Draw(t, "some of q")
	return l
}

func (l lively) model() explore.Model[wide] {
	m := l.small.model()
	m.Constraint = in(l.inside)
	for _, f := range l.fair {
		c := explore.Fairness{Strength: f.strength}
		for a := range labels {
			if f.labels>>a&1 == 1 {
				c.Actions = append(c.Actions, explore.Action(a))
			}
		}
		m.Fairness = append(m.Fairness, c)
	}
	p, q := in(l.p), in(l.q)
	m.Properties = []explore.Property[wide]{map[string]explore.Property[wide]{
		leadsTo:           explore.LeadsTo(leadsTo, p, q),
		eventually:        explore.Eventually(eventually, q),
		infinitelyOften:   explore.InfinitelyOften(infinitelyOften, q),
		eventuallyForever: explore.EventuallyForever(eventuallyForever, q),
	}[l.kind]}
	return m
}

// from tells whether the property can be violated from a place of a path on,
// which is at node v.
func (l lively) from(place int, v uint8) bool {
	switch l.kind {
	case leadsTo:
		return l.p>>v&1 == 1 && l.q>>v&1 == 0
	case eventually:
		return place == 0 && l.q>>v&1 == 0
	case infinitelyOften:
		return l.q>>v&1 == 0
	}
	return true
}

// avoids tells whether a node must not be met from there on.
func (l lively) avoids(v uint8) bool { return l.kind != eventuallyForever && l.q>>v&1 == 1 }

// bad tells whether staying in a set of nodes violates the property.
func (l lively) bad(set uint) bool {
	if l.kind == eventuallyForever {
		return set&^l.q != 0
	}
	return set&l.q == 0
}

// enabled returns the nodes where a step of one of the labels changes the
// state, also out of the constraint.
func (l lively) enabled(labels uint) uint {
	var set uint
	for _, e := range l.edges {
		if labels>>e.label&1 == 1 && e.from != e.to {
			set |= 1 << e.from
		}
	}
	return set
}

// fairly tells whether visiting exactly the nodes of set again and again, and
// taking exactly the given labels, is fair.
func (l lively) fairly(set, taken uint) bool {
	for _, f := range l.fair {
		enabled := l.enabled(f.labels)
		idle := set&^enabled != 0
		if f.strength == explore.Strong {
			idle = set&enabled == 0
		}
		if !idle && f.labels&taken == 0 {
			return false
		}
	}
	return true
}

// reach returns the nodes that paths inside within lead to from those of set,
// and the length of the shortest.
func (l lively) reach(set, within uint) (all uint, steps map[uint8]int) {
	steps = map[uint8]int{}
	for n := 0; set != 0; n++ {
		var next uint
		for v := range uint8(l.nodes) {
			if set>>v&1 == 1 && all>>v&1 == 0 {
				steps[v] = n
				all |= 1 << v
				for _, e := range l.edges {
					if e.from == v && within>>e.to&1 == 1 {
						next |= 1 << e.to
					}
				}
			}
		}
		set = next &^ all
	}
	return all, steps
}

// stuck returns the nodes on all loops that are fair and bad, by trying every
// set of nodes.
func (l lively) stuck() uint {
	var stuck uint
	for set := uint(1); set < 1<<l.nodes; set++ {
		if set&^l.inside != 0 || !l.bad(set) {
			continue
		}
		connected := true
		var taken uint
		for v := range uint8(l.nodes) {
			if set>>v&1 == 1 {
				all, _ := l.reach(1<<v, set)
				connected = connected && all == set
			}
		}
		for _, e := range l.edges {
			if e.from != e.to && set>>e.from&1 == 1 && set>>e.to&1 == 1 {
				taken |= 1 << e.label
			}
		}
		if connected && l.fairly(set, taken) {
			stuck |= set
		}
	}
	return stuck
}

// shortestStem returns the fewest steps to a loop that violates the property,
// or -1.
func (l lively) shortestStem() int {
	var initial uint
	for _, v := range l.initial {
		initial |= 1 << v & l.inside
	}
	stay := l.inside
	for v := range uint8(l.nodes) {
		if l.avoids(v) {
			stay &^= 1 << v
		}
	}
	stuck, best := l.stuck(), -1
	_, before := l.reach(initial, l.inside)
	for v, n := range before {
		if !l.from(n, v) {
			continue
		}
		_, since := l.reach(1<<v, stay)
		for w, k := range since {
			if stuck>>w&1 == 1 && (best < 0 || n+k < best) {
				best = n + k
			}
		}
	}
	return best
}

// checkLasso fails unless the trace is a fair behaviour that violates the
// property, and its way to where it may stay is stem steps long.
func (l lively) checkLasso(t rapid.TB, trace explore.Trace[wide], stem int) {
	checkPath(t, l.model(), trace)
	last := len(trace.States) - 1
	if trace.Loop < 0 || trace.Loop > last || trace.States[trace.Loop].State != trace.States[last].State {
		t.Fatal("the lasso does not close")
	}
	var loop, taken uint
	for i, v := range trace.States {
		if l.inside>>v.State.node()&1 == 0 {
			t.Fatal("the lasso leaves the constraint")
		}
		if i >= trace.Loop {
			loop |= 1 << v.State.node()
		}
		if i > trace.Loop && v.State != trace.States[i-1].State {
			taken |= 1 << v.Action
		}
	}
	if !l.bad(loop) || !l.fairly(loop, taken) {
		t.Fatal("the loop is not fair, or not bad")
	}
	stuck := l.stuck()
	for from := range trace.States {
		if !l.from(from, trace.States[from].State.node()) {
			continue
		}
		for i := from; i <= last && !l.avoids(trace.States[i].State.node()); i++ {
			if i <= stem && stuck>>trace.States[i].State.node()&1 == 1 {
				return
			}
		}
	}
	t.Fatal("the stem is not a shortest one")
}

// TestLiveness holds the search for fair cycles against trying every set of
// nodes, in small graphs with weak and strong fairness. Most graphs that can be
// drawn are easy, so there are many.
func TestLiveness(t *testing.T) {
	verdicts := map[explore.Verdict]int{}
	for range 50 {
		rapid.Check(t, func(t *rapid.T) {
			l := drawLively(t, 6)
			workers := rapid.IntRange(1, 3).Draw(t, "workers")
			verdicts[l.check(t, explore.Options{Workers: workers})]++
		})
	}
	if verdicts[explore.Held] == 0 || verdicts[explore.Violated] == 0 {
		t.Errorf("the graphs drawn were one-sided: %v", verdicts)
	}
}

// check compares the verdict and the lasso with what trying everything gives.
func (l lively) check(t rapid.TB, o explore.Options) explore.Verdict {
	t.Helper()
	stem := l.shortestStem()
	want := explore.Held
	if stem >= 0 {
		want = explore.Violated
	}
	r := search(t, l.model(), o)
	if r.Verdict != want || !r.Complete || !r.Exact {
		t.Logf("%v, want %v, in %+v; trace %v", r.Verdict, want, l, r.Trace)
		t.Fatal("the verdict is wrong")
	}
	if stem >= 0 {
		if r.Property != l.kind {
			t.Fatal("another property was violated")
		}
		l.checkLasso(t, r.Trace, stem)
	}
	return r.Verdict
}
