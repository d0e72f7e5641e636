package explore

// visitBit is the obligation to visit a state that the property names, beside
// the fairness conditions, which are the bits below it.
const (
	maxFairness = 63
	visitBit    = 1 << maxFairness
)

// fairCycles finds where a behaviour may stay for ever, fairly, and without
// leaving a part of the graph.
type fairCycles[S comparable] struct {
	*components[S]
	visit []bool // nil: no state must be visited

	// component is, for each node that is on such a cycle, the number of its
	// fair component from 1; else 0.
	component []uint32
	count     uint32
}

// gives returns the obligations that are met by being at a node: an action
// that is not enabled there need not be taken.
func (c *fairCycles[S]) gives(v uint32) uint64 {
	met := c.graph.weak &^ c.graph.enabled[v]
	if c.visit != nil && c.visit[v] {
		met |= visitBit
	}
	return met
}

// requires returns the obligations of a behaviour that visits the nodes of a
// component, and nothing else, again and again.
func (c *fairCycles[S]) requires(nodes []uint32) uint64 {
	var enabled uint64
	for _, v := range nodes {
		enabled |= c.graph.enabled[v]
	}
	required := c.graph.weak | c.graph.strong&enabled
	if c.visit != nil {
		required |= visitBit
	}
	return required
}

// meets returns the obligations that can be met inside a component.
func (c *fairCycles[S]) meets(nodes []uint32) uint64 {
	var met uint64
	for _, v := range nodes {
		met |= c.gives(v)
	}
	if len(nodes) == 1 {
		return met
	}
	c.enclose(nodes)
	for _, v := range nodes {
		targets, labels := c.graph.out(v)
		for i, w := range targets {
			if c.inside(w) {
				met |= c.graph.satisfied(labels[i])
			}
		}
	}
	return met
}

// search numbers the fair components of the part that consists of nodes.
//
// A component in which everything that is required can be met has a fair
// cycle, through all of it. Otherwise nothing inside it meets a weak condition
// either, since it is enabled in each of its nodes and never taken. But a
// strong condition is harmless where it is not enabled: without the nodes
// where it is, what remains of the component is searched again.
func (c *fairCycles[S]) search(nodes []uint32) {
	c.component = make([]uint32, c.graph.nodes())
	parts := [][]uint32{nodes}
	for len(parts) > 0 {
		part := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		order, ends := c.of(part)
		from := 0
		for _, to := range ends {
			nodes := order[from:to]
			from = to
			missing := c.requires(nodes) &^ c.meets(nodes)
			switch {
			case missing == 0:
				c.count++
				for _, v := range nodes {
					c.component[v] = c.count
				}
			case missing&^c.graph.strong == 0:
				if rest := c.without(nodes, missing); len(rest) > 0 {
					parts = append(parts, rest)
				}
			}
		}
	}
}

// without returns the nodes where none of the conditions is enabled.
func (c *fairCycles[S]) without(nodes []uint32, conditions uint64) []uint32 {
	var rest []uint32
	for _, v := range nodes {
		if c.graph.enabled[v]&conditions == 0 {
			rest = append(rest, v)
		}
	}
	return rest
}
