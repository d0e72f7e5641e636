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
	ClaimBehind
	Overwrite
	Wait
	WaitBehind
	ReadBack
	ReadBackBehind
	TakeOver
	MarkSent
	SendCharge // the specification calls it Charge
	ChargeBehind
	TimeOut
	TimeOutEarly
	LookUp
	LookUpLags
	LookUpBehind
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
	"Claim", "ClaimUnanswered", "ClaimBehind", "Overwrite", "Wait", "WaitBehind", "ReadBack", "ReadBackBehind",
	"TakeOver", "MarkSent", "Charge", "ChargeBehind", "TimeOut", "TimeOutEarly", "LookUp", "LookUpLags", "LookUpBehind", "Complete", "Settle", "Review", "UpdateUnanswered", "Reply", "ReplyEarly", "Crash",
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

// Action names exactly one step: the action, the run that takes it (0 if none
// does), and where it could go several ways which one.
type Action struct {
	Kind       Kind
	Slot       Slot
	Parameters Parameters // Claim, ClaimUnanswered, ClaimBehind: of the attempt that arrives
	To         Place      // LookUp, LookUpLags, LookUpBehind: where the run goes on; AtReply is that it leaves the record
	Message    Message    // LandApproved, LandDeclined, Lose and Duplicate: the one that does
	Write      Write      // LandLate: the one that does
}

// Code returns the label of the action as a number below 2048: the kind, the
// run and the parameters, and not which of several ways it goes.
func (a Action) Code() uint16 { return uint16(a.Kind)<<5 | uint16(a.Slot)<<2 | uint16(a.Parameters) }

// ActionOf is the inverse of Code.
func ActionOf(code uint16) Action {
	return Action{Kind: Kind(code >> 5), Slot: Slot(code >> 2 & 7), Parameters: Parameters(code & 3)}
}

// String returns the action as the specification writes it, Claim(1, p), and
// after it which way it goes, if that is said.
func (a Action) String() string {
	text := a.Kind.String()
	switch {
	case a.Slot != 0 && a.Parameters != NoParameters:
		text += fmt.Sprintf("(%d, %v)", a.Slot, a.Parameters)
	case a.Slot != 0:
		text += fmt.Sprintf("(%d)", a.Slot)
	}
	if a.To != AtIdle {
		text += fmt.Sprintf(" to %v", a.To)
	}
	if a.Message != (Message{}) {
		text += fmt.Sprintf(" of %v", a.Message)
	}
	if a.Write != (Write{}) {
		text += fmt.Sprintf(" of %v", a.Write)
	}
	return text
}
