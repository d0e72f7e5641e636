package linearizability

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/chargeonce/chargeonce/model"
)

// bounds are what a check may use up.
type bounds struct {
	deadline  time.Time // zero: none
	steps     int       // of each search; 0: any number
	abandoned bool      // a search was cut off by the deadline and may still run for a moment
}

// left returns how much time is left, 0 for any amount, and false for none.
func (b *bounds) left() (time.Duration, bool) {
	if b.deadline.IsZero() {
		return 0, true
	}
	left := time.Until(b.deadline)
	return left, left > 0
}

// judge judges one operation.
type judge struct {
	rules     model.Rules
	operation *operation
	bounds    *bounds
	scratch   *world // for asRecorded
}

// verdict says whether some order explains the operation; the reason is why
// it is Undecided, if that is not the bounds.
func (j *judge) verdict() (Verdict, model.Reason) {
	if _, why := j.asRecorded(j.operation.steps); why == model.Allowed {
		return Held, why
	}
	return j.search(j.operation.steps)
}

// asRecorded takes the steps in the order of the history: each attempt
// reaches the service at once and each answer is given at the last moment. If
// all are allowed, that is an order that explains the history; if not, another
// may. The state is valid until the next call.
func (j *judge) asRecorded(steps []step) (*world, model.Reason) {
	w := j.scratch
	w.reset(j.operation.keys, len(j.operation.orders))
	for i := range steps {
		next, why := w.try(&steps[i], j.rules)
		if why != model.Allowed {
			return nil, why
		}
		w.set(&steps[i], &next)
	}
	return w, model.Allowed
}

// search asks Porcupine.
func (j *judge) search(steps []step) (Verdict, model.Reason) {
	left, some := j.bounds.left()
	if !some {
		return Undecided, model.Allowed
	}
	s := j.newSearch()
	switch porcupine.CheckOperationsTimeout(s.model(), operations(steps), left) {
	case porcupine.Ok:
		return Held, model.Allowed
	case porcupine.Unknown:
		j.bounds.abandoned = true
		return Undecided, model.Allowed
	}
	switch {
	case s.exhausted:
		return Undecided, model.Allowed
	case s.tooMany:
		return Undecided, model.TooManyCharges
	}
	return Violated, model.Allowed
}

// search is one run of Porcupine.
type search struct {
	rules        model.Rules
	keys, orders int
	stepsLeft    int
	exhausted    bool // the steps were used up: "illegal" means nothing
	tooMany      bool // some order led to more charges than a state can hold
}

func (j *judge) newSearch() *search {
	s := &search{rules: j.rules, keys: j.operation.keys, orders: len(j.operation.orders), stepsLeft: j.bounds.steps}
	if s.stepsLeft <= 0 {
		s.stepsLeft = math.MaxInt
	}
	return s
}

func (s *search) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			w := new(world)
			w.reset(s.keys, s.orders)
			return w
		},
		Step:  func(state, input, _ any) (bool, any) { return s.step(state.(*world), input.(*step)) },
		Equal: func(a, b any) bool { return a.(*world).equal(b.(*world)) },
	}
}

func (s *search) step(w *world, in *step) (bool, any) {
	if s.stepsLeft == 0 {
		s.exhausted = true
		return false, w
	}
	s.stepsLeft--
	next, why := w.try(in, s.rules)
	if why != model.Allowed {
		s.tooMany = s.tooMany || why == model.TooManyCharges
		return false, w
	}
	w = w.clone()
	w.set(in, &next)
	return true, w
}

func operations(steps []step) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(steps))
	for i := range steps {
		s := &steps[i]
		ops[i] = porcupine.Operation{Input: s, Call: s.call, Return: s.ret}
	}
	return ops
}

// finding describes an operation that is not Held. Of one that is Violated it
// looks for the shortest part, from the beginning, that no order explains:
// what is right stays right if its end is cut off.
func (j *judge) finding(verdict Verdict, why model.Reason) Finding {
	f := Finding{verdict, slices.Clone(j.operation.orders), none, why}
	if verdict != Violated {
		return f
	}
	steps := j.operation.steps
	known := true
	n := sort.Search(len(steps), func(n int) bool {
		if _, why := j.asRecorded(steps[:n+1]); why == model.Allowed {
			return false
		}
		verdict, _ := j.search(steps[:n+1])
		known = known && verdict != Undecided
		return verdict == Violated
	})
	if known {
		f.Event = steps[n].event
		f.Reason = j.reason(steps[:n], &steps[n])
	}
	return f
}

// reason says why a step is not allowed as the last one after others that
// are explained.
func (j *judge) reason(before []step, last *step) model.Reason {
	w, why := j.asRecorded(before)
	if why != model.Allowed {
		var known bool
		if w, known = j.explanation(before); !known {
			return model.Allowed
		}
	}
	_, why = w.try(last, j.rules)
	return why
}

// explanation returns the state after an order of the steps that Porcupine
// finds.
func (j *judge) explanation(steps []step) (*world, bool) {
	left, some := j.bounds.left()
	if !some {
		return nil, false
	}
	s := j.newSearch()
	result, info := porcupine.CheckOperationsVerbose(s.model(), operations(steps), left)
	if result != porcupine.Ok {
		return nil, false
	}
	w := j.scratch
	w.reset(s.keys, s.orders)
	for _, n := range info.PartialLinearizations()[0][0] {
		next, _ := w.try(&steps[n], j.rules)
		w.set(&steps[n], &next)
	}
	return w, true
}
