package explore

import (
	"context"
	"time"
)

// Explore searches every reachable state of m and judges its properties. It
// returns early, with [Incomplete], when ctx is done or memory is used up, and
// with [Violated] at the end of the round that met a violation. Liveness
// properties are judged last, in their order, once all states are known.
//
// The error is ErrModel if there is nothing to search, or ErrImpure. A panic
// of the model is passed on.
func Explore[S comparable](ctx context.Context, m Model[S], o Options) (Result[S], error) {
	if err := check(&m, o); err != nil {
		return Result[S]{}, err
	}
	x := newSearch(&m, o)
	x.run(ctx)
	if err := x.traces(); err != nil {
		return Result[S]{}, err
	}
	if x.result.Complete && x.result.Property == "" && x.live() {
		if err := x.judgeLiveness(ctx); err != nil {
			return Result[S]{}, err
		}
	}
	return x.finish(), nil
}

// What a round is made of. A round is big enough that starting workers costs
// nothing beside it, and small enough that its steps stay in the cache until
// they are committed. Results depend on these numbers (not the verdicts).
const (
	roundStates   = 8192
	segmentCount  = 8
	segmentStates = roundStates / segmentCount

	// aloneBelow is the number of states for which no worker is woken.
	aloneBelow = 256
)

// search is one call of Explore.
type search[S comparable] struct {
	model   *Model[S]
	options Options
	exact   bool

	always     []judged[S] // of states
	alwaysStep []judged[S]
	sometimes  []judged[S]

	partitions [partitionCount]partition[S]
	segments   [segmentCount]segment[S]
	cursor     span // the next states of the level

	depth     int
	queue     uint64
	generated uint64
	worst     finding
	witnesses []reference // of sometimes
	stopped   string
	bytes     uint64 // the most so far

	started, reported time.Time
	reportedDistinct  uint64

	result Result[S]
}

// judged is a property with its place among the model's.
type judged[S comparable] struct {
	Property[S]
	index int
}

func newSearch[S comparable](m *Model[S], o Options) *search[S] {
	x := &search[S]{model: m, options: o, exact: o.Exact}
	for i, p := range m.Properties {
		j := judged[S]{p, i}
		switch p.kind {
		case kindAlways:
			x.always = append(x.always, j)
		case kindAlwaysStep:
			x.alwaysStep = append(x.alwaysStep, j)
		case kindSometimes:
			x.sometimes = append(x.sometimes, j)
		case kindLiveness:
			x.exact = true
		}
	}
	for i := range x.partitions {
		x.partitions[i].exact = x.exact
		x.partitions[i].shown = make([]reference, len(x.sometimes))
	}
	x.witnesses = make([]reference, len(x.sometimes))
	return x
}

// run finds all states, level by level.
func (x *search[S]) run(ctx context.Context) {
	x.started = time.Now()
	x.reported = x.started
	if !x.commit(x.begin()) {
		return
	}
	for x.nextLevel() {
		for x.nextRound() {
			if ctx.Err() != nil {
				x.stopped = context.Cause(ctx).Error()
				return
			}
			states := 0
			for i := range x.segments {
				states += x.segments[i].states
			}
			x.parallel(segmentCount, states, func(i int) { x.expand(&x.segments[i]) })
			x.queue -= uint64(states)
			if !x.commit(states) {
				return
			}
			x.report()
		}
	}
}

// begin puts the initial states into the buckets and returns their number.
func (x *search[S]) begin() int {
	g := &x.segments[0]
	initial := x.model.Initial()
	for _, s := range initial {
		g.generated++
		if x.model.Constraint != nil && !x.model.Constraint(s) {
			x.judgeOutside(g, reference{}, &s)
			continue
		}
		if x.options.Symmetry {
			s = x.model.Canonical(s)
		}
		f := fingerprint(&s)
		b := &g.buckets[f>>partitionShift]
		*b = append(*b, candidate[S]{f, rootParent, s})
	}
	return len(initial)
}

// nextLevel makes the states found last the level to expand.
func (x *search[S]) nextLevel() bool {
	x.queue = 0
	for i := range x.partitions {
		x.queue += uint64(x.partitions[i].nextLevel())
	}
	x.cursor = span{}
	x.cursor.from = x.partitions[0].from
	if x.queue > 0 {
		x.depth++
	}
	return x.queue > 0
}

// nextRound hands the next states of the level out to the segments.
func (x *search[S]) nextRound() bool {
	some := false
	for i := range x.segments {
		g := &x.segments[i]
		g.spans, g.states = g.spans[:0], 0
		for g.states < segmentStates && x.cursor.partition < partitionCount {
			s := x.cursor
			end := x.partitions[s.partition].to
			s.to = min(end, s.from+segmentStates-g.states)
			if s.to > s.from {
				g.spans = append(g.spans, s)
				g.states += s.to - s.from
				some = true
			}
			x.cursor.from = s.to
			if s.to == end {
				if x.cursor.partition++; x.cursor.partition < partitionCount {
					x.cursor.from = x.partitions[x.cursor.partition].from
				}
			}
		}
	}
	return some
}

func (x *search[S]) distinct() uint64 {
	var n uint64
	for i := range x.partitions {
		n += uint64(x.partitions[i].count)
	}
	return n
}

// report calls Progress if it is time.
func (x *search[S]) report() {
	if x.options.Progress == nil {
		return
	}
	every := x.options.ProgressEvery
	if every == 0 {
		every = time.Second
	}
	now := time.Now()
	since := now.Sub(x.reported)
	if since < every {
		return
	}
	distinct := x.distinct()
	p := Progress{Depth: x.depth, Distinct: distinct, Generated: x.generated, Queue: x.queue, Elapsed: now.Sub(x.started)}
	for i := range x.partitions {
		p.Queue += uint64(x.partitions[i].length - x.partitions[i].to)
	}
	p.Rate = float64(distinct-x.reportedDistinct) / since.Seconds()
	x.reported, x.reportedDistinct = now, distinct
	x.options.Progress(p)
}
