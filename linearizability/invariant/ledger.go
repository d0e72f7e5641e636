package invariant

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
)

// This file judges the provider's ledger: SingleCharge, WindowGuarded,
// BoundedRefunds.

// landed judges a charge request that reached the provider, whatever it did.
func (c *Checker) landed(e *history.Event) {
	o := none
	if e.Operation != "" {
		o = c.operation(e.Operation)
	}
	c.nameless = c.nameless || e.Kind == history.KindCharge && e.Charge == "" && !c.header.Complete
	c.ownerless = c.ownerless || e.Kind == history.KindCharge && o == none
	c.ledgerSeen()
	switch e.Kind {
	case history.KindCharge:
		c.captured(e, o)
	case history.KindAbsorbed:
		c.absorbed(e, o)
	case history.KindRefusal:
		if o != none && e.Amount != 0 {
			c.judgeParameters(e, c.operations.at(o))
		}
	}
	c.judgeLineScope(e, o)
	c.judgeLineKey(e, o)
	c.judgeWindow(e)
}

// captured judges a charge: how many there are, of how much, and whether it
// was denied before.
func (c *Checker) captured(e *history.Event, o int) {
	if e.Charge != "" {
		ch := c.charges.at(c.charge(e.Charge))
		ch.captured, ch.operation, ch.amount, ch.currency, ch.providerKey = true, o, e.Amount, e.Currency, e.ProviderKey
	}
	if o == none {
		return
	}
	op := c.operations.at(o)
	op.net++
	op.captured = true
	c.judgeParameters(e, op)
	if op.net > 1 && !c.header.Compensates && !c.stray && c.holds(SingleCharge) {
		c.violate(SingleCharge, e.Operation, c.chargedTooOften(o))
	}
	c.judgeDeniedBefore(e, op)
}

// judgeDeniedBefore judges a charge that lands after somebody was told, or a
// record says, that there is none.
func (c *Checker) judgeDeniedBefore(e *history.Event, op *operation) {
	if op.denied == history.OutcomeNone && op.identity == none || !c.holds(TruthfulReply) {
		return
	}
	var denied string
	switch {
	case op.denied != history.OutcomeNone:
		denied = fmt.Sprintf("its client had heard %q", outcomeWord(op.denied))
	case c.recordDenies(op):
		denied = "its record had been settled as declined"
	default:
		return
	}
	c.violate(TruthfulReply, e.Operation, fmt.Sprintf("%s was charged %s (%s) after %s",
		e.Operation, money(e.Amount, e.Currency), or(e.Charge, "a charge without id"), denied))
}

func (c *Checker) recordDenies(op *operation) bool {
	id := c.identities.at(op.identity)
	return id.exists && id.state == history.StateDeclined && c.certainly(op, id.bound)
}

// judgeParameters judges whether the provider was asked for what the client
// asked for.
func (c *Checker) judgeParameters(e *history.Event, op *operation) {
	for i := range op.asked {
		if c.sameMoney(op.asked[i], e.Amount, e.Currency) {
			return
		}
	}
	if len(op.asked) > 0 && c.holds(FingerprintBound) {
		c.violate(FingerprintBound, e.Operation, fmt.Sprintf("the provider was asked for %s for %s, which is a payment of %s",
			money(e.Amount, e.Currency), e.Operation, money(op.asked[0].amount, op.asked[0].currency)))
	}
}

// absorbed judges a request that moved no money: the charge that it was taken
// for must be of the same parameters, scope and provider key.
func (c *Checker) absorbed(e *history.Event, o int) {
	if o != none {
		c.judgeParameters(e, c.operations.at(o))
	}
	if e.Charge == "" {
		return
	}
	k := c.charges.find("", e.Charge)
	if k == none || !c.charges.at(k).captured {
		if c.header.Complete && c.holds(StableProviderKey) {
			c.violate(StableProviderKey, e.Operation, fmt.Sprintf("a request for %s under provider key %s was absorbed by %s, which was never captured",
				e.Operation, e.ProviderKey, e.Charge))
		}
		return
	}
	ch := c.charges.at(k)
	if !c.sameKey(ch.providerKey, e.ProviderKey) && c.holds(StableProviderKey) {
		c.violate(StableProviderKey, e.Operation, fmt.Sprintf("a request for %s under provider key %s was absorbed by %s, which was captured under %s",
			e.Operation, or(e.ProviderKey, "none"), e.Charge, or(ch.providerKey, "none")))
	}
	captured := parameters{amount: ch.amount, currency: ch.currency}
	if !c.sameMoney(captured, e.Amount, e.Currency) && c.holds(FingerprintBound) {
		c.violate(FingerprintBound, e.Operation, fmt.Sprintf("a request of %s for %s was absorbed by %s of %s",
			money(e.Amount, e.Currency), e.Operation, e.Charge, money(ch.amount, ch.currency)))
	}
	if ch.operation != none && o != none && ch.operation != o {
		c.judgeSameScope(o, ch.operation, e.Charge)
	}
}

// judgeWindow judges when requests of one provider key land. Without keys the
// provider collapses nothing and a reference has no window.
func (c *Checker) judgeWindow(e *history.Event) {
	if e.ProviderKey == "" || c.header.ProviderWindow <= 0 || c.header.Keyless {
		return
	}
	key := c.keys.at(c.providerKey(e.ProviderKey))
	if !key.landed {
		key.landed, key.first = true, e.At
	}
	if e.Kind == history.KindCharge && (key.charges == 0 || key.charged == e.Operation) {
		key.charged = e.Operation
		key.charges++
	}
	span := e.At - key.first
	if span < c.header.ProviderWindow && key.charges < 2 || !c.holds(WindowGuarded) {
		return
	}
	if span >= c.header.ProviderWindow {
		c.violate(WindowGuarded, e.Operation, fmt.Sprintf("a request for %s under provider key %s landed %v after the first, and the provider collapses them for %v only",
			or(e.Operation, "a payment"), e.ProviderKey, span, c.header.ProviderWindow))
		return
	}
	c.violate(WindowGuarded, e.Operation, fmt.Sprintf("provider key %s captured money %s, last %s for %s: the provider did not collapse its requests",
		e.ProviderKey, times(key.charges), money(e.Amount, e.Currency), or(e.Operation, "a payment")))
}

// refunded judges a refund: of a charge that exists, once, in full, and not
// of the one that the client was told is kept.
func (c *Checker) refunded(e *history.Event) {
	c.ledgerSeen()
	k := c.charges.find("", e.Charge)
	if k == none || !c.charges.at(k).captured {
		c.refundedUnknown(e)
		return
	}
	ch := c.charges.at(k)
	c.judgeRefund(e, ch)
	if !ch.refunded && ch.operation != none {
		c.operations.at(ch.operation).net--
	}
	ch.refunded = true
}

// refundedUnknown judges a refund of a charge that is not in the ledger. In a
// history that is not complete the charge may be from before it, or be one of
// those that came without an id.
func (c *Checker) refundedUnknown(e *history.Event) {
	if c.header.Complete {
		if c.holds(BoundedRefunds) {
			c.violate(BoundedRefunds, e.Operation, fmt.Sprintf("%s of %s was refunded, which was never captured",
				money(e.Amount, e.Currency), or(e.Charge, "a charge without id")))
		}
		return
	}
	if e.Charge != "" && !c.nameless {
		return
	}
	if e.Operation == "" {
		c.stray = true
		return
	}
	if op := c.operations.at(c.operation(e.Operation)); op.net > 0 {
		op.net--
	}
}

func (c *Checker) judgeRefund(e *history.Event, ch *charge) {
	owner := c.nameOf(ch.operation)
	captured := parameters{amount: ch.amount, currency: ch.currency}
	other := e.Operation != "" && owner != "" && e.Operation != owner
	partial := !c.sameMoney(captured, e.Amount, e.Currency)
	kept := ch.told && (c.header.Complete || c.header.Compensates)
	if !ch.refunded && !other && !partial && !kept || !c.holds(BoundedRefunds) {
		return
	}
	var sentence string
	whole := money(ch.amount, ch.currency)
	switch {
	case ch.refunded:
		sentence = fmt.Sprintf("%s (%s) was refunded a second time", e.Charge, whole)
	case other:
		sentence = fmt.Sprintf("%s (%s) of %s was refunded for %s", e.Charge, whole, owner, e.Operation)
	case partial:
		sentence = fmt.Sprintf("%s was refunded of %s (%s)", money(e.Amount, e.Currency), e.Charge, whole)
	default:
		sentence = fmt.Sprintf("%s (%s) was refunded after a client had heard that it pays %s", e.Charge, whole, c.nameOf(ch.toldTo))
	}
	c.violate(BoundedRefunds, or(e.Operation, owner), sentence)
}

// judgeCompensation judges what a design that compensates must have reached
// when nothing more happens: one charge, or none if none was told.
func (c *Checker) judgeCompensation() {
	if !c.header.Compensates || c.stray || !c.holds(SingleCharge) {
		return
	}
	for o := range c.operations.values {
		op := c.operations.at(o)
		switch {
		case op.net > 1:
			c.violate(SingleCharge, c.nameOf(o), c.chargedTooOften(o)+", when all was over")
			return
		case op.net == 0 && op.paid && op.captured && !c.ownerless:
			c.violate(SingleCharge, c.nameOf(o), fmt.Sprintf("%s was told paid and had no charge left when all was over", c.nameOf(o)))
			return
		}
	}
}

// chargedTooOften tells all charges of an operation that were not refunded.
func (c *Checker) chargedTooOften(o int) string {
	op := c.operations.at(o)
	sentence := fmt.Sprintf("%s was charged %s: %s", c.nameOf(o), times(op.net), c.netCharges(o))
	if sum, currency, ok := c.sum(o); ok {
		sentence += fmt.Sprintf(", %s in all", money(sum, currency))
	}
	if len(op.asked) > 0 && op.asked[0].amount != 0 {
		sentence += fmt.Sprintf(" for one payment of %s", money(op.asked[0].amount, op.asked[0].currency))
	}
	return sentence
}

// netCharges lists the charges of an operation that were not refunded.
func (c *Checker) netCharges(o int) string {
	var items []string
	for k := range c.charges.values {
		if ch := c.charges.at(k); ch.isNetOf(o) {
			items = append(items, c.charges.names[k].key+" ("+money(ch.amount, ch.currency)+")")
		}
	}
	if len(items) == 0 {
		return "charges without ids"
	}
	return list(items)
}

// sum adds the net charges of an operation, if their currency is one.
func (c *Checker) sum(o int) (minor int64, currency string, ok bool) {
	n := 0
	for k := range c.charges.values {
		ch := c.charges.at(k)
		if !ch.isNetOf(o) {
			continue
		}
		if n > 0 && ch.currency != currency {
			return 0, "", false
		}
		minor, currency = minor+ch.amount, ch.currency
		n++
	}
	return minor, currency, n == c.operations.at(o).net
}

func (ch *charge) isNetOf(o int) bool { return ch.captured && ch.operation == o && !ch.refunded }
