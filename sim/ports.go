package sim

import (
	"context"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// A process is every port of the code that runs on it.
var (
	_ impl.Registry  = (*process)(nil)
	_ impl.Provider  = (*process)(nil)
	_ impl.Clock     = (*process)(nil)
	_ impl.IDs       = (*process)(nil)
	_ impl.Locks     = (*process)(nil)
	_ impl.Transport = (*process)(nil)
)

// operation is which method of a port a call is.
type operation uint8

const (
	opInsert operation = iota
	opGet
	opUpdate
	opDelete
	opUnfinished
	opExpired
	opCharge
	opLookup
	opRefund
	opRequest
)

// call is a port call that is, or was, out. Its arguments never change, so
// that a copy which arrives late still has them.
type call struct {
	index    int32
	op       operation
	step     impl.Step
	run      *run
	to       plan.Process
	attempt  plan.Attempt
	order    int
	permit   int64 // when the code under test made the call
	done     bool
	outlives bool  // its request may arrive after MessageLifetime
	told     int32 // its number in the steps, history.Nowhere if nobody listens

	// arguments
	rec    impl.Record
	id     impl.ID
	fence  impl.Fence
	before time.Time
	after  impl.Cursor
	limit  int
	charge impl.ChargeRequest
	refund impl.RefundRequest
	ref    string
	req    impl.Request
	try    int

	got *answer // nil when none came
}

// answer is what a request was answered with; each arrival has its own.
type answer struct {
	index   int32 // from 1
	rec     impl.Record
	ok      bool
	list    []impl.Record
	result  impl.ChargeResult
	charges []impl.Charge
	reply   impl.Reply
	err     error
	told    int32 // the step that it answers, history.Nowhere if there is none
}

// enter is the first thing that a port does.
func (p *process) enter() *run {
	if p.w.booting {
		panic("a factory may use its clock and its IDs, and call no other port")
	}
	return p.w.k.Enter().(*run)
}

// read is the first thing that a port does which a factory may call too.
func (p *process) read() {
	if !p.w.booting {
		p.w.k.Enter()
	}
}

// newAnswer returns an answer that says nothing yet. To make it so is a page
// of code, which the processor should have to fetch once.
//
//go:noinline
func (w *World) newAnswer() *answer {
	a, index := w.answers.take()
	*a = answer{charges: a.charges[:0], told: history.Nowhere, index: index + 1}
	return a
}

func (w *World) newCall(r *run, op operation, step impl.Step) *call {
	c, index := w.calls.take()
	c.index, c.op, c.step, c.run = index, op, step, r
	c.attempt, c.order = r.attempt, r.order
	c.permit, c.done, c.got, c.outlives, c.told = w.k.Now(), false, nil, false, history.Nowhere
	return c
}

// about says which record a call is about, by its id or by the reference of
// its charge, so that what the reconciler does is told by the order.
func (c *call) about(w *World, id impl.ID, ref string) *call {
	return c.aboutOrder(w.orderOf(id, ref))
}

func (c *call) aboutOrder(order int) *call {
	r := c.run
	if order == 0 {
		order = r.order
	}
	c.order = order
	if r.kind == runReconcile {
		r.order = order
		r.attempt = plan.NewAttempt(r.p.id, order, r.p.sweeps)
		c.attempt = r.attempt
	}
	return c
}

// exchange sends the call and waits for its answer or the time-out.
func (w *World) exchange(c *call, to plan.Process, timeout int64) *answer {
	r := c.run
	c.to = to
	if w.steps != nil && c.op != opRequest {
		w.tellCall(c)
	}
	if to == plan.Provider || r.kind == runPay {
		c.outlives = w.pass(r, plan.WhatBefore, c.step).Breaks() != ""
	}
	switch c.op {
	case opCharge:
		w.sendCharge(c)
	case opRequest:
		w.called(c)
	}
	r.call = c
	w.postRequest(c)
	lane := 0
	if c.op == opRequest {
		lane = 1
	}
	w.k.ScheduleLane(lane, w.now()+timeout, evTimeout, c.index, 0)
	w.pass(r, plan.WhatDuring, c.step)
	for !c.done {
		w.k.Park()
	}
	r.call = nil
	w.pass(r, plan.WhatAfter, c.step)
	w.finishStep(r.p.id, c.step)
	if c.got == nil {
		w.see(seeAnswer, uint64(r.index)<<32)
		return &unanswered
	}
	w.see(seeAnswer, uint64(r.index)<<32|uint64(c.got.index))
	return c.got
}

var unanswered = answer{err: impl.ErrUnknown}

func (p *process) callTimeout() int64 { return int64(p.w.timing.CallTimeout) }

// Insert is a port of the code under test.
func (p *process) Insert(_ context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	r, w := p.enter(), p.w
	c := w.newCall(r, opInsert, step).about(w, rec.ID, rec.ProviderKey)
	c.rec = rec
	a := w.exchange(c, plan.Registry, p.callTimeout())
	return a.rec, a.ok, a.err
}

// Get is a port of the code under test.
func (p *process) Get(_ context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	r, w := p.enter(), p.w
	c := w.newCall(r, opGet, step).about(w, id, "")
	c.id = id
	a := w.exchange(c, plan.Registry, p.callTimeout())
	return a.rec, a.ok, a.err
}

// Update is a port of the code under test.
func (p *process) Update(_ context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	r, w := p.enter(), p.w
	c := w.newCall(r, opUpdate, step).about(w, next.ID, next.ProviderKey)
	c.fence, c.rec = was, next
	return w.exchange(c, plan.Registry, p.callTimeout()).err
}

// Delete is a port of the code under test.
func (p *process) Delete(_ context.Context, step impl.Step, id impl.ID, was impl.Fence) error {
	r, w := p.enter(), p.w
	c := w.newCall(r, opDelete, step).about(w, id, "")
	c.id, c.fence = id, was
	return w.exchange(c, plan.Registry, p.callTimeout()).err
}

// Unfinished is a port of the code under test.
func (p *process) Unfinished(_ context.Context, step impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	r, w := p.enter(), p.w
	c := w.newCall(r, opUnfinished, step).aboutOrder(0)
	c.before, c.after, c.limit = before, after, limit
	a := w.exchange(c, plan.Registry, p.callTimeout())
	return a.list, a.err
}

// Expired is a port of the code under test. Where nothing is due there is
// nothing to ask the registry for, and no site.
func (p *process) Expired(_ context.Context, step impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	r, w := p.enter(), p.w
	if !w.anyExpired(before) {
		return nil, nil
	}
	r.order, r.attempt = 0, plan.NewAttempt(p.id, 0, p.sweeps)
	c := w.newCall(r, opExpired, step)
	c.before, c.limit = before, limit
	a := w.exchange(c, plan.Registry, p.callTimeout())
	return a.list, a.err
}

// Charge is a port of the code under test.
func (p *process) Charge(_ context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	r, w := p.enter(), p.w
	c := w.newCall(r, opCharge, step).about(w, impl.ID{}, req.Ref)
	c.charge = req
	a := w.exchange(c, plan.Provider, p.callTimeout())
	return a.result, a.err
}

// Lookup is a port of the code under test.
func (p *process) Lookup(_ context.Context, step impl.Step, ref string) ([]impl.Charge, error) {
	r, w := p.enter(), p.w
	if !w.cfg.Profile.Lookup {
		return nil, impl.ErrNoLookup
	}
	c := w.newCall(r, opLookup, step).about(w, impl.ID{}, ref)
	c.ref = ref
	r.looked = true
	a := w.exchange(c, plan.Provider, p.callTimeout())
	return a.charges, a.err
}

// Refund is a port of the code under test.
func (p *process) Refund(_ context.Context, step impl.Step, req impl.RefundRequest) error {
	r, w := p.enter(), p.w
	c := w.newCall(r, opRefund, step).aboutOrder(w.orderOfCharge(req.ChargeID))
	c.refund = req
	return w.exchange(c, plan.Provider, p.callTimeout()).err
}

// Now is a port of the code under test: the process's own clock.
func (p *process) Now() time.Time {
	w := p.w
	p.read()
	if p.offset != 0 {
		w.compareLeases(p)
	}
	return epoch.Add(time.Duration(w.now() + p.offset))
}

// Sleep is a port of the code under test.
func (p *process) Sleep(_ context.Context, d time.Duration) error {
	r, w := p.enter(), p.w
	r.wake++
	w.k.Schedule(w.now()+int64(max(d, 0)), evResume, r.index, r.wake)
	w.k.Park()
	w.see(seeAwake, uint64(r.index))
	return nil
}

// Key is a port of the code under test: the first key of an order is the
// one that its client goes on with.
func (p *process) Key() string {
	p.read()
	w := p.w
	if w.booting || w.current.order == 0 {
		return w.names.key(0, 1)
	}
	r := w.current
	o := &w.orders[r.order-1]
	o.keysMade++
	return w.names.key(r.order, o.keysMade)
}

// Owner is a port of the code under test.
func (p *process) Owner() string {
	p.read()
	p.tokens++
	return p.w.names.owner(p.id, p.tokens)
}

// Lock is a port of the code under test.
func (p *process) Lock(_ context.Context, name string) {
	r := p.enter()
	l := p.lock(name)
	if !l.held {
		l.held = true
		return
	}
	l.waiters = append(l.waiters, r)
	p.w.k.Park()
	p.w.see(seeAwake, uint64(r.index))
}

// Unlock is a port of the code under test: the lock goes to who waits longest.
func (p *process) Unlock(name string) {
	p.enter()
	l := p.lock(name)
	for len(l.waiters) > 0 {
		next := l.waiters[0]
		l.waiters = l.waiters[1:]
		if next.ended {
			continue
		}
		next.wake++
		p.w.k.Schedule(p.w.now(), evResume, next.index, next.wake)
		return
	}
	l.held = false
}

func (p *process) lock(name string) *lock {
	for i := range p.locks {
		if p.locks[i].name == name {
			return &p.locks[i]
		}
	}
	p.locks = append(p.locks, lock{name: name})
	return &p.locks[len(p.locks)-1]
}
