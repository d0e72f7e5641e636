package history

import (
	"fmt"
	"strings"
)

// WellFormed finds the first event that contradicts itself or one before it:
// an answer without a call or with another key than its call, an outcome with
// a status that does not fit, a ledger line that names a charge that the
// ledger does not have. It returns an *Inconsistency, or nil.
//
// It is cheaper and more exact than the checkers, which take such histories
// for granted; it judges nothing that they judge.
func WellFormed(_ Header, events []Event) error {
	w := ledgerAndCalls{calls: make(map[attempt]*Event), charges: make(map[string]*Event), prints: make(map[print]*Event)}
	for i := range events {
		if invariant, p := w.next(&events[i]); p.found() {
			return &Inconsistency{i + 2, invariant, p.want, p.got}
		}
	}
	return nil
}

// ledgerAndCalls is what later events are compared with.
type ledgerAndCalls struct {
	sequence sequence
	calls    map[attempt]*Event
	charges  map[string]*Event
	prints   map[print]*Event
}

// print is what must always stand for the same amount.
type print struct{ scope, key, fingerprint string }

func (w *ledgerAndCalls) next(e *Event) (invariant string, p problem) {
	if p := w.sequence.next(e); p.found() {
		return "WellFormed", p
	}
	switch e.Kind {
	case KindCall:
		return "FingerprintBound", w.call(e)
	case KindReturn:
		if p := w.sameAsCall(e); p.found() {
			return "WellFormed", p
		}
		return "TruthfulReply", fits(e)
	case KindUnanswered:
		return "WellFormed", w.sameAsCall(e)
	case KindCharge:
		if _, known := w.charges[e.Charge]; known {
			return "SingleCharge", problem{"a new charge", "another capture of " + quote(e.Charge)}
		}
		w.charges[e.Charge] = e
	case KindAbsorbed:
		return "WellFormed", w.absorbed(e)
	case KindRefund:
		return "BoundedRefunds", w.refund(e)
	case KindWrite:
		if e.Outcome != OutcomeNone && e.Status != 0 {
			return "TruthfulReply", fits(e)
		}
	}
	return "", problem{}
}

// call compares the amounts of calls with one fingerprint.
func (w *ledgerAndCalls) call(e *Event) problem {
	w.calls[attempt{e.Operation, e.Process, e.Attempt}] = e
	if e.Amount == 0 {
		return problem{}
	}
	name := print{e.Scope, e.Key, e.Fingerprint}
	first, known := w.prints[name]
	if !known {
		w.prints[name] = e
		return problem{}
	}
	return sameMoney(e, first, "the fingerprint "+quote(e.Fingerprint)+" as before")
}

func (w *ledgerAndCalls) sameAsCall(e *Event) problem {
	call := w.calls[attempt{e.Operation, e.Process, e.Attempt}]
	switch {
	case e.Scope != "" && e.Scope != call.Scope:
		return problem{"the scope of the call, " + quote(call.Scope), quote(e.Scope)}
	case e.Key != "" && e.Key != call.Key:
		return problem{"the key of the call, " + quote(call.Key), quote(e.Key)}
	}
	return problem{}
}

// absorbed does not compare operations: that the request of one operation met
// the key of another is what happened, and for the checkers to judge.
func (w *ledgerAndCalls) absorbed(e *Event) problem {
	if e.Charge == "" {
		return problem{}
	}
	charge, known := w.charges[e.Charge]
	switch {
	case !known:
		return problem{"a charge that was captured before", quote(e.Charge)}
	case e.ProviderKey != "" && e.ProviderKey != charge.ProviderKey:
		return problem{"the provider key of the charge, " + quote(charge.ProviderKey), quote(e.ProviderKey)}
	}
	return sameMoney(e, charge, "charge "+quote(e.Charge))
}

func (w *ledgerAndCalls) refund(e *Event) problem {
	charge, known := w.charges[e.Charge]
	switch {
	case !known:
		return problem{"a charge that was captured before", quote(e.Charge)}
	case e.Operation != charge.Operation:
		return problem{"the operation of the charge, " + quote(charge.Operation), quote(e.Operation)}
	}
	return sameMoney(e, charge, "charge "+quote(e.Charge))
}

func sameMoney(e, first *Event, what string) problem {
	if e.Amount == 0 || e.Amount == first.Amount && e.Currency == first.Currency {
		return problem{}
	}
	return problem{
		fmt.Sprintf("%d %s with %s", first.Amount, first.Currency, what),
		fmt.Sprintf("%d %s", e.Amount, e.Currency),
	}
}

// fits compares outcome and status.
func fits(e *Event) problem {
	if e.Outcome.Fits(e.Status) {
		return problem{}
	}
	want := strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Outcome.Statuses()), " ", " or "), "[]")
	return problem{fmt.Sprintf("status %s with outcome %v", want, e.Outcome), fmt.Sprint(e.Status)}
}
