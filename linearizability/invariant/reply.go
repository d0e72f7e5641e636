package invariant

import (
	"fmt"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges what clients are told: TruthfulReply, StableReply.

// unbacked is a "paid" that no ledger line shows to be true, in a history
// that has shown no ledger so far.
type unbacked struct {
	told      bool
	index     int
	at        time.Duration
	process   string
	operation string
	charge    string
}

// judgePaid judges what "paid" says of the money.
func (c *Checker) judgePaid(e *history.Event, o int, a *attempt) {
	op := c.operations.at(o)
	op.paid = true
	if !c.sameMoney(a.parameters, e.Amount, e.Currency) && c.holds(TruthfulReply) {
		c.violate(TruthfulReply, e.Operation, fmt.Sprintf("%s heard that %s of %s is paid with %s",
			e.Process, e.Operation, money(a.amount, a.currency), money(e.Amount, e.Currency)))
	}
	if e.Charge == "" {
		c.judgePaidUnnamed(e, op)
		return
	}
	k := c.charge(e.Charge)
	c.judgeBacked(e, o, a, k)
	c.judgeCrossing(e, o, a, k)
	c.tell(o, a, k)
}

// judgeBacked judges whether the ledger has the charge that was told.
func (c *Checker) judgeBacked(e *history.Event, o int, a *attempt, k int) {
	ch := c.charges.at(k)
	if !ch.captured {
		c.judgeUnbacked(e)
		return
	}
	other := ch.operation != none && ch.operation != o
	captured := parameters{amount: ch.amount, currency: ch.currency}
	right := c.sameMoney(a.parameters, ch.amount, ch.currency) && c.sameMoney(captured, e.Amount, e.Currency)
	// The first "paid" must be true when it is told. What happens to the
	// charge later is for BoundedRefunds: a replay tells what was told.
	gone := ch.refunded && !ch.told
	if !other && right && !gone || !c.holds(TruthfulReply) {
		return
	}
	var why string
	switch {
	case other:
		why = fmt.Sprintf("which was captured for %s", c.nameOf(ch.operation))
	case gone:
		why = fmt.Sprintf("whose %s had been given back", money(ch.amount, ch.currency))
	default:
		why = fmt.Sprintf("which captured %s", money(ch.amount, ch.currency))
	}
	with := ""
	if e.Amount != 0 {
		with = " with " + money(e.Amount, e.Currency)
	}
	c.violate(TruthfulReply, e.Operation, fmt.Sprintf("%s heard that %s is paid%s by %s, %s",
		e.Process, e.Operation, with, e.Charge, why))
}

// judgePaidUnnamed judges a "paid" without the id of the charge.
func (c *Checker) judgePaidUnnamed(e *history.Event, op *operation) {
	switch {
	case c.header.Complete:
		if c.holds(TruthfulReply) {
			c.violate(TruthfulReply, e.Operation, fmt.Sprintf("%s heard that %s is paid, by no charge", e.Process, e.Operation))
		}
	case !op.captured && !c.ownerless:
		c.judgeUnbacked(e)
	}
}

// judgeUnbacked judges a "paid" for which the ledger has no line, or keeps it
// until the history shows that it has a ledger.
func (c *Checker) judgeUnbacked(e *history.Event) {
	if c.nameless || c.unbacked.told {
		return
	}
	c.unbacked = unbacked{true, c.index, e.At, e.Process, e.Operation, e.Charge}
	if c.ledger {
		c.violateUnbacked()
	}
}

// ledgerSeen notes that the history shows a ledger.
func (c *Checker) ledgerSeen() {
	c.ledger = true
	if c.unbacked.told && !c.nameless && (c.unbacked.charge != "" || !c.ownerless) {
		c.violateUnbacked()
	}
}

func (c *Checker) violateUnbacked() {
	if !c.holds(TruthfulReply) {
		return
	}
	u := c.unbacked
	c.violate(TruthfulReply, u.operation, fmt.Sprintf("%s heard that %s is paid by %s, and the ledger had no such charge",
		u.process, u.operation, or(u.charge, "a charge")))
	last := &c.violations[len(c.violations)-1]
	last.Index, last.At = u.index, u.at
}

// judgeDenied judges "declined" and "failed": there must be no charge.
func (c *Checker) judgeDenied(e *history.Event, o int) {
	op := c.operations.at(o)
	if op.denied == history.OutcomeNone {
		op.denied = e.Outcome
	}
	if op.net > 0 && c.holds(TruthfulReply) {
		c.violate(TruthfulReply, e.Operation, fmt.Sprintf("%s heard %q for %s, and it was charged: %s",
			e.Process, outcomeWord(e.Outcome), e.Operation, c.netCharges(o)))
	}
}

// judgeStable compares a final reply with the first one and with the record.
func (c *Checker) judgeStable(e *history.Event, o int, a *attempt) {
	op := c.operations.at(o)
	now := answer{e.Outcome, e.Status, e.Body, e.Charge}
	if !op.replied {
		op.replied, op.reply = true, now
	} else if !c.sameAnswer(op.reply, now) && c.holds(StableReply) {
		c.violate(StableReply, e.Operation, fmt.Sprintf("%s heard %s for %s, after %s",
			e.Process, now.word(), e.Operation, op.reply.unlike(now)))
	}
	if a.identity == none {
		return
	}
	id := c.identities.at(a.identity)
	if !id.settled || !c.boundTo(id, a.fingerprint) || !c.header.Complete && (a.fingerprint == "" || a.fingerprint != id.bound) {
		return
	}
	if !c.sameAnswer(id.final, now) && c.holds(StableReply) {
		c.violate(StableReply, e.Operation, fmt.Sprintf("%s heard %s for %s, and its record says %s",
			e.Process, now.word(), e.Operation, id.final.unlike(now)))
	}
}

// judgeGone judges "finished, and the reply is no longer kept".
func (c *Checker) judgeGone(e *history.Event, a *attempt) {
	if !c.header.Complete || a.identity == none {
		return
	}
	id := c.identities.at(a.identity)
	kept := id.exists && !id.forgotten && !id.tombstone && (id.told.body != 0 || !id.state.Terminal())
	if kept && c.holds(StableReply) {
		c.violate(StableReply, e.Operation, fmt.Sprintf("%s heard %q for %s, and its record is %s and not a tombstone",
			e.Process, outcomeWord(e.Outcome), e.Operation, stateWord(id.state)))
	}
}

// judgeStatus judges whether the status says what the outcome says.
func (c *Checker) judgeStatus(e *history.Event) {
	if c.statusFits(e.Outcome, e.Status) || !c.holds(StableReply) {
		return
	}
	c.violate(StableReply, e.Operation, fmt.Sprintf("%s heard %q for %s with status %d",
		e.Process, outcomeWord(e.Outcome), e.Operation, e.Status))
}

func (c *Checker) statusFits(o history.Outcome, status int) bool {
	if status == 0 && !c.header.Complete {
		return true
	}
	switch o {
	case history.OutcomePaid:
		return status == 200 || status == 201
	case history.OutcomeDeclined:
		return status == 402
	case history.OutcomeFailed:
		return 500 <= status && status <= 504 && status != 503
	case history.OutcomeMismatch:
		return status == 422
	case history.OutcomeGone:
		return status == 410
	case history.OutcomeRefused:
		return status == 400
	case history.OutcomeInProgress:
		return status == 409 || status == 425
	case history.OutcomeUnavailable:
		return status == 429 || status == 503
	default:
		return true
	}
}

// sameAnswer reports whether two final replies are equal to the client.
func (c *Checker) sameAnswer(a, b answer) bool {
	if a == b {
		return true
	}
	lenient := !c.header.Complete
	return a.outcome == b.outcome &&
		(a.status == b.status || lenient && (a.status == 0 || b.status == 0)) &&
		(a.body == b.body || lenient && (a.body == 0 || b.body == 0)) &&
		(a.charge == b.charge || lenient && (a.charge == "" || b.charge == ""))
}

var outcomeWords = [history.OutcomeCount]string{
	"nothing", "paid", "declined", "failed", "mismatch", "gone", "refused", "in progress", "unavailable",
}

func outcomeWord(o history.Outcome) string {
	if o < history.OutcomeCount {
		return outcomeWords[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// word writes an answer: paid (201, ch_1).
func (a answer) word() string {
	if a.charge == "" {
		return fmt.Sprintf("%s (%d)", outcomeWord(a.outcome), a.status)
	}
	return fmt.Sprintf("%s (%d, %s)", outcomeWord(a.outcome), a.status, a.charge)
}

// unlike writes an answer that differs from another one, if only in the body.
func (a answer) unlike(b answer) string {
	if a.word() == b.word() {
		return a.word() + " with another body"
	}
	return a.word()
}
