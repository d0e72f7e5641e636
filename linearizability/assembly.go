package linearizability

import (
	"math"
	"slices"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
)

// step is one input of the specification and when it may take effect.
type step struct {
	in         model.Input
	call, ret  int64     // positions in the history, both included
	event      int       // the event that it is known from
	order, key int32     // within the operation; key may be none
	attempts   []attempt // Charge: those of the order
}

// attempt is what a charge may be for.
type attempt struct {
	key         int32 // within the operation
	fingerprint string
}

const none = -1

// never is the return of an attempt that may take effect at any time.
const never = math.MaxInt64

// operation is a set of orders that share keys, and what happened to them.
type operation struct {
	orders []string
	keys   int
	steps  []step // in the order of their events
}

// call is one attempt. Orders and keys are counted over the whole history.
type call struct {
	event      int
	answer     int // the event of its return, or none
	order, key int32
	open       int32 // the next call of the order that has not ended, or none
}

type keyName struct{ scope, key string }

type order struct {
	name      string
	parent    int32 // towards the first order of the operation
	operation int32
	local     int32 // its number within the operation
	open      int32 // the last call that has not ended, or none
	attempts  []attempt
}

type key struct {
	order        int32 // the first that used it
	local        int32 // its number within the operation
	fingerprints []string
}

// assembly takes a history apart into operations.
type assembly struct {
	events  []history.Event
	orders  []order
	orderOf map[string]int32
	keys    []key
	keyOf   map[keyName]int32
	calls   []call
	about   []int32 // for each event its call, or its order if it is the ledger's, or none

	operations []operation
}

func (a *assembly) assemble(events []history.Event, rules model.Rules) {
	if a.orderOf == nil {
		a.orderOf, a.keyOf = make(map[string]int32), make(map[keyName]int32)
	}
	clear(a.orderOf)
	clear(a.keyOf)
	a.events = events
	a.orders, a.keys, a.calls = a.orders[:0], a.keys[:0], a.calls[:0]
	a.about, a.operations = a.about[:0], a.operations[:0]
	for i := range events {
		a.about = append(a.about, a.register(i))
	}
	a.divide()
	for i := range events {
		a.event(i, rules)
	}
}

// register makes orders, keys and calls known and returns what the event is
// about.
func (a *assembly) register(i int) int32 {
	e := &a.events[i]
	switch e.Kind {
	case history.KindCall:
		n := a.called(i)
		o := &a.orders[a.calls[n].order]
		a.calls[n].open, o.open = o.open, n
		return n
	case history.KindUnanswered:
		return a.close(e)
	case history.KindReturn:
		n := a.close(e)
		if n == none {
			return a.called(i) // to nothing: a call that was never submitted
		}
		a.calls[n].answer = i
		return n
	case history.KindCharge, history.KindRefund:
		return a.order(e.Operation)
	}
	return none
}

func (a *assembly) called(i int) int32 {
	e := &a.events[i]
	o := a.order(e.Operation)
	a.calls = append(a.calls, call{i, none, o, a.key(e, o), none})
	return int32(len(a.calls)) - 1
}

// close takes the call that an event ends from the open ones of its order.
func (a *assembly) close(e *history.Event) int32 {
	link := &a.orders[a.order(e.Operation)].open
	for *link != none {
		n := *link
		c := &a.events[a.calls[n].event]
		if c.Attempt == e.Attempt && c.Process == e.Process {
			*link = a.calls[n].open
			return n
		}
		link = &a.calls[n].open
	}
	return none
}

func (a *assembly) order(name string) int32 {
	if last := len(a.orders) - 1; last >= 0 && a.orders[last].name == name {
		return int32(last)
	}
	n, known := a.orderOf[name]
	if !known {
		n = int32(len(a.orders))
		a.orderOf[name] = n
		a.orders = grow(a.orders)
		o := &a.orders[n]
		*o = order{name: name, parent: n, open: none, attempts: o.attempts[:0]}
	}
	return n
}

// key returns the key of a call and joins its order to the others that use
// it. Attempts without a key have one each.
func (a *assembly) key(e *history.Event, o int32) int32 {
	name := keyName{e.Scope, e.Key}
	if n, known := a.keyOf[name]; known && e.Key != "" {
		a.join(a.keys[n].order, o)
		return n
	}
	n := int32(len(a.keys))
	a.keyOf[name] = n
	a.keys = grow(a.keys)
	k := &a.keys[n]
	*k = key{order: o, fingerprints: k.fingerprints[:0]}
	return n
}

// grow adds an element, which may be an old one whose memory can be reused.
func grow[T any](s []T) []T {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	var zero T
	return append(s, zero)
}

func (a *assembly) join(o, p int32) {
	o, p = a.root(o), a.root(p)
	a.orders[max(o, p)].parent = min(o, p)
}

func (a *assembly) root(o int32) int32 {
	for a.orders[o].parent != o {
		a.orders[o].parent = a.orders[a.orders[o].parent].parent
		o = a.orders[o].parent
	}
	return o
}

// divide numbers the operations, and the orders and keys within each.
func (a *assembly) divide() {
	for i := range a.orders {
		o := &a.orders[i]
		root := a.root(int32(i)) // not after i, so its operation is known
		if root == int32(i) {
			o.operation = int32(len(a.operations))
			a.operations = grow(a.operations)
			p := &a.operations[o.operation]
			*p = operation{orders: p.orders[:0], steps: p.steps[:0]}
		}
		o.operation = a.orders[root].operation
		p := &a.operations[o.operation]
		o.local = int32(len(p.orders))
		p.orders = append(p.orders, o.name)
	}
	for i := range a.keys {
		k := &a.keys[i]
		p := &a.operations[a.orders[k.order].operation]
		k.local = int32(p.keys)
		p.keys++
	}
}

// event adds the steps that an event stands for.
func (a *assembly) event(i int, rules model.Rules) {
	switch e := &a.events[i]; e.Kind {
	case history.KindCall:
		a.submit(i)
	case history.KindReturn:
		a.answer(i)
	case history.KindCharge:
		a.ledger(i, model.Charge)
	case history.KindRefund:
		a.ledger(i, model.Refund)
	case history.KindEnd:
		// Without compensation the end asks for nothing that does not hold
		// after every step.
		for o := 0; rules.Compensates && o < len(a.orders); o++ {
			a.add(&a.orders[o], step{in: model.Input{Kind: model.End}, call: int64(i), ret: int64(i), event: i, key: none})
		}
	}
}

// submit adds an attempt that reaches the service, at the call or any time
// later. One is enough for each key and fingerprint: whatever a later attempt
// binds, the first may have bound at that instant. An attempt that was refused
// has no effect.
func (a *assembly) submit(i int) {
	e, c := &a.events[i], &a.calls[a.about[i]]
	if c.answer != none && a.events[c.answer].Outcome == history.OutcomeRefused {
		return
	}
	o, k := &a.orders[c.order], &a.keys[c.key]
	if may := (attempt{k.local, e.Fingerprint}); !slices.Contains(o.attempts, may) {
		o.attempts = append(o.attempts, may)
	}
	if slices.Contains(k.fingerprints, e.Fingerprint) {
		return
	}
	k.fingerprints = append(k.fingerprints, e.Fingerprint)
	in := model.Input{Kind: model.Submit, Parameters: parameters(e)}
	a.add(o, step{in: in, call: int64(i), ret: never, event: i, key: k.local})
}

// answer adds an answer, unless it is one that promises nothing.
func (a *assembly) answer(i int) {
	e, c := &a.events[i], &a.calls[a.about[i]]
	if !e.Outcome.Final() || e.Outcome == history.OutcomeRefused {
		return
	}
	in := model.Input{
		Kind:       model.Answer,
		Parameters: parameters(&a.events[c.event]),
		Reply:      model.Reply{Outcome: e.Outcome, Status: e.Status, Body: e.Body, Charge: e.Charge},
		Money:      money(e),
	}
	a.add(&a.orders[c.order], step{in: in, call: int64(c.event), ret: int64(i), event: i, key: a.keys[c.key].local})
}

// ledger adds a line of the ledger, which has effect at its own instant. A
// charge can only be for an attempt that was made before.
func (a *assembly) ledger(i int, kind model.InputKind) {
	e, o := &a.events[i], &a.orders[a.about[i]]
	in := model.Input{Kind: kind, Charge: e.Charge, Money: money(e)}
	a.add(o, step{in: in, call: int64(i), ret: int64(i), event: i, key: none, attempts: o.attempts})
}

func (a *assembly) add(o *order, s step) {
	s.order = o.local
	p := &a.operations[o.operation]
	p.steps = append(p.steps, s)
}

func parameters(e *history.Event) model.Parameters {
	return model.Parameters{Fingerprint: e.Fingerprint, Money: money(e)}
}

func money(e *history.Event) model.Money { return model.Money{Minor: e.Amount, Currency: e.Currency} }
