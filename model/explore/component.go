package explore

// components finds strongly connected components of parts of a graph, by
// Tarjan's algorithm with a stack of its own. What it allocates it keeps.
type components[S comparable] struct {
	graph *graph[S]

	// scope tells which nodes belong to the part at hand: those that have
	// its mark. Marks are never used again.
	scope []uint32
	mark  uint32

	index, low []uint32 // 0: not visited
	stack      []uint32
	frames     []frame
}

// frame is a node whose edges are being followed.
type frame struct{ node, edge uint32 }

func newComponents[S comparable](g *graph[S]) *components[S] {
	n := g.nodes()
	return &components[S]{graph: g, scope: make([]uint32, n), index: make([]uint32, n), low: make([]uint32, n)}
}

// enclose makes nodes the part at hand.
func (c *components[S]) enclose(nodes []uint32) {
	c.mark++
	for _, v := range nodes {
		c.scope[v] = c.mark
	}
}

// inside tells whether a node is in the part at hand.
func (c *components[S]) inside(v uint32) bool { return c.scope[v] == c.mark }

// of returns the components of the part of the graph that consists of nodes:
// the nodes in another order, and where each component ends in it.
func (c *components[S]) of(nodes []uint32) (order []uint32, ends []int) {
	c.enclose(nodes)
	for _, v := range nodes {
		c.index[v] = 0
	}
	order = make([]uint32, 0, len(nodes))
	visited := uint32(0)
	visit := func(v uint32) {
		visited++
		c.index[v], c.low[v] = visited, visited
		c.stack = append(c.stack, v)
		c.frames = append(c.frames, frame{node: v})
	}
	for _, root := range nodes {
		if !c.inside(root) || c.index[root] != 0 {
			continue
		}
		visit(root)
		for len(c.frames) > 0 {
			f := &c.frames[len(c.frames)-1]
			v := f.node
			if w, ok := c.unvisited(f); ok {
				visit(w)
				continue
			}
			c.frames = c.frames[:len(c.frames)-1]
			if len(c.frames) > 0 {
				parent := c.frames[len(c.frames)-1].node
				c.low[parent] = min(c.low[parent], c.low[v])
			}
			if c.low[v] == c.index[v] {
				order = c.pop(v, order)
				ends = append(ends, len(order))
			}
		}
	}
	return order, ends
}

// unvisited follows the edges of a node up to one that leads to a new node.
func (c *components[S]) unvisited(f *frame) (uint32, bool) {
	targets, _ := c.graph.out(f.node)
	for int(f.edge) < len(targets) {
		w := targets[f.edge]
		f.edge++
		if !c.inside(w) {
			continue
		}
		if c.index[w] == 0 {
			return w, true
		}
		c.low[f.node] = min(c.low[f.node], c.index[w])
	}
	return 0, false
}

// pop takes the component of v from the stack, and out of the part at hand:
// edges into a finished component do not count any more.
func (c *components[S]) pop(v uint32, order []uint32) []uint32 {
	for {
		last := len(c.stack) - 1
		w := c.stack[last]
		c.stack = c.stack[:last]
		c.scope[w] = 0
		order = append(order, w)
		if w == v {
			return order
		}
	}
}
