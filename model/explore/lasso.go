package explore

import "slices"

// hop is an edge together with where it leads.
type hop struct {
	label Action
	node  uint32
}

// stemQuery asks for a shortest path from an initial node to one of from, and
// on without touching avoid to one that has a number in to. If first, the node
// of from is the initial one.
type stemQuery struct {
	from  []bool
	first bool
	avoid []bool
	to    []uint32
}

// stem searches breadth first, each node on two levels: before from was met,
// and since. It returns the path, the initial node first.
func (g *graph[S]) stem(q stemQuery) ([]hop, bool) {
	n := g.nodes()
	came, labels := make([]uint32, 2*n), make([]Action, 2*n)
	var queue []uint32
	reach := func(at, from uint32, label Action) bool {
		if came[at] != stemUnseen {
			return false
		}
		came[at], labels[at] = from, label
		queue = append(queue, at)
		return true
	}
	// before reaches a node on the first level, and at once, being no farther
	// from the start, on the second if it is one of from.
	before := func(v, from uint32, label Action) {
		if reach(2*v, from, label) && q.from[v] && !q.avoid[v] {
			reach(2*v+1, stemFrom+2*v, Start)
		}
	}
	for _, v := range g.initial {
		before(v, stemRoot, Start)
	}
	for k := 0; k < len(queue); k++ {
		at := queue[k]
		v, since := at/2, at%2 == 1
		if since && q.to[v] != 0 {
			return path(came, labels, at), true
		}
		if !since && q.first {
			continue
		}
		targets, edges := g.out(v)
		for i, w := range targets {
			switch {
			case !since:
				before(w, stemFrom+at, edges[i])
			case !q.avoid[w]:
				reach(2*w+1, stemFrom+at, edges[i])
			}
		}
	}
	return nil, false
}

// How stem remembers where it came from: stemFrom plus twice the node plus the
// level.
const (
	stemUnseen = iota
	stemRoot
	stemFrom
)

// path walks back from a node to the root. A change of level is no hop.
func path(came []uint32, labels []Action, at uint32) []hop {
	var hops []hop
	for {
		from := came[at]
		if from == stemRoot || (from-stemFrom)/2 != at/2 {
			hops = append(hops, hop{labels[at], at / 2})
		}
		if from == stemRoot {
			slices.Reverse(hops)
			return hops
		}
		at = from - stemFrom
	}
}

// lasso closes a stem that ends in a fair component: in a state near by that
// may stutter for ever, if that is no longer than a cycle.
func (c *fairCycles[S]) lasso(stem []hop) Trace[S] {
	entry := stem[len(stem)-1].node
	number := c.component[entry]
	var nodes []uint32
	for v, of := range c.component {
		if of == number {
			nodes = append(nodes, uint32(v))
		}
	}
	c.enclose(nodes)
	loop := len(stem) - 1
	cycle := c.cycle(entry, c.requires(nodes))
	if still, ok := c.nearest(entry, func(h hop) bool { return c.still(h.node) }); ok && len(still) <= len(cycle) {
		cycle, loop = still, loop+len(still)
	}
	t := Trace[S]{Loop: loop}
	for _, h := range append(stem, cycle...) {
		t.States = append(t.States, Visit[S]{h.label, c.graph.state(h.node)})
	}
	return t
}

// still tells whether staying at a node for ever is fair.
func (c *fairCycles[S]) still(v uint32) bool {
	return c.requires([]uint32{v})&^c.gives(v) == 0
}

// cycle walks from a node through the part at hand and back until everything
// required was met, each time to the nearest place where something is.
func (c *fairCycles[S]) cycle(entry uint32, required uint64) []hop {
	var walk []hop
	at := entry
	required &^= c.gives(at)
	for required != 0 {
		way, ok := c.nearest(at, func(h hop) bool { return c.met(h)&required != 0 })
		if !ok {
			panic("explore: a fair component lacks what it was found to have")
		}
		for _, h := range way {
			required &^= c.met(h)
		}
		walk, at = append(walk, way...), way[len(way)-1].node
	}
	if at != entry {
		way, _ := c.nearest(at, func(h hop) bool { return h.node == entry })
		walk = append(walk, way...)
	}
	return walk
}

// met returns the obligations that a hop meets.
func (c *fairCycles[S]) met(h hop) uint64 {
	met := c.gives(h.node)
	if h.label != Start {
		met |= c.graph.satisfied(h.label)
	}
	return met
}

// nearest returns a shortest walk inside the part at hand whose last hop is
// wanted. It is empty if being at the node, without a hop, is wanted.
func (c *fairCycles[S]) nearest(at uint32, wanted func(hop) bool) ([]hop, bool) {
	if wanted(hop{Start, at}) {
		return nil, true
	}
	type origin struct {
		hop
		from int // in queue
	}
	queue := []origin{{hop{Start, at}, -1}}
	seen := map[uint32]bool{at: true}
	for k := 0; k < len(queue); k++ {
		targets, labels := c.graph.out(queue[k].node)
		for i, w := range targets {
			if !c.inside(w) {
				continue
			}
			h := hop{labels[i], w}
			if wanted(h) {
				walk := []hop{h}
				for j := k; j > 0; j = queue[j].from {
					walk = append(walk, queue[j].hop)
				}
				slices.Reverse(walk)
				return walk, true
			}
			if !seen[w] {
				seen[w] = true
				queue = append(queue, origin{h, k})
			}
		}
	}
	return nil, false
}
