package sim

import (
	"errors"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// sendCharge tells the history that a charge request leaves.
func (w *World) sendCharge(c *call) {
	if e := w.event(history.KindSend, c.run.p.id.String()); e != nil {
		e.Operation, e.ProviderKey, e.Request, e.Run = w.orderName(c.order), sentKey(c), w.digestRequest(c.charge.Body), c.run.name
		w.tell()
	}
}

// sentKey is the provider key that a charge went under, or the reference where
// it has none.
func sentKey(c *call) string {
	if c.charge.Key != "" {
		return c.charge.Key
	}
	return c.charge.Ref
}

// serveProvider lets a request reach the provider.
func (w *World) serveProvider(c *call) {
	_, choice := w.ask(plan.WhatServe, plan.Provider, 0, c.step, c.attempt)
	if choice.Class == plan.ClassFreeze {
		w.freeze(plan.Provider, choice, c)
		return
	}
	a := w.newAnswer()
	if choice.Class == plan.ClassFailBefore {
		w.took(choice.Class)
		w.fail(c)
		a.err = &impl.ProviderError{Status: 500}
		w.tellFailed(c)
		w.postAnswer(c, a)
		return
	}
	switch c.op {
	case opCharge:
		w.serveCharge(c, a, choice)
	case opLookup:
		w.serveLookup(c, a, choice)
	case opRefund:
		w.serveRefund(c, a)
	}
	if choice.Class == plan.ClassFailAfter && a.err == nil {
		w.took(choice.Class)
		w.fail(c)
		a.told = history.Nowhere // a different answer
		a.err, a.result, a.charges = &impl.ProviderError{Status: 500}, impl.ChargeResult{}, a.charges[:0]
	}
	w.postAnswer(c, a)
}

func (c *call) arrival(at int64) provider.Arrival {
	return provider.Arrival{At: at, Request: c.charge, Intent: c.order}
}

// fail lets the provider note that it answers a charge by a failure.
func (w *World) fail(c *call) {
	if c.op == opCharge {
		w.provider.Fail(c.arrival(w.now()))
	}
}

func (w *World) serveCharge(c *call, a *answer, choice plan.Choice) {
	arrival := c.arrival(w.now())
	switch choice.Class {
	case plan.ClassForgetKeys:
		if w.provider.Forget(c.charge.Key, w.now()) {
			w.took(choice.Class)
		}
	case plan.ClassDecline:
		arrival.Decline = true
	case plan.ClassLate:
		if w.provider.Pending(arrival) {
			w.took(choice.Class)
			at := w.now() + w.span(choice, int64(w.timing.CallTimeout))
			w.k.Schedule(min(at, c.permit+int64(w.service.MessageLifetime)), evLand, c.index, 0)
			w.fail(c)
			a.err = &impl.ProviderError{Status: 500}
			return
		}
	}
	l := w.provider.Charge(arrival)
	w.landed(c, &l)
	a.told = w.tellLanded(c, &l)
	if choice.Class == plan.ClassDecline && l.Kind == provider.Refused && !provider.Declines(c.charge.Body) {
		w.took(choice.Class)
	}
	switch l.Kind {
	case provider.Captured, provider.Absorbed:
		a.result = impl.ChargeResult{Approved: true, ChargeID: l.ChargeID}
	case provider.Refused:
		a.result = impl.ChargeResult{Code: l.Code}
	case provider.Rejected:
		a.err = &impl.ProviderError{Status: l.Status}
	}
}

// landLate applies a charge that the provider has answered before.
func (w *World) landLate(c *call) {
	l := w.provider.Land(c.arrival(w.now()))
	w.landed(c, &l)
	w.tellLanded(c, &l)
}

// landed writes what became of a charge request into the history.
func (w *World) landed(c *call, l *provider.Landing) {
	kind := history.KindCharge
	switch l.Kind {
	case provider.Captured:
		c.run.charged = true
	case provider.Absorbed:
		kind = history.KindAbsorbed
		c.run.charged = true
		w.met(Absorbed)
	case provider.Refused:
		kind = history.KindRefusal
		w.met(Declined)
	default:
		w.mark(MarkSettle, plan.Provider, c.run.p.id, c.step, c.attempt, uint64(l.Status))
		return
	}
	w.mark(MarkSettle, plan.Provider, c.run.p.id, c.step, c.attempt, uint64(l.Kind)<<32|uint64(l.Entry))
	e := w.event(kind, plan.Provider.String())
	if e == nil {
		return
	}
	e.Operation, e.ProviderKey = w.orderName(c.order), sentKey(c)
	if c.order > 0 {
		e.Scope = w.orders[c.order-1].scope
	}
	e.Charge, e.Amount, e.Currency = l.ChargeID, l.Amount.Minor, l.Amount.Currency
	w.tell()
}

func (w *World) serveLookup(c *call, a *answer, choice plan.Choice) {
	before := w.now() + 1
	switch choice.Class {
	case plan.ClassLag:
		before = w.now() - int64(w.service.LookupLag)
	case plan.ClassLagBeyond:
		w.lagUntil = w.now() + w.span(plan.Choice{Bound: plan.BoundPastMaximum}, 0)
	}
	class := choice.Class
	if w.lagUntil > w.now() {
		before, class = 0, plan.ClassLagBeyond
	}
	var hidden int
	a.charges, hidden = w.provider.Lookup(a.charges, c.ref, before)
	if hidden > 0 {
		w.took(class)
	}
	a.told = w.tellFound(c, len(a.charges), hidden)
	w.mark(MarkSettle, plan.Provider, c.run.p.id, c.step, c.attempt, uint64(len(a.charges)))
}

func (w *World) serveRefund(c *call, a *answer) {
	entry, moved, err := w.provider.Refund(c.refund, w.now())
	switch {
	case errors.Is(err, provider.ErrRefunded):
		a.err = &impl.ProviderError{Status: 409}
	case err != nil:
		a.err = &impl.ProviderError{Status: 404}
	case !moved:
	default:
		w.met(Refunded)
		w.mark(MarkSettle, plan.Provider, c.run.p.id, c.step, c.attempt, 1<<40)
		if e := w.event(history.KindRefund, plan.Provider.String()); e != nil {
			e.Operation, e.Charge, e.Amount, e.Currency = w.orderName(entry.Intent), entry.ID, entry.Amount, entry.Currency
			w.tell()
		}
	}
}

// compareLeases counts a clock that is off as soon as it makes a lease look
// over that is not, or the other way about.
func (w *World) compareLeases(p *process) {
	now := w.now()
	for i := range w.records {
		m := &w.records[i]
		if !m.gone && !m.state.Terminal() && (m.lease < now) != (m.lease < now+p.offset) {
			w.took(p.clockClass)
			return
		}
	}
}
