package linearizability

import (
	"slices"

	"github.com/chargeonce/chargeonce/model"
)

// world is the state of one operation: usually one key and one order.
type world struct {
	keys   []model.Key
	orders []model.Order
}

func (w *world) equal(v *world) bool {
	return slices.Equal(w.keys, v.keys) && slices.Equal(w.orders, v.orders)
}

func (w *world) clone() *world { return &world{slices.Clone(w.keys), slices.Clone(w.orders)} }

// reset makes the state before everything.
func (w *world) reset(keys, orders int) {
	w.keys = append(w.keys[:0], make([]model.Key, keys)...)
	w.orders = append(w.orders[:0], make([]model.Order, orders)...)
}

// set writes back what a step has changed.
func (w *world) set(s *step, next *model.State) {
	if s.key != none {
		w.keys[s.key] = next.Key
	}
	w.orders[s.order] = next.Order
}

// try returns what the step would make of its key and order.
func (w *world) try(s *step, rules model.Rules) (model.State, model.Reason) {
	state := model.State{Order: w.orders[s.order]}
	if s.in.Kind == model.Charge {
		return w.tryCharge(s, state, rules)
	}
	if s.key != none {
		state.Key = w.keys[s.key]
	}
	return state.Step(&s.in, rules)
}

// tryCharge looks for an attempt of the order whose key is bound to its
// parameters: the ledger knows the order, not the attempt. A charge leaves
// the keys as they are, so it does not matter which one is found.
func (w *world) tryCharge(s *step, state model.State, rules model.Rules) (next model.State, why model.Reason) {
	in := s.in
	next, why = state, model.ChargedUnasked
	for _, a := range s.attempts {
		state.Key, in.Parameters.Fingerprint = w.keys[a.key], a.fingerprint
		tried, reason := state.Step(&in, rules)
		if reason == model.Allowed {
			return tried, reason
		}
		// The later a reason is found, the more was right before it.
		why = max(why, reason)
	}
	return next, why
}
