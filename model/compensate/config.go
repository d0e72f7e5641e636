package compensate

import (
	"errors"
	"fmt"
)

// Config is the constants of the specification, under their names.
type Config struct {
	Handlers    int // how many runs of the handler there may be at once
	Reconcilers int // how many runs of the reconciler there may be at once; with Handlers up to 4
	Attempts    int // how often the client asks, not counting for nothing
	Faults      int // faults of all kinds together

	RollForward bool // the reconciler may charge although nobody asks
	Declines    bool // the provider may decline
	RefundsOnce bool // it refuses a second refund of one charge
	RefundKeys  bool // it takes refunds under one key for one refund
	Ages        bool // the time to try may end
	GivesUp     bool // the retry horizon may end
	Persistent  bool // the client asks until it has its answer

	// What follows are the defects and the assumptions that are dropped;
	// Defects says what each is.

	NoMark               bool
	MarkFirst            bool
	NoAudit              bool
	AuditUnproven        bool
	AuditStopsEarly      bool
	AuditBeforeEnd       bool
	AuditClockLast       bool
	RefundOwnChoice      bool
	RefundBeforeComplete bool
	LoserRefunds         bool
	RefundAssumed        bool
	BlindRefundRetry     bool
	UnkeyedRefund        bool
	RefundUnheld         bool
	RefundUndead         bool
	RefundAfterLease     bool
	LaterDeclines        bool
	SettleAtOnce         bool
	SendAfterLease       bool
	KeepsNewest          bool
	NoGuard              bool
	LeaseIgnored         bool
	EagerForEver         bool
	AuditUnfenced        bool
	NoReadBack           bool
	ReadBackIgnoresOwner bool
	NoFence              bool
	OwnReply             bool
	ReplyBeforeSave      bool

	BreakA2 bool
	BreakA3 bool
	BreakA5 bool
	BreakA6 bool
}

// Defect is a field of Config that breaks a rule of the protocol, or drops an
// assumption.
type Defect struct {
	Name string
	Doc  string // what it does, in a phrase
}

// Defects are all of them, in the order of the specification.
var Defects = []Defect{
	{"NoMark", "no mark before the send"},
	{"MarkFirst", "the mark is stored before the audit"},
	{"NoAudit", "no audit: who completes gives back what it sees then"},
	{"AuditUnproven", "an audit that was not acknowledged counts as stored"},
	{"AuditStopsEarly", "the audit ends although a send may land"},
	{"AuditBeforeEnd", "the audit ends although the operation is open"},
	{"AuditClockLast", "the audit reads the clock after its look-up"},
	{"RefundOwnChoice", "each audit chooses which charge stays"},
	{"RefundBeforeComplete", "refunds before it is journaled which charge stays"},
	{"LoserRefunds", "who loses the race gives its own charge back"},
	{"RefundAssumed", "the audit ends once it has asked for the refunds"},
	{"BlindRefundRetry", "a refund without an answer is repeated at once"},
	{"UnkeyedRefund", "refunds have no key"},
	{"RefundUnheld", "the audit is not taken over before it refunds, although a second refund would be made"},
	{"RefundUndead", "repeats a refund although the first may land"},
	{"RefundAfterLease", "refunds although the audit's lease is over"},
	{"LaterDeclines", "a decline counts although another send may land"},
	{"SettleAtOnce", `"not found" counts although a send may land`},
	{"SendAfterLease", "sends although its lease is over"},
	{"KeepsNewest", "completes with the newest charge that it finds"},
	{"NoGuard", "sends although the time to try is over"},
	{"LeaseIgnored", "resolves although the lease runs"},
	{"EagerForEver", "sends again at once, however often it has"},
	{"AuditUnfenced", "writes of the audit do not compare its version"},
	{"NoReadBack", "a write that was not acknowledged counts as applied"},
	{"ReadBackIgnoresOwner", "the read after an unacknowledged write does not ask whose record it is"},
	{"NoFence", "updates do not compare the version"},
	{"OwnReply", "who loses the race tells what it knows itself"},
	{"ReplyBeforeSave", "the client hears the provider's answer before it is saved"},
	{"BreakA2", "a message outlives its lifetime"},
	{"BreakA3", "the registry loses an audit that it acknowledged"},
	{"BreakA5", "look-up hides a charge longer than its lag"},
	{"BreakA6", "the network doubles requests"},
}

// ErrConfig is returned by Validate. The text lists every problem.
var ErrConfig = errors.New("compensate: unusable configuration")

// The bounds of what a state has room for. A search that would go beyond one
// of them panics: its configuration is larger than this package is made for.
const (
	maxSlots   = 4
	maxLate    = 4
	maxCharges = 7 // a bit for each, and one for declined
	maxCount   = 15
)

// Validate reports every bound that is out of range, joined; nil if there is
// none.
func (c *Config) Validate() error {
	var problems []error
	bound := func(name string, value, least, most int) {
		if value < least || value > most {
			problems = append(problems, fmt.Errorf("%s is %d: want %d to %d", name, value, least, most))
		}
	}
	bound("Handlers", c.Handlers, 1, maxSlots)
	bound("Reconcilers", c.Reconcilers, 0, maxSlots-c.Handlers)
	bound("Attempts", c.Attempts, 0, maxCount)
	bound("Faults", c.Faults, 0, maxLate)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrConfig, errors.Join(problems...))
}

// slots is how many runs there may be at once, the reconcilers' included.
func (c *Config) slots() Slot { return Slot(c.Handlers + c.Reconcilers) }

// held reports whether the audit is taken over for each refund, which is so
// where a second refund would be made.
func (c *Config) held() bool { return !c.RefundsOnce && !c.RefundUnheld }

// bound reports whether the provider gives a charge back once, however often
// that is asked for.
func (c *Config) bound() bool { return c.RefundsOnce || c.RefundKeys && !c.UnkeyedRefund }

// handles reports whether the slot is a handler's; the others are a
// reconciler's.
func (c *Config) handles(h Slot) bool { return int(h) <= c.Handlers }
