package sim

import (
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// The functions here write down what a run does inside, for whoever asked for
// it with Options.Steps. They decide nothing, and a run is the same without
// them.

var verbs = [...]history.Verb{
	opInsert: history.VerbInsert, opGet: history.VerbGet, opUpdate: history.VerbUpdate, opDelete: history.VerbDelete,
	opUnfinished: history.VerbUnfinished, opExpired: history.VerbExpired,
	opCharge: history.VerbCharge, opLookup: history.VerbLookup, opRefund: history.VerbRefund,
}

// newStep adds a step, to be filled in where it lies.
func (w *World) newStep(kind history.StepKind, run, call int32) *history.Step {
	s := w.steps
	if len(s.Steps) == cap(s.Steps) {
		s.Steps = append(s.Steps, history.Step{})
	} else {
		s.Steps = s.Steps[:len(s.Steps)+1]
	}
	e := &s.Steps[len(s.Steps)-1]
	*e = history.Step{Kind: kind, At: time.Duration(w.now()), Events: int32(w.told), Run: run, Call: call}
	return e
}

// operationOf returns the number of an operation. A run has few.
func (w *World) operationOf(id impl.ID) int32 {
	all := w.steps.Operations
	for i := range all {
		if all[i].Key == id.Key && all[i].Scope == id.Scope {
			return int32(i)
		}
	}
	w.steps.Operations = append(all, history.OperationName{Scope: id.Scope, Key: id.Key})
	return int32(len(all))
}

func (w *World) tellBegin(r *run) {
	if w.steps == nil {
		return
	}
	r.told = int32(len(w.steps.Runs))
	told := history.Run{Name: r.name, Reconciler: r.kind == runReconcile}
	if !told.Reconciler {
		o := &w.orders[r.order-1]
		told.Operation = w.operationOf(impl.ID{Scope: r.in.req.Scope, Key: r.in.req.Key})
		told.Order, told.Fingerprint, told.Asked = o.name, o.fingerprint, time.Duration(r.in.permit)
	}
	w.steps.Runs = append(w.steps.Runs, told)
	w.newStep(history.StepBegin, r.told, history.Nowhere)
}

func (w *World) tellEnd(r *run, reply *impl.Reply, err error) {
	if r.told < 0 {
		return
	}
	e := w.newStep(history.StepEnd, r.told, history.Nowhere)
	if reply != nil {
		e.Outcome, e.Charge = outcomeOf(reply, err), reply.ChargeID
	}
}

// outcomeOf is what a client makes of an answer. Whatever else a handler
// returns is an error page that says nothing of the money.
func outcomeOf(reply *impl.Reply, err error) history.Outcome {
	switch {
	case err == nil && reply.Outcome != impl.OutcomeNone:
		return outcomes[reply.Outcome]
	case err == nil && reply.Status == 409, errors.Is(err, impl.ErrInProgress):
		return history.OutcomeInProgress
	case errors.Is(err, impl.ErrMismatch):
		return history.OutcomeMismatch
	case errors.Is(err, impl.ErrGone):
		return history.OutcomeGone
	case errors.Is(err, impl.ErrRefused):
		return history.OutcomeRefused
	default:
		return history.OutcomeUnavailable
	}
}

func (w *World) tellDied(r *run) {
	if r.told >= 0 {
		w.newStep(history.StepDied, r.told, history.Nowhere)
	}
}

// tellCall tells of a call before it leaves: its process may still stop.
func (w *World) tellCall(c *call) {
	s := w.steps
	c.told = int32(len(s.Calls))
	told := history.Call{
		Verb: verbs[c.op], Purpose: c.step.String(), Run: c.run.told,
		Operation: history.Nowhere, Applied: history.Nowhere, Answered: history.Nowhere,
	}
	switch c.op {
	case opInsert, opUpdate:
		rec := &c.rec
		told.Operation, told.Ref, told.Version = w.operationOf(rec.ID), rec.ProviderKey, c.fence.Version
		told.State, told.Charge, told.Fingerprint, told.Tombstone = history.State(rec.State), rec.ChargeID, rec.Fingerprint, rec.Tombstone
		told.WindowFrom, told.LeaseUntil = time.Duration(nanos(rec.WindowFrom)), time.Duration(nanos(rec.LeaseUntil))
		if len(rec.Request) > 0 {
			told.Request = w.digestRequest(rec.Request)
		}
		if rec.State.Terminal() {
			told.Outcome = outcomes[rec.Reply.Outcome]
		}
		if c.op == opInsert {
			told.Version = 0
		}
	case opGet, opDelete:
		told.Operation, told.Version = w.operationOf(c.id), c.fence.Version
		if c.op == opGet {
			told.Version = 0
		}
	case opCharge:
		told.Ref, told.Request = c.charge.Ref, w.digestRequest(c.charge.Body)
	case opLookup:
		told.Ref = c.ref
	}
	s.Calls = append(s.Calls, told)
	w.newStep(history.StepCall, c.run.told, c.told)
}

// tellCharge tells of one copy of a charge request.
func (w *World) tellCharge(kind history.StepKind, m *message) {
	if c := m.call; c.told >= 0 && c.op == opCharge && m.answer == nil {
		w.newStep(kind, c.run.told, c.told)
	}
}

// tellFailed tells that the provider did not look at a request.
func (w *World) tellFailed(c *call) {
	if c.told >= 0 && c.op == opCharge {
		w.newStep(history.StepLost, c.run.told, c.told)
	}
}

// tellStored tells what the registry did with a request.
func (w *World) tellStored(c *call, a *answer) {
	told := &w.steps.Calls[c.told]
	a.told = int32(len(w.steps.Steps))
	e := w.newStep(history.StepServed, c.run.told, c.told)
	switch {
	case errors.Is(a.err, impl.ErrConflict):
		e.Result = history.ResultConflict
	case a.err != nil:
		e.Result = history.ResultUnapplied
	case c.op == opUpdate:
		e.Result, e.Version, e.State, e.Tombstone = history.ResultApplied, c.fence.Version+1, told.State, told.Tombstone
		told.Applied = a.told
	case c.op == opDelete:
		e.Result = history.ResultApplied
		told.Applied = a.told
	case c.op == opUnfinished, c.op == opExpired:
		e.Result = history.ResultListed
		for i := range a.list {
			rec := &a.list[i]
			operation := w.operationOf(rec.ID)
			l := w.newStep(history.StepListed, c.run.told, c.told)
			l.Operation, l.Version, l.State, l.Tombstone = operation, rec.Version, history.State(rec.State), rec.Tombstone
		}
	case c.op == opGet && !a.ok:
		e.Result = history.ResultAbsent
	default:
		e.Result, e.Version, e.State, e.Tombstone = history.ResultShown, a.rec.Version, history.State(a.rec.State), a.rec.Tombstone
		if c.op == opInsert && a.ok {
			e.Result = history.ResultApplied
			told.Applied = a.told
		}
	}
}

// tellLanded tells what became of a charge request, and returns the step.
func (w *World) tellLanded(c *call, l *provider.Landing) int32 {
	if c.told < 0 {
		return history.Nowhere
	}
	at := int32(len(w.steps.Steps))
	e := w.newStep(history.StepServed, c.run.told, c.told)
	e.Charge = l.ChargeID
	switch l.Kind {
	case provider.Captured:
		e.Result = history.ResultCaptured
	case provider.Absorbed:
		e.Result = history.ResultAbsorbed
	case provider.Refused:
		e.Result = history.ResultDeclined
	default:
		e.Result = history.ResultRejected
	}
	return at
}

// tellFound tells what a look-up shows, and returns the step.
func (w *World) tellFound(c *call, found, hidden int) int32 {
	if c.told < 0 {
		return history.Nowhere
	}
	at := int32(len(w.steps.Steps))
	e := w.newStep(history.StepServed, c.run.told, c.told)
	e.Result, e.Found, e.Hidden = history.ResultFound, int32(found), int32(hidden)
	return at
}
