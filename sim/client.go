package sim

import (
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// spawnClient starts, or after a crash goes on with, a client's program.
func (w *World) spawnClient(p *process) {
	w.resume(w.spawn(p, runPay, plan.NewAttempt(p.id, 0, 1)))
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
		payment := impl.Payment{Scope: o.scope, Endpoint: "POST /payments", Key: o.journal, Body: o.body}
		if o.since < 0 {
			o.since = w.now()
		}
		if o.since < w.now() || p.tries[todo.Order] > 0 {
			payment.Since = epoch.Add(time.Duration(o.since))
		}
		_, err := p.client.Pay(r, payment)
		w.k.Enter() // a dead client's last words do not count
		if !final(err) {
			w.emit(history.Event{Kind: history.KindGiveUp, Process: p.id.String(), Operation: o.name})
		}
		p.step++
	}
	p.finished = true
	w.working--
}

func final(err error) bool {
	return err == nil || errors.Is(err, impl.ErrMismatch) || errors.Is(err, impl.ErrGone) || errors.Is(err, impl.ErrRefused)
}

// journal saves the key of the order that the client works on.
func (p *process) journal(key string) {
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
	replica := (p.id.Index() - 1 + try - 1) % w.cfg.Scenario.Servers
	a := w.exchange(c, plan.Server|plan.Process(replica+1), w.patience(c))
	return a.reply, a.err
}

// called tells the history that an attempt is made.
func (w *World) called(c *call) {
	o := &w.orders[c.order-1]
	w.emit(history.Event{
		Kind: history.KindCall, Process: c.run.p.id.String(), Operation: o.name, Attempt: c.try,
		Scope: c.req.Scope, Key: c.req.Key, Fingerprint: o.fingerprint, Amount: o.Amount, Currency: o.Currency,
	})
}

// reply sends a handler's answer. One that returns context.Canceled has hung
// up: nothing is sent.
func (w *World) reply(r *run, reply impl.Reply, err error) {
	w.k.Enter() // what a dead handler returns is discarded
	if err == context.Canceled {
		return
	}
	a, _ := w.answers.take()
	a.reply, a.err = reply, err
	if err == nil && !r.wrote {
		w.met(Replayed)
	}
	w.postAnswer(r.in, a)
}

// returned tells the history what a client heard.
func (w *World) returned(c *call) {
	o := &w.orders[c.order-1]
	reply, err := &c.got.reply, c.got.err
	e := history.Event{
		Kind: history.KindReturn, Process: c.run.p.id.String(), Operation: o.name, Attempt: c.try, Scope: c.req.Scope, Key: c.req.Key,
	}
	switch {
	case err == nil:
		e.Outcome, e.Status, e.Body = outcomes[reply.Outcome], reply.Status, digestReply(reply)
		e.Replayed, e.Charge = reply.Replayed, reply.ChargeID
		if reply.Outcome == impl.OutcomePaid {
			if amount, err := w.amountOf(reply.Body); err == nil {
				e.Amount, e.Currency = amount.Minor, amount.Currency
			}
		}
	case errors.Is(err, impl.ErrInProgress):
		e.Outcome, e.Status = history.OutcomeInProgress, 409
		w.met(InProgress)
	case errors.Is(err, impl.ErrMismatch):
		e.Outcome, e.Status = history.OutcomeMismatch, 422
		w.met(Mismatch)
	case errors.Is(err, impl.ErrGone):
		e.Outcome, e.Status = history.OutcomeGone, 410
		w.met(Gone)
	case errors.Is(err, impl.ErrRefused):
		e.Outcome, e.Status = history.OutcomeRefused, 400
	default: // whatever else a handler returns is an error page that says nothing of the money
		e.Outcome, e.Status = history.OutcomeUnavailable, 503
		w.met(Unavailable)
	}
	w.hash.word(uint64(e.Outcome)<<32 | uint64(e.Status))
	w.hash.word(e.Body)
	w.emit(e)
}

// amountOf parses the amount out of a reply; equal replies come again in all runs.
func (w *World) amountOf(body []byte) (impl.Amount, error) {
	if a, ok := w.amounts[string(body)]; ok {
		return a, nil
	}
	a, err := impl.ParseAmount(body)
	if err == nil {
		if len(w.amounts) > 4096 || w.amounts == nil {
			w.amounts = map[string]impl.Amount{}
		}
		w.amounts[string(body)] = a
	}
	return a, err
}
