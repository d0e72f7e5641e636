package explore

import "slices"

// graph is what can be reached: the states as nodes, numbered from 0 in the
// order of the partitions and their logs, and the steps that change the state
// and stay inside the constraint as edges. Every node may also stutter.
type graph[S comparable] struct {
	x       *search[S]
	base    [partitionCount + 1]uint32 // the first node of each partition
	owner   []uint8                    // the partition of each node
	edges   [partitionCount]adjacency
	initial []uint32 // with repetitions

	// Fairness conditions are bits. enabled has, for each node, those of
	// which a step that changes the state is possible, inside the constraint
	// or not; takes has, for each label, those that it satisfies.
	enabled      []uint64
	takes        []uint64
	weak, strong uint64
}

// adjacency is the edges of one partition's nodes; those of its i-th node are
// [start[i], start[i+1]).
type adjacency struct {
	start   []uint32
	targets []uint32
	labels  []Action
	impure  bool
}

// nodeBytes and edgeBytes are what graph and the judging of one property take.
const (
	nodeBytes = 80
	edgeBytes = 6
)

// buildGraph asks the model for all steps once more. The search must be exact
// and complete.
func (x *search[S]) buildGraph() (*graph[S], error) {
	g := &graph[S]{x: x}
	g.conditions(x.model.Fairness)
	for i := range x.partitions {
		g.base[i+1] = g.base[i] + uint32(x.partitions[i].length)
	}
	n := g.nodes()
	g.owner, g.enabled = make([]uint8, n), make([]uint64, n)
	for i := range x.partitions {
		for v := g.base[i]; v < g.base[i+1]; v++ {
			g.owner[v] = uint8(i)
		}
	}
	x.parallel(partitionCount, n, g.connect)
	for i := range g.edges {
		if g.edges[i].impure {
			return nil, ErrImpure
		}
	}
	for _, s := range x.model.Initial() {
		if v, ok := g.node(&s); ok {
			g.initial = append(g.initial, v)
		}
	}
	return g, nil
}

func (g *graph[S]) conditions(fairness []Fairness) {
	for i, f := range fairness {
		for _, a := range f.Actions {
			for int(a) >= len(g.takes) {
				g.takes = append(g.takes, 0)
			}
			g.takes[a] |= 1 << i
		}
		if f.Strength == Strong {
			g.strong |= 1 << i
		} else {
			g.weak |= 1 << i
		}
	}
}

// connect finds the edges of one partition.
func (g *graph[S]) connect(i int) {
	p, e := &g.x.partitions[i], &g.edges[i]
	constraint := g.x.model.Constraint
	e.start = make([]uint32, 1, p.length+1)
	var steps []Step[S]
	for place := range p.length {
		s := *p.state(place)
		steps = g.x.model.Next(steps[:0], s)
		for k := range steps {
			t := &steps[k].Next
			if *t == s {
				continue
			}
			g.enabled[g.base[i]+uint32(place)] |= g.satisfied(steps[k].Action)
			if constraint != nil && !constraint(*t) {
				continue
			}
			v, ok := g.node(t)
			if !ok {
				e.impure = true
				return
			}
			e.targets = append(e.targets, v)
			e.labels = append(e.labels, steps[k].Action)
		}
		e.start = append(e.start, uint32(len(e.targets)))
	}
	e.targets, e.labels = slices.Clone(e.targets), slices.Clone(e.labels)
}

// satisfied returns the conditions that a step with this label satisfies.
func (g *graph[S]) satisfied(a Action) uint64 {
	if int(a) < len(g.takes) {
		return g.takes[a]
	}
	return 0
}

func (g *graph[S]) nodes() int { return int(g.base[partitionCount]) }

// node returns the node of a state, and false if there is none.
func (g *graph[S]) node(s *S) (uint32, bool) {
	f := fingerprint(s)
	i := f >> partitionShift
	p := &g.x.partitions[i]
	if p.length == 0 {
		return 0, false
	}
	slot, ok := p.find(f, s)
	return g.base[i] + uint32(p.values[slot]), ok
}

func (g *graph[S]) state(v uint32) S {
	i := g.owner[v]
	return *g.x.partitions[i].state(int(v - g.base[i]))
}

// out returns the edges from a node.
func (g *graph[S]) out(v uint32) (targets []uint32, labels []Action) {
	e := &g.edges[g.owner[v]]
	at := v - g.base[g.owner[v]]
	from, to := e.start[at], e.start[at+1]
	return e.targets[from:to], e.labels[from:to]
}
