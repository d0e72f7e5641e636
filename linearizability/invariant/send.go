package invariant

import (
	"fmt"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges the way to the provider: SentJournaled, StableProviderKey.

// sent judges a charge request that leaves a process.
func (c *Checker) sent(e *history.Event) {
	o := none
	if e.Operation != "" {
		o = c.operation(e.Operation)
	}
	if e.ProviderKey != "" {
		c.keys.at(c.providerKey(e.ProviderKey)).sends++
	}
	if o != none {
		c.operations.at(o).sends++
	}
	c.judgeLineKey(e, o)
	if c.header.Complete {
		c.judgeJournaled(e, o)
		c.judgeOnce(e, o)
	}
}

// judgeJournaled judges whether the run that sends has written so. A run that
// was permitted to send may be overtaken by another one's completion, so only
// its own last write counts.
func (c *Checker) judgeJournaled(e *history.Event, o int) {
	if !c.holds(SentJournaled) {
		return
	}
	need := history.StateClaimed
	if c.header.Keyless {
		need = history.StateSent
	}
	if e.ProviderKey == "" {
		c.judgeJournaledWithoutKey(e, o, need)
		return
	}
	i := c.keys.at(c.providerKey(e.ProviderKey)).record
	if i == none {
		c.judgeUnclaimed(e)
		return
	}
	for ; i != none; i = c.identities.at(i).sameKey {
		id := c.identities.at(i)
		if !id.left(e.Run, need) {
			continue
		}
		if e.Request != 0 && id.request != 0 && e.Request != id.request {
			c.violate(SentJournaled, e.Operation, fmt.Sprintf("%s sent another request for %s than the one in its record",
				or(e.Run, "a run"), or(e.Operation, "a payment")))
		}
		return
	}
	c.violate(SentJournaled, e.Operation, fmt.Sprintf("%s sent a charge of %s under provider key %s before it had written the record as %s",
		or(e.Run, "a run"), or(e.Operation, "a payment"), e.ProviderKey, stateWord(need)))
}

// unclaimed is a send before which nothing was claimed, in a history that has
// shown no claim so far: a system that writes finished records only promises
// no journal, and what its sends do wrong falls elsewhere.
type unclaimed struct {
	sent        bool
	index       int
	at          time.Duration
	run         string
	operation   string
	providerKey string
}

// judgeUnclaimed judges a send whose provider key no record has, or keeps it
// until the history shows that its system claims before it sends.
func (c *Checker) judgeUnclaimed(e *history.Event) {
	if !c.unclaimed.sent {
		c.unclaimed = unclaimed{true, c.index, e.At, or(e.Run, "a run"), e.Operation, e.ProviderKey}
	}
	if c.claims {
		c.violateUnclaimed()
	}
}

// claimSeen notes that the history shows a claim.
func (c *Checker) claimSeen() {
	c.claims = true
	if c.unclaimed.sent {
		c.violateUnclaimed()
	}
}

func (c *Checker) violateUnclaimed() {
	if !c.holds(SentJournaled) {
		return
	}
	u := c.unclaimed
	c.violate(SentJournaled, u.operation, fmt.Sprintf("%s sent a charge of %s under provider key %s, which no record has",
		u.run, or(u.operation, "a payment"), u.providerKey))
	last := &c.violations[len(c.violations)-1]
	last.Index, last.At = u.index, u.at
}

// judgeJournaledWithoutKey judges a send that does not say under which
// provider key or reference it goes: its operation must do.
func (c *Checker) judgeJournaledWithoutKey(e *history.Event, o int, need history.State) {
	if !c.header.Keyless {
		c.violate(SentJournaled, e.Operation, fmt.Sprintf("%s sent a charge of %s without a provider key", or(e.Run, "a run"), or(e.Operation, "a payment")))
		return
	}
	if o == none || c.operations.at(o).identity == none {
		return
	}
	if id := c.identities.at(c.operations.at(o).identity); !id.left(e.Run, need) {
		c.violate(SentJournaled, e.Operation, fmt.Sprintf("%s sent a charge of %s before it had written the record as %s",
			or(e.Run, "a run"), e.Operation, stateWord(need)))
	}
}

// left reports whether the last write of a run left the record in a state.
func (id *identity) left(run string, state history.State) bool {
	for i := range id.writers {
		if w := &id.writers[i]; w.run == run && w.left == state {
			return true
		}
	}
	return false
}

// judgeOnce judges a second send where no second one is ever allowed.
func (c *Checker) judgeOnce(e *history.Event, o int) {
	if !c.header.Keyless || !c.header.Once || !c.holds(SentJournaled) {
		return
	}
	sends := 0
	if o != none {
		sends = c.operations.at(o).sends
	}
	if e.ProviderKey != "" {
		sends = max(sends, c.keys.at(c.providerKey(e.ProviderKey)).sends)
	}
	if sends > 1 {
		c.violate(SentJournaled, e.Operation, fmt.Sprintf("%s sent a charge of %s again, and the provider has no keys to collapse the two",
			or(e.Run, "a run"), or(e.Operation, "a payment")))
	}
}

// sameKey reports whether two provider keys agree. An empty one says
// something only where a keyed provider should have been given one.
func (c *Checker) sameKey(a, b string) bool {
	return a == b || (a == "" || b == "") && (!c.header.Complete || c.header.Keyless)
}

// judgeLineKey compares the provider key of a send or of a ledger line with
// the first one of its operation.
func (c *Checker) judgeLineKey(e *history.Event, o int) {
	if o == none {
		return
	}
	op := c.operations.at(o)
	known := &op.providerKey
	if op.identity != none {
		known = &c.identities.at(op.identity).providerKey
	}
	if *known == "" {
		*known = e.ProviderKey
	}
	if c.sameKey(*known, e.ProviderKey) || !c.holds(StableProviderKey) {
		return
	}
	verb := "reached the provider"
	if e.Kind == history.KindSend {
		verb = "was sent"
	}
	c.violate(StableProviderKey, e.Operation, fmt.Sprintf("a charge of %s %s under provider key %s, after %s",
		e.Operation, verb, or(e.ProviderKey, "none"), *known))
}

// judgeRecordKey compares the provider key of a record with the one of its
// operation, and with other records: no two may have one.
func (c *Checker) judgeRecordKey(e *history.Event, i int) {
	if e.ProviderKey == "" {
		return
	}
	main := i
	if of := c.identities.at(i).main; of != none {
		main = of
	}
	known := &c.identities.at(main).providerKey
	if *known == "" {
		*known = e.ProviderKey
	}
	if !c.sameKey(*known, e.ProviderKey) && c.holds(StableProviderKey) {
		c.violate(StableProviderKey, c.about(i), fmt.Sprintf("the record of %s was written with provider key %s, after %s",
			c.title(i), e.ProviderKey, *known))
	}
	if main == i {
		c.enter(e, i)
	}
}

// enter links a record to its provider key.
func (c *Checker) enter(e *history.Event, i int) {
	key := c.keys.at(c.providerKey(e.ProviderKey))
	if key.record == none {
		key.record = i
		return
	}
	for j := key.record; ; j = c.identities.at(j).sameKey {
		if j == i {
			return
		}
		c.judgeSharedKey(e, i, j)
		if c.identities.at(j).sameKey == none {
			c.identities.at(j).sameKey = i
			return
		}
	}
}

// judgeSharedKey judges two records that have one provider key: the provider
// takes the second payment for the first.
func (c *Checker) judgeSharedKey(e *history.Event, i, j int) {
	n := StableProviderKey
	if c.identities.names[i].scope != c.identities.names[j].scope {
		n = ScopeIsolation
	}
	if c.holds(n) {
		c.violate(n, c.about(i), fmt.Sprintf("the record of %s was written with provider key %s, which is that of %s",
			c.title(i), e.ProviderKey, c.title(j)))
	}
}
