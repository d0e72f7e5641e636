package explore

import "unsafe"

// span is states of one partition's log: [from, to).
type span struct{ partition, from, to int }

// segment is the part of a round that one goroutine expands. Its buckets keep
// their memory from round to round.
type segment[S comparable] struct {
	spans     []span
	states    int
	steps     []Step[S]
	buckets   [partitionCount][]candidate[S]
	generated uint64
	finding
}

// expand writes all steps of the segment's states into its buckets.
func (x *search[S]) expand(g *segment[S]) {
	m := x.model
	steps := g.steps
	for _, span := range g.spans {
		p := &x.partitions[span.partition]
		for place := span.from; place < span.to; place++ {
			s := *p.state(place)
			steps = m.Next(steps[:0], s)
			g.generated += uint64(len(steps))
			from := x.reference(span.partition, place, &s)
			if len(steps) == 0 && x.options.Deadlock {
				g.offer(finding{kind: foundDeadlock, at: from})
			}
			if len(x.alwaysStep) > 0 {
				x.judgeSteps(g, from, s, steps)
			}
			for i := range steps {
				t := &steps[i].Next
				if *t == s {
					continue
				}
				if m.Constraint != nil && !m.Constraint(*t) {
					x.judgeOutside(g, from, t)
					continue
				}
				if x.options.Symmetry {
					*t = m.Canonical(*t)
				}
				f := fingerprint(t)
				b := &g.buckets[f>>partitionShift]
				*b = append(*b, candidate[S]{f, from.packed, *t})
			}
		}
	}
	g.steps = steps
}

// commit makes room, takes the buckets into the partitions, and judges the new
// states. It returns false if the search ends here.
func (x *search[S]) commit(states int) bool {
	for i := range x.segments {
		g := &x.segments[i]
		x.generated += g.generated
		g.generated = 0
		x.worst.offer(g.finding)
	}
	if !x.makeRoom() {
		return false
	}
	x.parallel(partitionCount, states, func(i int) { x.commitPartition(i) })
	for i := range x.partitions {
		p := &x.partitions[i]
		x.worst.offer(p.finding)
		for k, at := range p.shown {
			if at.known && !x.witnesses[k].known {
				x.witnesses[k] = at
			}
		}
	}
	return x.worst.kind == foundNothing
}

// makeRoom grows the tables that could get too full by this round, unless that
// would pass MaxBytes.
func (x *search[S]) makeRoom() bool {
	var lengths [partitionCount]int
	var bytes, buffers uint64
	for i := range x.partitions {
		incoming := 0
		for k := range x.segments {
			incoming += len(x.segments[k].buckets[i])
			buffers += uint64(cap(x.segments[k].buckets[i]))
		}
		p := &x.partitions[i]
		lengths[i] = p.room(incoming)
		bytes += p.bytes(lengths[i], incoming)
	}
	bytes += buffers * uint64(unsafe.Sizeof(candidate[S]{}))
	if x.options.MaxBytes > 0 && bytes > x.options.MaxBytes {
		x.stopped = stoppedMemory
		return false
	}
	x.bytes = max(x.bytes, bytes)
	for i := range x.partitions {
		if p := &x.partitions[i]; lengths[i] > len(p.fingerprints) {
			p.grow(lengths[i])
		}
	}
	return true
}

const stoppedMemory = "MaxBytes is used up"

func (x *search[S]) commitPartition(i int) {
	p := &x.partitions[i]
	for k := range x.segments {
		b := &x.segments[k].buckets[i]
		p.commit(*b)
		*b = (*b)[:0]
	}
	x.judgeNew(i)
}
