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
	slots := w.handlers()
	return w.first(slots, len(slots))
}

// Outline returns what is left of a state if nothing counts but what goes on in
// it: not how many attempts and faults are left, not which handler is which,
// and not which parameters are called P. Worlds that differ only in how large
// they are have the same outlines. An outline is no state to go on from.
func Outline(c *Config, s State) State {
	s.tries = 0
	s.rest &^= 127
	w := world{c, s, s.Record()}
	// The reconciler has the last slot, wherever it was.
	slots := w.handlers()
	handlers := len(slots)
	for h := c.reconciler() + 1; h <= maxSlots; h++ {
		slots = append(slots, h)
	}
	if handlers < maxSlots {
		slots = append(slots, c.reconciler())
	}
	other := world{c, w.exchanged(), Record{}}
	other.rec = other.Record()
	a, b := w.first(slots, handlers), other.first(slots, handlers)
	if b.before(&a) {
		return b
	}
	return a
}

func (w *world) handlers() []Slot {
	all := make([]Slot, w.Handlers, maxSlots)
	for i := range all {
		all[i] = Slot(i + 1)
	}
	return all
}

// first returns the state that comes first of those in which what ran in
// slots[i] runs in slot i + 1, for any order of as many slots as can be
// exchanged.
func (w *world) first(slots []Slot, interchangeable int) State {
	handlers := slots[:interchangeable]
	// What runs in a slot says nothing of other slots, so the first in the order
	// of states has its runs in order. Only of runs that are equal, and may own
	// different things, is any order possible.
	slices.SortStableFunc(handlers, func(a, b Slot) int { return cmp.Compare(w.runs[b-1], w.runs[a-1]) })
	best := w.renamed(slots)
	if !w.twins(handlers) {
		return best
	}
	eachOrder(handlers, func() {
		if other := w.renamed(slots); other.before(&best) {
			best = other
		}
	})
	return best
}

// twins reports whether two neighbours are equal and not idle.
func (w *world) twins(slots []Slot) bool {
	for i := 1; i < len(slots); i++ {
		if h := slots[i]; !w.idle(h) && w.runs[h-1] == w.runs[slots[i-1]-1] {
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

// exchanged returns the state in which P is called Q, and Q is called P.
func (w *world) exchanged() State {
	name := func(p Parameters) Parameters {
		switch p {
		case P:
			return Q
		case Q:
			return P
		default:
			return p
		}
	}
	t := w.State
	rec := w.rec
	rec.Parameters = name(rec.Parameters)
	t.setRecord(rec)
	for h := Slot(1); h <= maxSlots; h++ {
		r := t.Run(h)
		r.Parameters = name(r.Parameters)
		t.setRun(h, r)
	}
	t.late, t.msgs, t.told = [maxLate]uint16{}, [maxMsgs]uint16{}, 0
	for _, late := range w.Late() {
		late.Parameters = name(late.Parameters)
		t.addLate(late)
	}
	for _, m := range w.Messages() {
		m.Parameters = name(m.Parameters)
		t.addMessage(m)
	}
	for _, told := range w.Told() {
		told.Parameters = name(told.Parameters)
		t.tell(told)
	}
	for i, charge := range w.Ledger() {
		charge.Parameters = name(charge.Parameters)
		t.setCharge(uint8(i+1), charge)
	}
	t.setTries(P, w.Tries(Q))
	t.setTries(Q, w.Tries(P))
	return t
}

// before is an order of states: the busiest slots first.
func (s *State) before(t *State) bool {
	if n := slices.Compare(s.runs[:], t.runs[:]); n != 0 {
		return n > 0
	}
	return bytes.Compare(s.Encode(nil), t.Encode(nil)) < 0
}
