package invariant

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges what must happen in the end: Resolves, NotWedged.

// judgeWedged judges an attempt that got no final answer although the faults
// have long been over.
func (c *Checker) judgeWedged(e *history.Event, op *operation) {
	if !c.healed || c.header.Settled <= 0 || op.final || !c.holds(NotWedged) {
		return
	}
	since, what := c.healAt, "the faults were over"
	if op.firstCall > since {
		since, what = op.firstCall, "its first attempt"
	}
	if e.At <= since+c.header.Settled || c.inReview(op) {
		return
	}
	c.violate(NotWedged, e.Operation, fmt.Sprintf("%s asks for %s of %s and has no final answer %v after %s, when %v is enough",
		e.Process, e.Operation, c.payment(op), e.At-since, what, c.header.Settled))
}

// inReview reports whether only a person can end the operation.
func (c *Checker) inReview(op *operation) bool {
	if op.identity == none {
		return false
	}
	id := c.identities.at(op.identity)
	return id.exists && id.state == history.StateReview && op.askedFor(id.bound)
}

func (c *Checker) payment(op *operation) string {
	if len(op.asked) == 0 {
		return "an amount that is not known"
	}
	return money(op.asked[0].amount, op.asked[0].currency)
}

// end judges what can only be judged when nothing more happens.
func (c *Checker) end() {
	c.ended = true
	c.judgeCompensation()
	if !c.healed {
		return
	}
	for o := range c.operations.values {
		c.judgeResolved(o)
	}
	if !c.header.Complete {
		return // the last write of a record may be missing
	}
	for i := range c.identities.values {
		c.judgeRecordEnd(i)
	}
}

// judgeResolved judges whether a client has its answer.
func (c *Checker) judgeResolved(o int) {
	op := c.operations.at(o)
	if op.final || len(op.asked) == 0 {
		return
	}
	if c.inReview(op) {
		c.handedOver++
		return
	}
	if !c.holds(Resolves) {
		return
	}
	how := "is over without a final answer"
	if op.gaveUp != "" {
		how = "was given up by " + op.gaveUp + " without a final answer"
	}
	charged := "nothing was charged"
	if op.net > 0 {
		charged = "it was charged: " + c.netCharges(o)
	}
	// A search meets this one often: it is put together without formatting.
	c.violate(Resolves, c.nameOf(o), c.nameOf(o)+", a payment of "+c.payment(op)+", "+how+"; "+charged)
}

// judgeRecordEnd judges whether a record has come to its end.
func (c *Checker) judgeRecordEnd(i int) {
	id := c.identities.at(i)
	if !id.exists || id.state.Terminal() || id.state == history.StateReview || !c.holds(Resolves) {
		return
	}
	c.violate(Resolves, c.about(i), fmt.Sprintf("the record of %s is still %s when all is over", c.title(i), stateWord(id.state)))
}
