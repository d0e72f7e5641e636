package invariant

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges whose reply it is: FingerprintBound, ScopeIsolation.

// boundTo reports whether a record belongs to calls of a fingerprint. What is
// not stated fits, and a record that was forgotten and claimed again may
// still be told as it was.
func (c *Checker) boundTo(id *identity, fingerprint string) bool {
	return id.bound == fingerprint || fingerprint == "" || id.bound == "" || id.boundBefore == fingerprint
}

// judgeBound judges an answer that says something of the operation: the
// record behind it must be bound to the parameters that were asked for.
func (c *Checker) judgeBound(e *history.Event, a *attempt) {
	if a.identity == none {
		return
	}
	id := c.identities.at(a.identity)
	if c.boundTo(id, a.fingerprint) || !c.holds(FingerprintBound) {
		return
	}
	holder := c.nameOf(c.holder(id))
	c.violate(FingerprintBound, e.Operation, fmt.Sprintf("%s asked for %s of %s and heard %q from the record of %s, which is bound to fingerprint %s and not to %s",
		e.Process, e.Operation, money(a.amount, a.currency), outcomeWord(e.Outcome), or(holder, "another operation"), id.bound, a.fingerprint))
}

// judgeClaimed judges a claim: it binds the key to parameters that somebody
// has asked for.
func (c *Checker) judgeClaimed(e *history.Event, i int) {
	id := c.identities.at(i)
	if !c.header.Complete || len(id.operations) == 0 || !c.holds(FingerprintBound) {
		return
	}
	for _, o := range id.operations {
		if c.operations.at(o).askedFor(e.Fingerprint) {
			return
		}
	}
	c.violate(FingerprintBound, c.nameOf(id.operations[0]), fmt.Sprintf("%s bound the record of %s to fingerprint %s, which nobody asked for",
		or(e.Run, "a run"), c.nameOf(id.operations[0]), e.Fingerprint))
}

// judgeMismatch judges "the key was used with other parameters". A history
// that may lack calls cannot tell.
func (c *Checker) judgeMismatch(e *history.Event, a *attempt) {
	if !c.header.Complete || a.identity == none {
		return
	}
	id := c.identities.at(a.identity)
	own := id.bound == a.fingerprint && (id.boundBefore == "" || id.boundBefore == a.fingerprint)
	if id.disputed && !own || !c.holds(FingerprintBound) {
		return
	}
	c.violate(FingerprintBound, e.Operation, fmt.Sprintf("%s heard %q for %s, whose key is bound to no other parameters than its own",
		e.Process, outcomeWord(e.Outcome), e.Operation))
}

// judgeCrossing judges for whom a charge was captured or told before.
func (c *Checker) judgeCrossing(e *history.Event, o int, a *attempt, k int) {
	ch := c.charges.at(k)
	for _, other := range [2]int{ch.operation, ch.toldTo} {
		if other == none || other == o {
			continue
		}
		op := c.operations.at(other)
		if !op.askedFor(a.fingerprint) && len(op.asked) > 0 && c.holds(FingerprintBound) {
			c.violate(FingerprintBound, e.Operation, fmt.Sprintf("%s asked for %s of %s and heard of %s, the charge of %s, which has other parameters",
				e.Process, e.Operation, money(a.amount, a.currency), e.Charge, c.nameOf(other)))
		}
		c.judgeSameScope(o, other, e.Charge)
	}
	if ch.told && ch.toldTo == o && ch.toldFor != a.fingerprint && ch.toldFor != "" && a.fingerprint != "" && c.holds(FingerprintBound) {
		c.violate(FingerprintBound, e.Operation, fmt.Sprintf("%s heard of %s for %s with fingerprint %s, and before with fingerprint %s",
			e.Process, e.Charge, e.Operation, a.fingerprint, ch.toldFor))
	}
}

// judgeSameScope judges a charge that two operations have to do with.
func (c *Checker) judgeSameScope(o, other int, chargeID string) {
	mine, theirs := c.scopeOf(o), c.scopeOf(other)
	if mine == theirs || mine == "" || theirs == "" || !c.holds(ScopeIsolation) {
		return
	}
	c.violate(ScopeIsolation, c.nameOf(o), fmt.Sprintf("%s, the charge of %s in scope %q, reached %s in scope %q",
		chargeID, c.nameOf(other), theirs, c.nameOf(o), mine))
}

// scopeOf returns the scope that an operation is called in, empty if that is
// not known.
func (c *Checker) scopeOf(o int) string {
	if i := c.operations.at(o).identity; i != none {
		return c.identities.names[i].scope
	}
	return ""
}

// tell notes that "paid" was told of a charge.
func (c *Checker) tell(o int, a *attempt, k int) {
	ch := c.charges.at(k)
	if !ch.told {
		ch.told, ch.toldTo, ch.toldFor = true, o, a.fingerprint
	}
}

// judgeReplyScope judges whether an answer carries the name that was asked.
func (c *Checker) judgeReplyScope(e *history.Event, a *attempt) {
	if a.identity == none {
		return
	}
	asked := c.identities.names[a.identity]
	scope := e.Scope == asked.scope || e.Scope == "" || asked.scope == "" && !c.header.Complete
	if scope && (e.Key == asked.key || e.Key == "") || !c.holds(ScopeIsolation) {
		return
	}
	c.violate(ScopeIsolation, e.Operation, fmt.Sprintf("%s asked for %s under key %s in scope %q and was answered under key %s in scope %q",
		e.Process, e.Operation, asked.key, asked.scope, or(e.Key, asked.key), or(e.Scope, asked.scope)))
}

// judgeLineScope judges the scope that a ledger line states.
func (c *Checker) judgeLineScope(e *history.Event, o int) {
	if e.Scope == "" || o == none {
		return
	}
	scope := c.scopeOf(o)
	if scope == e.Scope || scope == "" || !c.holds(ScopeIsolation) {
		return
	}
	c.violate(ScopeIsolation, e.Operation, fmt.Sprintf("%s is asked for in scope %q, and the provider was asked in scope %q",
		e.Operation, scope, e.Scope))
}
