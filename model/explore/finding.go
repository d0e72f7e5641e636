package explore

// reference names a state that is in the set; see partition.
type reference struct {
	packed uint64
	known  bool
}

// rootParent is the parent of initial states. No reference equals it: a
// fingerprint is not 0, and a place is counted from 1.
const rootParent = 0

// reference names the state s at a place of a partition's log.
func (x *search[S]) reference(partition, place int, s *S) reference {
	if x.exact {
		return reference{uint64(place+1)<<partitionBits | uint64(partition), true}
	}
	return reference{fingerprint(s), true}
}

// located is the opposite of reference, if exact.
func located(packed uint64) (partition, place int) {
	return int(packed % partitionCount), int(packed>>partitionBits) - 1
}

type foundKind uint8

const (
	foundNothing  foundKind = iota
	foundDeadlock           // at
	foundState              // at violates an Always
	foundStep               // a step from at violates an AlwaysStep
	foundOutside            // a step from at leaves the constraint and violates an Always; if at is not known, an initial state does
)

// finding is a violation.
type finding struct {
	kind     foundKind
	property int
	at       reference
}

// offer takes over other if that comes first in the order in which violations
// of one round are reported: a deadlock, which is one step nearer, then by
// property, then by the order of the search.
func (f *finding) offer(other finding) {
	if other.kind == foundNothing {
		return
	}
	if f.kind == foundNothing || other.rank() < f.rank() {
		*f = other
	}
}

func (f *finding) rank() int {
	if f.kind == foundDeadlock {
		return -1
	}
	return f.property
}

// judgeSteps asks the properties of steps. It comes before the steps are made
// canonical.
func (x *search[S]) judgeSteps(g *segment[S], from reference, s S, steps []Step[S]) {
	for i := range steps {
		if steps[i].Next == s {
			continue
		}
		for k := range x.alwaysStep {
			if p := &x.alwaysStep[k]; !p.step(s, steps[i].Action, steps[i].Next) {
				g.offer(finding{kind: foundStep, property: p.index, at: from})
			}
		}
	}
}

// judgeOutside asks the invariants about a state outside the constraint, as
// TLC does.
func (x *search[S]) judgeOutside(g *segment[S], from reference, s *S) {
	for k := range x.always {
		if p := &x.always[k]; !p.holds(*s) {
			g.offer(finding{kind: foundOutside, property: p.index, at: from})
		}
	}
}

// judgeNew asks the properties of states about what the last commit added to
// a partition.
func (x *search[S]) judgeNew(i int) {
	p := &x.partitions[i]
	for place := p.judged; place < p.length; place++ {
		s := p.state(place)
		for k := range x.always {
			if !x.always[k].holds(*s) {
				p.offer(finding{kind: foundState, property: x.always[k].index, at: x.reference(i, place, s)})
			}
		}
		for k := range x.sometimes {
			if !x.witnesses[k].known && !p.shown[k].known && x.sometimes[k].holds(*s) {
				p.shown[k] = x.reference(i, place, s)
			}
		}
	}
	p.judged = p.length
}
