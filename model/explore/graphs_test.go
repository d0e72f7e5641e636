package explore_test

import (
	"context"
	"slices"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model/explore"
)

// edge is a step of a small graph that a test draws or writes down.
type edge struct {
	from, to uint8
	label    explore.Action
}

// small is a graph of few nodes. Everything about it can be found by trying
// all there is.
type small struct {
	nodes   int
	initial []uint8
	edges   []edge
}

// wide is a state of three words and a remainder, so that each part of the
// fingerprint is used. It holds a node.
type wide struct {
	words [3]uint64
	tail  [8]uint8
}

func widen(v uint8) wide { return wide{[3]uint64{1, 2, 3}, [8]uint8{7: v}} }

func (w wide) node() uint8 { return w.tail[7] }

func (g small) model() explore.Model[wide] {
	return explore.Model[wide]{
		Initial: func() []wide {
			var s []wide
			for _, v := range g.initial {
				s = append(s, widen(v))
			}
			return s
		},
		Next: func(steps []explore.Step[wide], s wide) []explore.Step[wide] {
			for _, e := range g.edges {
				if e.from == s.node() {
					steps = append(steps, explore.Step[wide]{Action: e.label, Next: widen(e.to)})
				}
			}
			return steps
		},
	}
}

// in makes a predicate of a set of nodes, as bits.
func in(set uint) func(wide) bool {
	return func(s wide) bool { return set>>s.node()&1 == 1 }
}

const labels = 4

// drawSmall draws a graph with at most most nodes.
func drawSmall(t *rapid.T, most int) small {
	g := small{nodes: rapid.IntRange(1, most).Draw(t, "nodes")}
	node := rapid.Uint8Range(0, uint8(g.nodes-1))
	g.initial = rapid.SliceOfN(node, 1, 2).Draw(t, "initial")
	g.edges = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) edge {
		return edge{node.Draw(t, "from"), node.Draw(t, "to"), explore.Action(rapid.IntRange(0, labels-1).Draw(t, "label"))}
	}), 0, 3*g.nodes).Draw(t, "edges")
	return g
}

// distances returns how many steps each node is from an initial one, or -1, by
// relaxing all edges until nothing changes.
func (g small) distances() []int {
	d := slices.Repeat([]int{-1}, g.nodes)
	for _, v := range g.initial {
		d[v] = 0
	}
	for range g.edges {
		for _, e := range g.edges {
			if d[e.from] >= 0 && (d[e.to] < 0 || d[e.to] > d[e.from]+1) {
				d[e.to] = d[e.from] + 1
			}
		}
	}
	return d
}

// checkPath fails unless the trace is a behaviour of the model.
func checkPath[S comparable](t rapid.TB, m explore.Model[S], trace explore.Trace[S]) {
	t.Helper()
	for i, v := range trace.States {
		if i == 0 {
			if v.Action != explore.Start || !slices.Contains(m.Initial(), v.State) {
				t.Logf("%v of action %v", v.State, v.Action)
				t.Fatal("the trace does not begin in an initial state")
			}
			continue
		}
		if !slices.Contains(m.Next(nil, trace.States[i-1].State), explore.Step[S]{Action: v.Action, Next: v.State}) {
			t.Logf("%v, then %v", trace.States[i-1], v)
			t.Fatal("the trace has a step that the model has not")
		}
	}
}

func search[S comparable](t rapid.TB, m explore.Model[S], o explore.Options) explore.Result[S] {
	t.Helper()
	r, err := explore.Explore(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
