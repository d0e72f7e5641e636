package sim

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// spawnClient starts, or after a crash goes on with, a client's program.
func (w *World) spawnClient(p *process) *run {
	return w.spawn(p, runPay, plan.NewAttempt(p.id, 0, 1))
}

// pay is a client's program: one Pay after the other.
func (w *World) pay(r *run) {
	p := r.p
	for p.step < len(p.program) {
		todo := p.program[p.step]
		if wait := int64(todo.At) - w.now(); wait > 0 {
			_ = p.Sleep(r, time.Duration(wait))
		}
		o := &w.orders[todo.Order-1]
		r.order = todo.Order
		payment := impl.Payment{Scope: o.scope, Endpoint: o.Endpoint, Key: o.journal, Body: o.body}
		if o.since < 0 {
			o.since = w.now()
		}
		if o.since < w.now() || p.tries[todo.Order] > 0 {
			payment.Since = epoch.Add(time.Duration(o.since))
		}
		_, err := p.client.Pay(r, payment)
		w.k.Enter() // a dead client's last words do not count
		if !final(err) {
			w.tellOf(history.KindGiveUp, p.id.String(), o.name)
		}
		p.step++
	}
	p.finished = true
	w.working--
}

func final(err error) bool {
	return err == nil || errors.Is(err, impl.ErrMismatch) || errors.Is(err, impl.ErrGone) || errors.Is(err, impl.ErrRefused)
}

// saveKey is the journal of a client: it saves the key of the order that the
// client works on.
func (p *process) saveKey(key string) {
	r := p.enter()
	if r.order > 0 && p.w.orders[r.order-1].journal == "" {
		p.w.orders[r.order-1].journal = key
	}
}

// Send is the transport of a client: each attempt goes to the next replica.
func (p *process) Send(_ context.Context, req impl.Request) (impl.Reply, error) {
	r, w := p.enter(), p.w
	p.tries[r.order]++
	try := p.tries[r.order]
	r.attempt = plan.NewAttempt(p.id, r.order, try)
	c := w.newCall(r, opRequest, impl.StepRequest)
	c.req, c.try = req, try
	replica := w.servers[(p.id.Index()-1+try-1)%len(w.servers)]
	a := w.exchange(c, replica, w.patience(c))
	return a.reply, a.err
}

// called tells the history that an attempt is made.
func (w *World) called(c *call) {
	if e := w.attemptEvent(history.KindCall, c); e != nil {
		o := &w.orders[c.order-1]
		e.Fingerprint, e.Amount, e.Currency = o.fingerprint, o.Amount, o.Currency
		w.tell()
	}
}

// attemptEvent begins an event about a client's attempt.
func (w *World) attemptEvent(kind history.Kind, c *call) *history.Event {
	e := w.event(kind, c.run.p.id.String())
	if e != nil {
		e.Operation, e.Attempt, e.Scope, e.Key = w.orders[c.order-1].name, c.try, c.req.Scope, c.req.Key
	}
	return e
}

// reply sends a handler's answer. One that returns context.Canceled has hung
// up: nothing is sent.
func (w *World) reply(r *run, reply impl.Reply, err error) {
	w.k.Enter() // what a dead handler returns is discarded
	w.tellEnd(r, &reply, err)
	if err == context.Canceled {
		return
	}
	a := w.newAnswer()
	a.reply, a.err = reply, err
	if err == nil && !r.wrote {
		w.met(Replayed)
	}
	w.postAnswer(r.in, a)
}

// returned tells the history what a client heard.
func (w *World) returned(c *call) {
	reply, err := &c.got.reply, c.got.err
	outcome, status, body := outcomeOf(reply, err), 0, uint64(0)
	switch outcome {
	case history.OutcomeInProgress:
		status = 409
		w.met(InProgress)
	case history.OutcomeMismatch:
		status = 422
		w.met(Mismatch)
	case history.OutcomeGone:
		status = 410
		w.met(Gone)
	case history.OutcomeRefused:
		status = 400
	case history.OutcomeUnavailable:
		status = 503
		w.met(Unavailable)
	default:
		status, body = reply.Status, digestReply(reply)
	}
	w.hash.word(uint64(outcome)<<32 | uint64(status))
	w.hash.word(body)
	e := w.attemptEvent(history.KindReturn, c)
	if e == nil {
		return
	}
	e.Outcome, e.Status, e.Body = outcome, status, body
	if err == nil {
		e.Replayed, e.Charge = reply.Replayed, reply.ChargeID
		if reply.Outcome == impl.OutcomePaid {
			if amount, err := w.amountOf(reply.Body); err == nil {
				e.Amount, e.Currency = amount.Minor, amount.Currency
			}
		}
	}
	w.tell()
}

// amountOf parses the amount out of a reply; equal replies come again in all
// runs.
func (w *World) amountOf(body []byte) (impl.Amount, error) {
	if len(body) > 0 && bytes.Equal(body, w.lastReply) {
		return w.lastAmount, nil
	}
	a, ok := w.amounts[string(body)]
	if !ok {
		var err error
		if a, err = impl.ParseAmount(body); err != nil {
			return a, err
		}
		if len(w.amounts) > 4096 || w.amounts == nil {
			w.amounts = map[string]impl.Amount{}
		}
		w.amounts[string(body)] = a
	}
	w.lastReply, w.lastAmount = append(w.lastReply[:0], body...), a
	return a, nil
}
