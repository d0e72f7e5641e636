package sim

import (
	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/kernel"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// message is on its way, or was.
type message struct {
	from, to plan.Process
	call     *call
	answer   *answer // nil for a request
	deadline int64   // the last instant at which it may legally arrive

	fault plan.Class // what made it late, a copy, or kept back
	notBy int64      // for a held message: it took effect if it arrives at or after this
	until plan.Choice
	waits bool // held until a step
}

func (w *World) postRequest(c *call) {
	if c.told >= 0 {
		w.steps.Calls[c.told].Left = true
	}
	w.post(c.run.p.id, c.to, c, nil, c.permit+int64(w.service.MessageLifetime))
}

func (w *World) postAnswer(c *call, a *answer) {
	w.post(c.to, c.run.p.id, c, a, w.now()+int64(w.service.MessageLifetime))
}

// newMessage returns a message and its number. The address is good until the
// next run.
func (w *World) newMessage(from, to plan.Process, c *call, a *answer, deadline int64) (*message, int32) {
	m, index := w.messages.take()
	m.from, m.to, m.call, m.answer, m.deadline = from, to, c, a, deadline
	m.fault, m.notBy, m.waits = plan.ClassNone, 0, false
	return m, index
}

// post sends a message: asks what becomes of it, and lets its link have its
// say.
func (w *World) post(from, to plan.Process, c *call, a *answer, deadline int64) {
	step, mark := c.step, MarkSend
	if a != nil {
		mark = MarkAnswer
		if c.op == opRequest {
			step = impl.StepReply
		}
	}
	w.mark(mark, from, to, step, c.attempt, uint64(c.index))
	site, choice := w.ask(plan.WhatMessage, from, to, step, c.attempt)
	m, index := w.newMessage(from, to, c, a, deadline)
	now := w.now()
	at := now + w.net.Delay(site)
	switch choice.Class {
	case plan.ClassNone:
	case plan.ClassDrop:
		if w.arrives(m) {
			w.took(choice.Class)
		}
		w.leave(at, m)
		w.lose(m, step)
		return
	case plan.ClassDuplicate, plan.ClassDuplicateUnstored:
		again, copied := w.newMessage(from, to, c, a, deadline)
		again.fault = choice.Class
		w.tellCharge(history.StepCopied, again)
		w.leave(at+2*int64(w.timing.Hop), nil)
		w.enqueue(again, copied, at+2*int64(w.timing.Hop))
	case plan.ClassHold, plan.ClassHoldBeyond:
		held := now + w.span(choice, w.patience(c))
		if choice.Class == plan.ClassHold {
			held = min(held, m.deadline)
		}
		if choice.Bound == plan.BoundToMaximum {
			held = m.deadline
		}
		at = max(at, held)
		w.leave(at, m)
		m.fault, m.notBy = choice.Class, at
	case plan.ClassHoldUntil:
		w.leave(max(m.deadline, at), m)
		if w.expires(m, at) {
			w.lose(m, step)
			return
		}
		m.fault, m.until, m.waits, m.notBy = choice.Class, choice, true, at
		w.held = append(w.held, index)
		w.k.Schedule(max(m.deadline, at), evRelease, index, 0)
		return
	case plan.ClassCutLink, plan.ClassCutNode, plan.ClassStallLink, plan.ClassStallNode:
		w.block(m, choice)
	}
	w.enqueue(m, index, at)
}

// block begins a partition with this message.
func (w *World) block(m *message, c plan.Choice) {
	until := min(w.now()+w.span(c, w.patience(m.call)), w.heal)
	w.leave(until, nil)
	to := m.to
	if c.Class == plan.ClassCutNode || c.Class == plan.ClassStallNode {
		to = 0
	}
	if c.Class == plan.ClassCutLink || c.Class == plan.ClassCutNode {
		w.net.Block(m.from, to, until, false)
		if w.arrives(m) {
			w.took(c.Class)
		}
	} else {
		w.net.Block(m.from, to, until, true)
		m.fault, m.notBy = c.Class, until
	}
}

// enqueue puts a message on its link.
func (w *World) enqueue(m *message, index int32, at int64) {
	p := w.net.Pass(w.now(), m.from, m.to)
	at = max(at, p.Until)
	if p.Lost || w.expires(m, at) {
		w.leave(at, m)
		w.lose(m, m.call.step)
		return
	}
	w.k.Schedule(at, evDeliver, index, 0)
}

// expires reports whether a message is too old to arrive at an instant: its
// life is over, unless it is the plan's choice that it outlives it.
func (w *World) expires(m *message, at int64) bool {
	return at > m.deadline && m.fault != plan.ClassHoldBeyond && !m.call.outlives
}

func (w *World) lose(m *message, step impl.Step) {
	w.mark(MarkLost, m.from, m.to, step, m.call.attempt, uint64(m.call.index))
	if m.answer == nil {
		w.see(uint64(MarkLost), uint64(m.call.index))
	}
	w.tellCharge(history.StepLost, m)
}

// arrives reports whether a message that is sent now would find somebody.
func (w *World) arrives(m *message) bool {
	return w.process(m.to).up
}

// patience is how long the caller waits.
func (w *World) patience(c *call) int64 {
	if impatience := w.cfg.Scenario.Impatience; c.op == opRequest && c.try == 1 && impatience > 0 {
		return int64(impatience)
	}
	if c.op == opRequest {
		return int64(w.timing.ClientTimeout)
	}
	return int64(w.timing.CallTimeout)
}

// finishStep lets messages go that were held until this step of this process.
func (w *World) finishStep(who plan.Process, step impl.Step) {
	for i := 0; i < len(w.held); i++ {
		m := w.messages.at(w.held[i])
		if m.waits && m.until.Step == step && m.until.Who == who {
			w.release(w.held[i], true)
			i--
		}
	}
}

// release ends a hold: because the step has ended, or the deadline has come.
func (w *World) release(index int32, met bool) {
	m := w.messages.at(index)
	if !m.waits {
		return
	}
	m.waits = false
	for i, h := range w.held {
		if h == index {
			w.held = append(w.held[:i], w.held[i+1:]...)
			break
		}
	}
	if !met {
		m.fault = plan.ClassNone
	}
	w.k.Schedule(max(w.now(), m.notBy), evDeliver, index, 0)
}

// deliver lets a message arrive. It returns the run that goes on, or begins.
func (w *World) deliver(m *message, e kernel.Event) *run {
	p := w.process(m.to)
	if w.postpone(p, e) {
		return nil
	}
	if !p.up {
		w.lose(m, m.call.step)
		return nil
	}
	if f := w.frozenUntil(m.to); f > w.now() && m.answer == nil {
		if w.expires(m, f) {
			w.lose(m, m.call.step)
			return nil
		}
		if class := w.frozeFor[frozenIndex(m.to)]; class != plan.ClassNone {
			w.took(class)
			w.frozeFor[frozenIndex(m.to)] = plan.ClassNone
		}
		w.k.Schedule(f, e.Kind(), e.A, e.B)
		return nil
	}
	w.arrived(m)
	if m.answer != nil {
		return w.deliverAnswer(m)
	}
	w.mark(MarkDeliver, m.to, m.from, m.call.step, m.call.attempt, uint64(m.call.index))
	switch m.to {
	case plan.Registry:
		w.serveRegistry(m.call)
	case plan.Provider:
		w.serveProvider(m.call)
	default:
		r := w.spawn(p, runHandle, m.call.attempt)
		r.in = m.call
		w.tellBegin(r)
		return r
	}
	return nil
}

// arrived counts what a fault did to a message that now finds somebody.
func (w *World) arrived(m *message) {
	switch m.fault {
	case plan.ClassNone:
	case plan.ClassHoldBeyond:
		if w.now() > m.deadline {
			w.took(m.fault)
		}
	default:
		if w.now() >= m.notBy {
			w.took(m.fault)
		}
	}
	m.fault = plan.ClassNone
}

func (w *World) deliverAnswer(m *message) *run {
	c := m.call
	if c.done || c.run.ended {
		w.mark(MarkStray, m.to, m.from, c.step, c.attempt, uint64(c.index))
		return nil
	}
	w.mark(MarkReturn, m.to, m.from, c.step, c.attempt, uint64(c.index))
	c.done, c.got = true, m.answer
	if c.told >= 0 {
		w.steps.Calls[c.told].Answered = m.answer.told
	}
	if c.op == opRequest {
		w.returned(c)
	}
	return c.run
}

// timeout ends the wait for an answer. The call may still happen.
func (w *World) timeout(c *call, e kernel.Event) *run {
	if c.done || c.run.ended || w.postpone(c.run.p, e) {
		return nil
	}
	w.mark(MarkTimeout, c.run.p.id, c.to, c.step, c.attempt, uint64(c.index))
	c.done = true
	if c.op == opRequest {
		if w.attemptEvent(history.KindUnanswered, c) != nil {
			w.tell()
		}
	}
	return c.run
}

func frozenIndex(p plan.Process) int {
	if p == plan.Registry {
		return 0
	}
	return 1
}

func (w *World) frozenUntil(p plan.Process) int64 {
	if p != plan.Registry && p != plan.Provider {
		return 0
	}
	return w.frozen[frozenIndex(p)]
}
