package explore

import (
	"context"
	"math"
)

const stoppedNodes = "too many states for liveness"

// live tells whether there is a liveness property.
func (x *search[S]) live() bool {
	for i := range x.model.Properties {
		if x.model.Properties[i].kind == kindLiveness {
			return true
		}
	}
	return false
}

// judgeLiveness judges the liveness properties up to the first that is
// violated.
func (x *search[S]) judgeLiveness(ctx context.Context) error {
	n := x.distinct()
	bytes := x.bytes + n*nodeBytes + x.generated*edgeBytes
	switch {
	case n > math.MaxInt32-1:
		x.stopped = stoppedNodes
		return nil
	case x.options.MaxBytes > 0 && bytes > x.options.MaxBytes:
		x.stopped = stoppedMemory
		return nil
	}
	x.bytes = bytes
	g, err := x.buildGraph()
	if err != nil {
		return err
	}
	c := newComponents(g)
	for _, p := range x.model.Properties {
		if p.kind != kindLiveness {
			continue
		}
		if ctx.Err() != nil {
			x.stopped = context.Cause(ctx).Error()
			return nil
		}
		if t, ok := c.judge(p.liveness); ok {
			x.result.Property, x.result.Trace = p.name, t
			return nil
		}
	}
	return nil
}

// judge looks for a lasso, and returns the one with the shortest stem.
func (c *components[S]) judge(l liveness[S]) (Trace[S], bool) {
	g := c.graph
	avoid := g.where(l.avoid, false)
	cycles := fairCycles[S]{components: c}
	if l.visit != nil {
		cycles.visit = g.where(l.visit, true)
	}
	var part []uint32
	for v := range uint32(g.nodes()) {
		if !avoid[v] {
			part = append(part, v)
		}
	}
	cycles.search(part)
	stem, ok := g.stem(stemQuery{from: g.where(l.from, true), first: l.first, avoid: avoid, to: cycles.component})
	if !ok {
		return Trace[S]{}, false
	}
	return cycles.lasso(stem), true
}

// where evaluates a predicate in every node. A nil predicate is what absent
// says.
func (g *graph[S]) where(holds func(S) bool, absent bool) []bool {
	is := make([]bool, g.nodes())
	if holds == nil {
		for v := range is {
			is[v] = absent
		}
		return is
	}
	g.x.parallel(partitionCount, g.nodes(), func(i int) {
		for v := g.base[i]; v < g.base[i+1]; v++ {
			is[v] = holds(g.state(v))
		}
	})
	return is
}
