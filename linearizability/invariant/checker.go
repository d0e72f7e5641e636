package invariant

import (
	"time"

	"github.com/chargeonce/chargeonce/model/history"
)

// Checker judges one history. It is told every event once, in order, and may
// be used for another history after Reset; from then on it allocates nothing
// unless it finds a violation or a history that is larger than all before. A
// Checker is not safe for concurrent use.
type Checker struct {
	header history.Header
	index  int           // of the event that is judged now
	now    time.Duration // its time

	operations table[operation]
	identities table[identity]
	charges    table[charge]
	keys       table[providerKey]

	ledger     bool      // the history shows a ledger
	nameless   bool      // a charge came without its id
	ownerless  bool      // a charge came without its operation
	stray      bool      // a refund came without its charge and its operation
	unbacked   unbacked  // the first "paid" that needs a ledger to be judged
	claims     bool      // the history shows a claim
	unclaimed  unclaimed // the first send that needs a claim to be judged
	healed     bool      // the faults are over
	healAt     time.Duration
	ended      bool // nothing more will happen
	handedOver int  // operations that only a person can end

	broken     uint32 // one bit for each invariant that has a violation
	violations []Violation
}

// Violation is the first event that breaks an invariant. Two runs of one
// plan give equal violations.
type Violation struct {
	Invariant Name
	Index     int           // of the event, from 0; of the last one if only the end tells
	At        time.Duration // of the event
	Operation string        // the intent it is about, empty if that is not known
	Sentence  string        // what happened, in one sentence without a full stop
}

// New returns a checker for a history with this header.
func New(h history.Header) *Checker {
	c := &Checker{}
	c.Reset(h)
	return c
}

// Reset forgets everything and begins another history. What Violations
// returned before is no longer valid.
func (c *Checker) Reset(h history.Header) {
	c.operations.reset()
	c.identities.reset()
	c.charges.reset()
	c.keys.reset()
	c.header, c.index, c.now = h, none, 0
	c.ledger, c.nameless, c.ownerless, c.stray, c.unbacked = h.Complete, false, false, false, unbacked{}
	c.claims, c.unclaimed = false, unclaimed{}
	c.healed, c.healAt, c.ended, c.handedOver = false, 0, false, 0
	c.broken, c.violations = 0, c.violations[:0]
}

// Event judges the next event. It keeps the event's strings but not e.
func (c *Checker) Event(e *history.Event) {
	c.index++
	c.now = e.At
	switch e.Kind {
	case history.KindCall:
		c.called(e)
	case history.KindReturn:
		c.returned(e)
	case history.KindUnanswered:
		c.unanswered(e)
	case history.KindGiveUp:
		c.gaveUp(e)
	case history.KindCharge, history.KindAbsorbed, history.KindRefusal:
		c.landed(e)
	case history.KindRefund:
		c.refunded(e)
	case history.KindSend:
		c.sent(e)
	case history.KindWrite:
		c.wrote(e)
	case history.KindForget:
		c.forgot(e)
	case history.KindHeal:
		c.healed, c.healAt = true, e.At
	case history.KindEnd:
		c.end()
	}
}

// Violations returns the first violation of each invariant, in the order in
// which they were found. Call it when the history is over: what holds only at
// the end is then judged as things are, even if the history has no end. The
// slice is valid until the next Event or Reset.
func (c *Checker) Violations() []Violation {
	if c.ended {
		return c.violations
	}
	found, broken := len(c.violations), c.broken
	c.judgeCompensation()
	all := c.violations
	c.violations, c.broken = all[:found], broken
	return all
}

// HandedOver returns how many operations ended in review without a final
// answer: only a person can tell how they went. It is 0 before the end.
func (c *Checker) HandedOver() int { return c.handedOver }

// holds reports whether an invariant has no violation yet. Ask it before
// making a sentence: only the first of each invariant is kept.
func (c *Checker) holds(n Name) bool { return c.broken&(1<<n) == 0 }

// violate keeps a violation by the event that is judged now.
func (c *Checker) violate(n Name, operation, sentence string) {
	c.broken |= 1 << n
	c.violations = append(c.violations, Violation{n, c.index, c.now, operation, sentence})
}
