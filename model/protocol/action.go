package protocol

import (
	"fmt"
	"strings"
)

// Kind is an action of the specification.
type Kind uint8

// The actions. Those before Sweep are taken by a run, the others by the
// reconciler's timer, the network, the provider, or time.
const (
	Claim Kind = iota
	ClaimUnanswered
	Overwrite
	Wait
	ReadBack
	TakeOver
	MarkSent
	SendCharge // the specification calls it Charge
	TimeOut
	TimeOutEarly
	LookUp
	LookUpLags
	Complete
	Settle
	Review
	UpdateUnanswered
	Reply
	ReplyEarly
	Crash
	Sweep
	Collect
	LandApproved
	LandDeclined
	Lose
	Duplicate
	LandLate
	LeaseEnds
	LeaseEndsEarly
	SendsDie
	WindowCloses
	Forget
	HorizonEnds
	Failover
	KindCount // how many there are
)

var kindNames = [KindCount]string{
	"Claim", "ClaimUnanswered", "Overwrite", "Wait", "ReadBack", "TakeOver", "MarkSent", "Charge", "TimeOut", "TimeOutEarly", "LookUp",
	"LookUpLags", "Complete", "Settle", "Review", "UpdateUnanswered", "Reply", "ReplyEarly", "Crash",
	"Sweep", "Collect", "LandApproved", "LandDeclined", "Lose", "Duplicate", "LandLate", "LeaseEnds", "LeaseEndsEarly",
	"SendsDie", "WindowCloses", "Forget", "HorizonEnds", "Failover",
}

// String returns the name, as the specification has it.
func (k Kind) String() string {
	if k < KindCount {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind is the inverse of String. It returns an error that lists the names
// for anything else.
func ParseKind(name string) (Kind, error) {
	for k := range KindCount {
		if kindNames[k] == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("protocol: no action is called %q; there are %s", name, strings.Join(kindNames[:], ", "))
}

// Action labels a step: the action, the run that takes it (0 if none does) and
// the parameters of an attempt that arrives.
type Action struct {
	Kind       Kind
	Slot       Slot
	Parameters Parameters
}

// Code returns the action as a number below 4096, one for each action.
func (a Action) Code() uint16 { return uint16(a.Kind)<<4 | uint16(a.Slot)<<2 | uint16(a.Parameters) }

// ActionOf is the inverse of Code.
func ActionOf(code uint16) Action {
	return Action{Kind(code >> 4), Slot(code >> 2 & 3), Parameters(code & 3)}
}

// String returns the action as the specification writes it: Claim(1, p).
func (a Action) String() string {
	switch {
	case a.Slot == 0:
		return a.Kind.String()
	case a.Parameters == NoParameters:
		return fmt.Sprintf("%v(%d)", a.Kind, a.Slot)
	default:
		return fmt.Sprintf("%v(%d, %v)", a.Kind, a.Slot, a.Parameters)
	}
}
