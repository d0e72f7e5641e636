package invariant

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
)

// called notes an attempt and judges what a client must keep: one key, one
// scope, and one payment under one fingerprint.
func (c *Checker) called(e *history.Event) {
	if e.Operation == "" {
		return
	}
	o, i := c.operation(e.Operation), none
	if e.Key != "" {
		i = c.identity(e.Scope, e.Key)
	}
	op := c.operations.at(o)
	if len(op.asked) == 0 {
		op.begun, op.firstCall = c.header.Complete || e.Attempt <= 1, e.At
		c.adopt(o, i)
	} else if i != op.identity {
		c.calledOtherwise(e, o, i)
	}
	op.lastCall = e.At
	asked := parameters{e.Fingerprint, e.Amount, e.Currency}
	c.ask(e, op, asked)
	if i != none {
		c.identities.at(i).calledWith(e.Fingerprint)
	}
	op.open = append(op.open, attempt{e.Process, e.Attempt, i, asked})
}

// adopt makes an identity the one that an operation is called with.
func (c *Checker) adopt(o, i int) {
	c.operations.at(o).identity = i
	if i != none {
		id := c.identities.at(i)
		id.operations = append(id.operations, o)
	}
}

func (id *identity) calledWith(fingerprint string) {
	switch {
	case id.fingerprint == "":
		id.fingerprint = fingerprint
	case fingerprint != "" && fingerprint != id.fingerprint:
		id.disputed = true
	}
}

// calledOtherwise judges a call that does not name what the first call named.
func (c *Checker) calledOtherwise(e *history.Event, o, i int) {
	op := c.operations.at(o)
	var was identityName
	if op.identity != none {
		was = c.identities.names[op.identity]
	}
	if !c.header.Complete && (was.key == "" || was.scope == "" || e.Key == "" || e.Scope == "") {
		if op.identity == none {
			c.adopt(o, i)
		}
		return
	}
	if was.key != e.Key && c.holds(StableProviderKey) {
		c.violate(StableProviderKey, e.Operation, fmt.Sprintf("%s asked for %s with key %s and now with %s: two keys for one payment of %s",
			e.Process, e.Operation, or(was.key, "none"), or(e.Key, "none"), money(e.Amount, e.Currency)))
	}
	if was.scope != e.Scope && was.key != "" && c.holds(ScopeIsolation) {
		c.violate(ScopeIsolation, e.Operation, fmt.Sprintf("%s asked for %s in scope %q and now in %q",
			e.Process, e.Operation, was.scope, e.Scope))
	}
}

// ask notes what an operation was called with. A fingerprint that stands for
// two payments binds nothing.
func (c *Checker) ask(e *history.Event, op *operation, asked parameters) {
	for i := range op.asked {
		known := &op.asked[i]
		if known.fingerprint != asked.fingerprint {
			continue
		}
		if c.sameMoney(*known, asked.amount, asked.currency) {
			return
		}
		if asked.fingerprint != "" && c.holds(FingerprintBound) {
			c.violate(FingerprintBound, e.Operation, fmt.Sprintf("%s asked for %s of %s and of %s with one fingerprint %s",
				e.Process, e.Operation, money(known.amount, known.currency), money(asked.amount, asked.currency), asked.fingerprint))
		}
	}
	op.asked = append(op.asked, asked)
}

// answered takes the attempt that an event answers off the open ones. One
// that was never seen is taken for an ordinary attempt of its operation.
func (op *operation) answered(e *history.Event) attempt {
	for i := len(op.open) - 1; i >= 0; i-- {
		if op.open[i].number != e.Attempt || op.open[i].process != e.Process {
			continue
		}
		last := len(op.open) - 1
		a := op.open[i]
		op.open[i] = op.open[last]
		op.open = op.open[:last]
		return a
	}
	a := attempt{identity: op.identity}
	if len(op.asked) == 1 {
		a.parameters = op.asked[0]
	}
	return a
}

// returned judges an answer.
func (c *Checker) returned(e *history.Event) {
	if e.Operation == "" {
		return
	}
	o := c.operation(e.Operation)
	op := c.operations.at(o)
	a := op.answered(e)
	c.judgeReplyScope(e, &a)
	c.judgeStatus(e)
	switch e.Outcome {
	case history.OutcomePaid:
		c.judgePaid(e, o, &a)
		c.judgeStable(e, o, &a)
		c.judgeBound(e, &a)
	case history.OutcomeDeclined, history.OutcomeFailed:
		c.judgeDenied(e, o)
		c.judgeStable(e, o, &a)
		c.judgeBound(e, &a)
	case history.OutcomeMismatch:
		c.judgeMismatch(e, &a)
		// "Not with these parameters" says that they were not charged either,
		// unless the operation was asked for with others too.
		if c.header.Complete && len(op.asked) == 1 {
			c.judgeDenied(e, o)
		}
	case history.OutcomeGone:
		c.judgeGone(e, &a)
		c.judgeBound(e, &a)
	case history.OutcomeInProgress:
		c.judgeBound(e, &a)
		c.judgeWedged(e, op)
	case history.OutcomeUnavailable:
		c.judgeWedged(e, op)
	}
	if e.Outcome.Final() {
		op.final = true
	}
}

// unanswered notes that an attempt got no answer.
func (c *Checker) unanswered(e *history.Event) {
	if e.Operation == "" {
		return
	}
	op := c.operations.at(c.operation(e.Operation))
	a := op.answered(e)
	c.judgeReplyScope(e, &a)
	c.judgeWedged(e, op)
}

// gaveUp notes that a client stopped asking.
func (c *Checker) gaveUp(e *history.Event) {
	if e.Operation == "" {
		return
	}
	op := c.operations.at(c.operation(e.Operation))
	if op.gaveUp == "" {
		op.gaveUp = or(e.Process, "its client")
	}
}
