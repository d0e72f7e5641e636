package behaviour

import "time"

// instants are unknown points in time and what is required of their
// distances. Requirements that are all differences can be met if and only if
// no cycle of them asks for less than nothing; then shortest paths meet them.
type instants struct {
	edges []edge
	at    []time.Duration // of each instant, once solved
	first int             // the instant that the others come after
	by    []int           // the edge that moved it last
}

// edge requires that one instant is at most so long after another.
type edge struct {
	later, earlier int
	most           time.Duration
	why            reasons
}

func (n *instants) reset() { n.edges, n.at = n.edges[:0], n.at[:0] }

// add returns a new instant.
func (n *instants) add() int {
	n.at = append(n.at, 0)
	return len(n.at) - 1
}

// atMost requires that a is at most d after b.
func (n *instants) atMost(a, b int, d time.Duration, why reasons) {
	n.edges = append(n.edges, edge{a, b, d, why})
}

// atLeast requires that a is at least d after b.
func (n *instants) atLeast(a, b int, d time.Duration, why reasons) { n.atMost(b, a, -d, why) }

// end is an end of what the requirements leave room for.
type end int

// The ends: after the first instant the others come as late as they may, or as
// soon.
const (
	latest end = iota
	earliest
)

// far is when instants come that may be as late as they like. It is further
// from the first than all requirements together reach.
const far = 1000 * time.Hour

// solve finds instants that meet all requirements. If there are none it
// returns the reasons of some that contradict each other.
func (n *instants) solve(e end) (contradiction reasons, ok bool) {
	n.by = n.by[:0]
	for i := range n.at {
		if n.at[i] = 0; e == latest && i != n.first {
			n.at[i] = far
		}
		n.by = append(n.by, none)
	}
	moved := none
	for range len(n.at) + 1 {
		if moved = n.move(e); moved == none {
			return 0, true
		}
	}
	other := func(v int) int {
		if e == latest {
			return n.edges[n.by[v]].earlier
		}
		return n.edges[n.by[v]].later
	}
	for range n.at { // back along what moved it: into the cycle
		moved = other(moved)
	}
	for v := moved; ; {
		contradiction |= n.edges[n.by[v]].why
		if v = other(v); v == moved {
			return contradiction, false
		}
	}
}

// move moves every instant that breaks a requirement, away from the end, and
// returns the last one that it moved, or none.
func (n *instants) move(e end) int {
	moved := none
	for i := len(n.edges) - 1; i >= 0; i-- {
		edge := &n.edges[i]
		over := n.at[edge.later] - n.at[edge.earlier] - edge.most
		switch {
		case over <= 0:
			continue
		case e == latest:
			moved = edge.later
			n.at[moved] -= over
		default:
			moved = edge.earlier
			n.at[moved] += over
		}
		n.by[moved] = i
	}
	return moved
}
