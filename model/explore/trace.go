package explore

import "slices"

// traces finds the ways to the violation, if there is one, and to the
// witnesses.
func (x *search[S]) traces() error {
	for k, at := range x.witnesses {
		if !at.known {
			x.result.Unmet = append(x.result.Unmet, x.sometimes[k].name)
			continue
		}
		t, err := x.traceTo(at)
		if err != nil {
			return err
		}
		x.result.Witnesses = append(x.result.Witnesses, Witness[S]{x.sometimes[k].name, t})
	}
	if x.worst.kind == foundNothing {
		x.result.Complete = x.stopped == ""
		return nil
	}
	x.result.Property = Deadlock
	if x.worst.kind != foundDeadlock {
		x.result.Property = x.model.Properties[x.worst.property].name
	}
	t, err := x.traceTo(x.worst.at)
	if err == nil && (x.worst.kind == foundStep || x.worst.kind == foundOutside) {
		t, err = x.lastStep(t)
	}
	x.result.Trace = t
	return err
}

// traceTo walks the parents back to an initial state, then the model forth
// along them. What it walks through are states of the model also where the
// set has only representatives.
func (x *search[S]) traceTo(at reference) (Trace[S], error) {
	t := Trace[S]{Loop: -1}
	if !at.known {
		return t, nil
	}
	var path []uint64
	for r := at.packed; r != rootParent; r = x.parent(r) {
		path = append(path, r)
	}
	slices.Reverse(path)
	steps := x.starts()
	for _, r := range path {
		i := slices.IndexFunc(steps, func(s Step[S]) bool { return x.names(r, s.Next) })
		if i < 0 {
			return t, ErrImpure
		}
		t.States = append(t.States, Visit[S]{steps[i].Action, steps[i].Next})
		steps = x.model.Next(steps[:0], steps[i].Next)
	}
	return t, nil
}

// starts returns the initial states as steps out of nowhere.
func (x *search[S]) starts() []Step[S] {
	var steps []Step[S]
	for _, s := range x.model.Initial() {
		steps = append(steps, Step[S]{Start, s})
	}
	return steps
}

// parent returns the reference of the state through which another was found.
func (x *search[S]) parent(packed uint64) uint64 {
	if x.exact {
		i, place := located(packed)
		return x.partitions[i].parents[place/blockLength][place%blockLength]
	}
	p := &x.partitions[packed>>partitionShift]
	slot, _ := p.find(packed, nil)
	return p.values[slot]
}

// names tells whether the reference is that of s.
func (x *search[S]) names(packed uint64, s S) bool {
	if x.model.Constraint != nil && !x.model.Constraint(s) {
		return false
	}
	if x.options.Symmetry {
		s = x.model.Canonical(s)
	}
	if x.exact {
		i, place := located(packed)
		return *x.partitions[i].state(place) == s
	}
	return fingerprint(&s) == packed
}

// lastStep adds the step that violates the property to the way to where it
// starts.
func (x *search[S]) lastStep(t Trace[S]) (Trace[S], error) {
	p := &x.model.Properties[x.worst.property]
	steps := x.starts()
	var from S
	if x.worst.at.known {
		from = t.States[len(t.States)-1].State
		steps = x.model.Next(nil, from)
	}
	for _, s := range steps {
		bad := false
		switch {
		case x.worst.kind == foundStep:
			bad = s.Next != from && !p.step(from, s.Action, s.Next)
		case x.model.Constraint != nil:
			bad = !x.model.Constraint(s.Next) && !p.holds(s.Next)
		}
		if bad {
			t.States = append(t.States, Visit[S]{s.Action, s.Next})
			return t, nil
		}
	}
	return t, ErrImpure
}

// finish fills in what is known only at the end.
func (x *search[S]) finish() Result[S] {
	r := x.result
	r.Distinct, r.Generated, r.Depth = x.distinct(), x.generated, x.depth
	r.Exact = x.exact
	if !r.Exact {
		r.CollisionProbability = collisionProbability(r.Distinct)
	}
	r.Bytes = x.bytes
	if r.Distinct > 0 {
		r.BytesPerState = float64(r.Bytes) / float64(r.Distinct)
	}
	switch {
	case r.Property != "":
		r.Verdict = Violated
	case x.stopped != "":
		r.Verdict, r.Stopped = Incomplete, x.stopped
	case len(r.Unmet) > 0:
		r.Verdict = Vacuous
	default:
		r.Verdict = Held
	}
	return r
}
