package compensate

import "fmt"

// Kind is an action of the specification.
type Kind uint8

// The actions. Those before LandStray are taken by a run.
const (
	Claim Kind = iota
	ClaimUnanswered
	Replay
	Resolve
	ResolveLags
	InsertAudit
	InsertAuditUnanswered
	TakeOver
	MarkSent
	Complete
	Settle
	UpdateUnanswered
	ReadBack
	ReadAuditBack
	SendCharge // the specification calls it Charge
	LandApproved
	LandDeclined
	Lost
	TimeOut
	Reply
	ReplyEarly
	Crash
	LookAtAudit // the specification calls it Audit
	AuditLags
	AuditHides
	Hold
	HoldUnanswered
	ReadHoldBack
	Refund
	LandRefund
	RefundLost
	RefundTimeOut
	Close
	CloseUnanswered
	Tidy
	LandStray
	LoseStray
	LandLooseRefund
	LoseLooseRefund
	Duplicate
	DuplicateRefund
	LandLate
	LandLateAudit
	Failover
	LeaseEnds
	LeaseEndsEarly
	SendsDie
	HurryEnds
	WindowCloses
	HorizonEnds
	AuditLeaseEnds
	AuditLeaseEndsEarly
	RefundsDie
	kindCount // how many there are
)

var kindNames = [kindCount]string{
	"Claim", "ClaimUnanswered", "Replay", "Resolve", "ResolveLags", "InsertAudit", "InsertAuditUnanswered", "TakeOver", "MarkSent",
	"Complete", "Settle", "UpdateUnanswered", "ReadBack", "ReadAuditBack", "Charge", "LandApproved", "LandDeclined", "Lost", "TimeOut",
	"Reply", "ReplyEarly", "Crash", "Audit", "AuditLags", "AuditHides", "Hold", "HoldUnanswered", "ReadHoldBack", "Refund", "LandRefund", "RefundLost", "RefundTimeOut",
	"Close", "CloseUnanswered", "Tidy", "LandStray", "LoseStray", "LandLooseRefund", "LoseLooseRefund", "Duplicate", "DuplicateRefund",
	"LandLate", "LandLateAudit", "Failover", "LeaseEnds", "LeaseEndsEarly", "SendsDie", "HurryEnds", "WindowCloses", "HorizonEnds",
	"AuditLeaseEnds", "AuditLeaseEndsEarly", "RefundsDie",
}

// String returns the name, as the specification has it.
func (k Kind) String() string { return nameOf(k, "Kind", kindNames[:]) }

// Action labels a step: the action, and the run that takes it (0 if none
// does).
type Action struct {
	Kind Kind
	Slot Slot
}

// Code returns the action as a number, one for each action.
func (a Action) Code() uint16 { return uint16(a.Kind)<<3 | uint16(a.Slot) }

// ActionOf is the inverse of Code.
func ActionOf(code uint16) Action { return Action{Kind(code >> 3), Slot(code & 7)} }

// String returns the action as the specification writes it: Claim(1).
func (a Action) String() string {
	if a.Slot == 0 {
		return a.Kind.String()
	}
	return fmt.Sprintf("%v(%d)", a.Kind, a.Slot)
}

// Fairness returns what may be relied on in the end, as sets of actions: one
// of a set is taken if it stays possible. Runs go on, messages arrive or are
// lost, time passes, a persistent client asks while it has no answer, and the
// reconciler sweeps. No fault is fair.
func Fairness(c *Config) [][]Action {
	var all [][]Action
	var resolves, audits []Action
	for h := Slot(1); h <= c.slots(); h++ {
		all = append(all, by(h, InsertAudit, TakeOver, MarkSent, SendCharge, LandApproved, LandDeclined, ReadBack, ReadAuditBack,
			Complete, Settle, Reply, Hold, ReadHoldBack, Refund, LandRefund, Close, Tidy))
		switch {
		case !c.handles(h):
			resolves, audits = append(resolves, Action{Resolve, h}), append(audits, Action{LookAtAudit, h})
		case c.Persistent:
			all = append(all, by(h, Claim, Resolve, Replay))
		}
	}
	if c.Reconcilers > 0 {
		all = append(all, resolves, audits)
	}
	return append(all, by(0, LandStray, LoseStray), by(0, LandLooseRefund, LoseLooseRefund),
		by(0, LeaseEnds), by(0, SendsDie), by(0, HurryEnds), by(0, WindowCloses), by(0, HorizonEnds), by(0, AuditLeaseEnds), by(0, RefundsDie))
}

// by are actions of one run.
func by(h Slot, kinds ...Kind) (all []Action) {
	for _, k := range kinds {
		all = append(all, Action{k, h})
	}
	return all
}
