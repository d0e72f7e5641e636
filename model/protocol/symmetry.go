package protocol

import (
	"bytes"
	"cmp"
	"slices"
)

// Canonical returns the one that stands for all the states which differ from s
// only in which handler is which. A state and the one that stands for it go on
// in the same ways, and no invariant tells them apart, so that a search for
// safety needs no other. The attempts of a client have no names, so there is
// nothing about clients to exchange.
func Canonical(c *Config, s State) State {
	w := world{c, s, s.Record()}
	slots := make([]Slot, c.Handlers, maxSlots)
	for i := range slots {
		slots[i] = Slot(i + 1)
	}
	// What runs in a slot says nothing of other slots, so the first in the order
	// of states has its runs in order. Only of runs that are equal, and may own
	// different things, is any order possible.
	slices.SortStableFunc(slots, func(a, b Slot) int { return cmp.Compare(s.runs[a-1], s.runs[b-1]) })
	best := s
	if !slices.IsSorted(s.runs[:c.Handlers]) {
		best = w.renamed(slots)
	}
	if !w.twins(slots) {
		return best
	}
	eachOrder(slots, func() {
		if other := w.renamed(slots); other.before(&best) {
			best = other
		}
	})
	return best
}

// twins reports whether two neighbours are equal and not idle.
func (w *world) twins(slots []Slot) bool {
	for i, h := range slots[1:] {
		if !w.idle(h) && w.runs[h-1] == w.runs[slots[i]-1] {
			return true
		}
	}
	return false
}

// eachOrder calls do with the slots in every order, and leaves them as they
// were.
func eachOrder(slots []Slot, do func()) { orderFrom(slots, 0, do) }

func orderFrom(slots []Slot, from int, do func()) {
	if from >= len(slots)-1 {
		do()
		return
	}
	for i := from; i < len(slots); i++ {
		slots[from], slots[i] = slots[i], slots[from]
		orderFrom(slots, from+1, do)
		slots[from], slots[i] = slots[i], slots[from]
	}
}

// renamed returns the state in which what ran in slots[i] runs in slot i + 1.
func (w *world) renamed(slots []Slot) State {
	name := func(h Slot) Slot {
		if i := slices.Index(slots, h); i >= 0 {
			return Slot(i + 1)
		}
		return h // of the reconciler, or of a run that is over
	}
	owner := name
	if w.has(OwnerIsProcess) {
		owner = func(h Slot) Slot { return h } // a process is no slot
	}
	t := w.State
	for i, h := range slots {
		t.runs[i] = w.runs[h-1]
	}
	rec := w.rec
	rec.Owner = owner(rec.Owner)
	t.setRecord(rec)
	t.late, t.msgs = [maxLate]uint16{}, [maxMsgs]uint16{}
	for _, late := range w.Late() {
		late.Owner = owner(late.Owner)
		t.addLate(late)
	}
	for _, m := range w.Messages() {
		m.By = name(m.By)
		t.addMessage(m)
	}
	return t
}

// before is an order of states.
func (s *State) before(t *State) bool {
	if n := slices.Compare(s.runs[:], t.runs[:]); n != 0 {
		return n < 0
	}
	return bytes.Compare(s.Encode(nil), t.Encode(nil)) < 0
}
