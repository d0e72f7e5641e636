package invariant

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges what is forgotten and when: SafeRetention.

// forgot judges the deletion of a record.
func (c *Checker) forgot(e *history.Event) {
	i := c.identity(e.Scope, e.Key)
	id := c.identities.at(i)
	if !id.exists {
		if c.header.Complete && c.holds(FencedWrites) {
			c.violate(FencedWrites, c.about(i), fmt.Sprintf("the record of %s was deleted, which is not there", c.title(i)))
		}
		return
	}
	if c.header.Complete && e.Version != id.version && c.holds(FencedWrites) {
		c.violate(FencedWrites, c.about(i), fmt.Sprintf("version %d of the record of %s was deleted, which is at version %d",
			e.Version, c.title(i), id.version))
	}
	state := id.state
	if !c.header.Complete && e.Version != id.version {
		state = history.StateNone // writes may be missing
	}
	c.judgeForgotten(e, i, state, "forgotten")
	id.exists, id.forgotten, id.settled = false, true, false
}

// judgeDropped judges that the body of a reply is dropped.
func (c *Checker) judgeDropped(e *history.Event, i int) {
	c.judgeForgotten(e, i, e.State, "reduced to a tombstone")
}

// judgeForgotten judges that something is forgotten: the operation must be
// finished, and no retry may come any more. StateNone is not known.
func (c *Checker) judgeForgotten(e *history.Event, i int, state history.State, how string) {
	if !c.holds(SafeRetention) {
		return
	}
	if !state.Terminal() && (state != history.StateNone || c.header.Complete) {
		c.violate(SafeRetention, c.about(i), fmt.Sprintf("the record of %s was %s while it was %s", c.title(i), how, stateWord(state)))
		return
	}
	o := c.holderOfBooks(i)
	if o == none || !c.operations.at(o).begun || c.header.RetryHorizon <= 0 {
		return
	}
	if age := e.At - c.operations.at(o).firstCall; age < c.header.RetryHorizon {
		c.violate(SafeRetention, c.about(i), fmt.Sprintf("the record of %s was %s %v after the first attempt, and its client may retry for %v",
			c.title(i), how, age, c.header.RetryHorizon))
	}
}

// judgeClaimedAgain judges a claim of what was forgotten, for the operation
// that had it before. A client that asks after its horizon has broken its own
// promise.
func (c *Checker) judgeClaimedAgain(e *history.Event, i int) {
	if c.header.RetryHorizon <= 0 || !c.holds(SafeRetention) {
		return
	}
	id := c.identities.at(i)
	if !c.boundTo(id, e.Fingerprint) {
		return
	}
	for _, o := range id.operations {
		op := c.operations.at(o)
		if age := op.lastCall - op.firstCall; op.begun && age <= c.header.RetryHorizon && c.certainly(op, e.Fingerprint) {
			c.violate(SafeRetention, c.nameOf(o), fmt.Sprintf("%s was claimed again after its record had been forgotten, for an attempt %v after the first, and its client may retry for %v",
				c.nameOf(o), age, c.header.RetryHorizon))
			return
		}
	}
}
