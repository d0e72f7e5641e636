package invariant

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges the records: FencedWrites, TerminalIsFinal, SafeRetention,
// and what a record says of the money.

// wrote judges a write that the registry applied.
func (c *Checker) wrote(e *history.Event) {
	if e.Key == "" && !c.header.Complete {
		return
	}
	i := c.identity(e.Scope, e.Key)
	id := c.identities.at(i)
	if id.exists && (c.header.Complete || !e.Insert) {
		c.judgeFinal(e, i)
	}
	if e.Insert || !id.exists {
		c.judgeInsert(e, i)
		id.begin(e)
	} else {
		c.judgeUpdate(e, i)
	}
	if e.Tombstone && !id.tombstone {
		c.judgeDropped(e, i)
	}
	if e.State == history.StateClaimed || e.State == history.StateSent {
		c.claimSeen()
	}
	c.judgeToken(e, i)
	c.judgeRecordKey(e, i)
	c.judgeTerminal(e, i)
	c.keep(e, id)
}

// keep notes what a write left. In a history that is not complete a terminal
// record stays what it was, whatever a later write does not state.
func (c *Checker) keep(e *history.Event, id *identity) {
	id.version, id.owner = e.Version, e.Owner
	id.tombstone = id.tombstone || e.Tombstone
	if e.Tombstone {
		id.request = e.Request
	}
	if c.header.Complete {
		id.state, id.told = e.State, answerOf(e)
		return
	}
	if e.State != history.StateNone || !id.state.Terminal() {
		id.state = e.State
	}
	if e.Outcome != history.OutcomeNone {
		id.told = answerOf(e)
	}
	id.bound = or(id.bound, e.Fingerprint)
}

// begin starts a life of the record with its first write.
func (id *identity) begin(e *history.Event) {
	if id.forgotten {
		id.boundBefore = id.bound
	}
	id.exists, id.settled, id.tombstone = true, false, false
	id.state, id.told = history.StateNone, answer{}
	id.bound, id.request, id.windowFrom, id.journaled = e.Fingerprint, e.Request, e.WindowFrom, e.ProviderKey
}

func answerOf(e *history.Event) answer {
	return answer{e.Outcome, e.Status, e.Body, e.Charge}
}

// judgeInsert judges the first write of a record.
func (c *Checker) judgeInsert(e *history.Event, i int) {
	id := c.identities.at(i)
	if id.forgotten && !id.exists {
		c.judgeClaimedAgain(e, i)
	}
	c.judgeClaimed(e, i)
	if !c.header.Complete || e.Insert && !id.exists && e.Version == 1 || !c.holds(FencedWrites) {
		return
	}
	verb, what := "inserted", fmt.Sprintf("as version %d", e.Version)
	switch {
	case !e.Insert:
		verb, what = "updated", "which is not there"
	case id.exists:
		what = "which was there already"
	}
	c.violate(FencedWrites, c.about(i), fmt.Sprintf("%s %s the record of %s, %s", or(e.Run, "a run"), verb, c.title(i), what))
}

// judgeUpdate judges what no update may change.
func (c *Checker) judgeUpdate(e *history.Event, i int) {
	if !c.header.Complete || !c.holds(FencedWrites) {
		return
	}
	id := c.identities.at(i)
	var what string
	switch {
	case e.Version != id.version+1:
		what = fmt.Sprintf("over version %d as version %d", id.version, e.Version)
	case e.Fingerprint != id.bound:
		what = "with another fingerprint than it was claimed with"
	case e.ProviderKey != id.journaled:
		what = "with another provider key than it was claimed with"
	case e.WindowFrom != id.windowFrom:
		what = "with another start of the provider's window than it was claimed with"
	case e.Request != id.request && !(e.Tombstone && e.Request == 0):
		what = "with another request than it was claimed with"
	default:
		return
	}
	c.violate(FencedWrites, c.about(i), fmt.Sprintf("%s wrote the record of %s %s", or(e.Run, "a run"), c.title(i), what))
}

// judgeToken judges whose fencing token a write leaves: it must be the
// writer's own, and not one that another has replaced.
func (c *Checker) judgeToken(e *history.Event, i int) {
	if !c.header.Complete {
		return
	}
	id := c.identities.at(i)
	for j := range id.writers {
		w := &id.writers[j]
		if w.token != e.Owner {
			continue
		}
		// The books of a compensation are kept by several runs in turn.
		lost := id.owner != e.Owner && id.main == none
		if (w.run != e.Run || lost) && c.holds(FencedWrites) {
			c.violateToken(e, i, w.run)
		}
		if w.run == e.Run {
			w.left = e.State
		}
		return
	}
	id.writers = append(id.writers, writer{e.Owner, e.Run, e.State})
}

func (c *Checker) violateToken(e *history.Event, i int, holder string) {
	sentence := fmt.Sprintf("%s wrote the record of %s with its own token after another run had taken it over", e.Run, c.title(i))
	if holder != e.Run {
		sentence = fmt.Sprintf("%s wrote the record of %s with the fencing token of %s", e.Run, c.title(i), holder)
	}
	c.violate(FencedWrites, c.about(i), sentence)
}

// judgeFinal judges a write to a terminal record: only the body may go.
func (c *Checker) judgeFinal(e *history.Event, i int) {
	id := c.identities.at(i)
	if !id.state.Terminal() || !c.holds(TerminalIsFinal) {
		return
	}
	lenient := !c.header.Complete
	state := e.State == id.state || lenient && e.State == history.StateNone
	bound := e.Fingerprint == id.bound || lenient && (e.Fingerprint == "" || id.bound == "")
	if state && bound && c.sameWords(e, id) {
		return
	}
	now := answerOf(e)
	before, after := id.told.unlike(now), now.word()
	switch {
	case !state:
		before, after = stateWord(id.state), stateWord(e.State)
	case !bound:
		before, after = "bound to "+id.bound, "bound to "+e.Fingerprint
	}
	c.violate(TerminalIsFinal, c.about(i), fmt.Sprintf("the record of %s was %s, which is final, and %s wrote that it is %s",
		c.title(i), before, or(e.Run, "a run"), after))
}

// sameWords reports whether a write to a terminal record leaves what it
// tells. A tombstone has no body, and a body that was dropped stays so.
func (c *Checker) sameWords(e *history.Event, id *identity) bool {
	now := answerOf(e)
	if id.tombstone && now.body != 0 {
		return false
	}
	if e.Tombstone && now.body == 0 {
		now.body = id.told.body
	}
	silent := now.outcome == history.OutcomeNone || id.told.outcome == history.OutcomeNone
	return c.sameAnswer(id.told, now) || silent && !c.header.Complete
}

// judgeTerminal judges what a terminal record says of the money, and against
// what was told before.
func (c *Checker) judgeTerminal(e *history.Event, i int) {
	id := c.identities.at(i)
	if !e.State.Terminal() || id.settled || id.main != none {
		return
	}
	if c.header.Complete {
		c.judgeRecordTruth(e, i)
	}
	if e.Outcome == history.OutcomeNone {
		return // it does not say what it will tell
	}
	id.settled, id.final = true, answerOf(e)
	c.judgeRecordWords(e, i)
	c.judgeToldBefore(i)
}

// judgeRecordTruth compares a terminal record with the ledger.
func (c *Checker) judgeRecordTruth(e *history.Event, i int) {
	if !c.holds(TruthfulReply) {
		return
	}
	holder := c.holder(c.identities.at(i))
	var why string
	switch e.State {
	case history.StateSucceeded:
		why = c.whyNotBacked(e, holder)
	case history.StateDeclined:
		if holder != none && c.operations.at(holder).net > 0 {
			why = "and it was charged: " + c.netCharges(holder)
		}
	}
	if why != "" {
		c.violate(TruthfulReply, c.about(i), fmt.Sprintf("the record of %s says %s, %s", c.title(i), stateWord(e.State), why))
	}
}

// whyNotBacked says what is wrong with the charge that a record names, empty
// if nothing is.
func (c *Checker) whyNotBacked(e *history.Event, holder int) string {
	if e.Charge == "" {
		return ""
	}
	k := c.charges.find("", e.Charge)
	if k == none || !c.charges.at(k).captured {
		return fmt.Sprintf("by %s, which was never captured", e.Charge)
	}
	ch := c.charges.at(k)
	switch {
	case ch.refunded && !ch.told:
		return fmt.Sprintf("by %s, which had been given back", e.Charge)
	case ch.operation != none && holder != none && ch.operation != holder:
		return fmt.Sprintf("by %s, which was captured for %s", e.Charge, c.nameOf(ch.operation))
	}
	return ""
}

// judgeRecordWords judges whether state, outcome and status say one thing.
func (c *Checker) judgeRecordWords(e *history.Event, i int) {
	paid := e.Outcome == history.OutcomePaid
	if paid == (e.State == history.StateSucceeded) && c.statusFits(e.Outcome, e.Status) || !c.holds(StableReply) {
		return
	}
	c.violate(StableReply, c.about(i), fmt.Sprintf("the record of %s is %s and will tell %s", c.title(i), stateWord(e.State), answerOf(e).word()))
}

// judgeToldBefore compares a terminal record with what was told before it was
// saved.
func (c *Checker) judgeToldBefore(i int) {
	id := c.identities.at(i)
	for _, o := range id.operations {
		op := c.operations.at(o)
		if !op.replied || !c.certainly(op, id.bound) || c.sameAnswer(op.reply, id.final) || !c.holds(StableReply) {
			continue
		}
		c.violate(StableReply, c.nameOf(o), fmt.Sprintf("the record of %s says %s, and its client was told %s",
			c.nameOf(o), id.final.word(), op.reply.unlike(id.final)))
	}
}

// title names an identity in a sentence: the operation that holds it, or its
// scope and key.
func (c *Checker) title(i int) string {
	if name := c.about(i); name != "" {
		return name
	}
	n := c.identities.names[i]
	return fmt.Sprintf("key %s in scope %q", n.key, n.scope)
}

// about returns the operation that a record, or the books of its
// compensation, were written for; empty if that is not known.
func (c *Checker) about(i int) string { return c.nameOf(c.holderOfBooks(i)) }

func (c *Checker) holderOfBooks(i int) int {
	if main := c.identities.at(i).main; main != none {
		i = main
	}
	return c.holder(c.identities.at(i))
}

var stateWords = [history.StateCount]string{"nothing", "claimed", "sent", "succeeded", "declined", "in review"}

func stateWord(s history.State) string {
	if s < history.StateCount {
		return stateWords[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}
