package window

import "fmt"

// Kind is an action of the specification.
type Kind uint8

// The actions. Those before Arrive are taken by a run.
const (
	Claim Kind = iota
	Charge
	TimeOut
	Resolve
	LookUp
	LookUpFirst
	ReadClock
	TakeOver
	Complete
	Settle
	Review
	Crash
	Arrive
	Lose
	Tick
	kindCount // how many there are
)

var kindNames = [kindCount]string{
	"Claim", "Charge", "TimeOut", "Resolve", "LookUp", "LookUpFirst", "ReadClock", "TakeOver", "Complete", "Settle", "Review", "Crash",
	"Arrive", "Lose", "Tick",
}

// String returns the name, as the specification has it.
func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Action labels a step: the action and what it is about. A field that an
// action does not have is zero.
type Action struct {
	Kind  Kind
	Slot  Slot  // the run that takes it
	Error int8  // by how much the clock that is read is fast
	Shows bool  // look-ups: a charge is shown
	Way   Place // look-ups: where the run goes
}

// Code returns the action as a number, one for each action.
func (a Action) Code() uint16 {
	code := uint16(a.Kind)<<10 | uint16(a.Slot)<<8 | uint16(a.Error)<<5 | uint16(a.Way)
	if a.Shows {
		code |= 1 << 4
	}
	return code
}

// ActionOf is the inverse of Code.
func ActionOf(code uint16) Action {
	return Action{Kind(code >> 10), Slot(code >> 8 & 3), int8(code >> 5 & 7), code>>4&1 == 1, Place(code & 15)}
}

// String returns the action as the specification writes it, with words for
// what a look-up shows: Claim(1, 0), LookUp(1, nothing, take-over).
func (a Action) String() string {
	shows := "nothing"
	if a.Shows {
		shows = "a charge"
	}
	switch a.Kind {
	case Arrive, Lose, Tick:
		return a.Kind.String()
	case Claim, Charge, Resolve:
		return fmt.Sprintf("%v(%d, %d)", a.Kind, a.Slot, a.Error)
	case LookUp:
		return fmt.Sprintf("%v(%d, %s, %v)", a.Kind, a.Slot, shows, a.Way)
	case LookUpFirst:
		return fmt.Sprintf("%v(%d, %s)", a.Kind, a.Slot, shows)
	case ReadClock:
		return fmt.Sprintf("%v(%d, %d, %v)", a.Kind, a.Slot, a.Error, a.Way)
	default:
		return fmt.Sprintf("%v(%d)", a.Kind, a.Slot)
	}
}

// Fairness returns what may be relied on in the end, as sets of actions: one
// of a set is taken if it stays possible. Runs go on, time passes, and somebody
// resolves.
func Fairness(c *Config) [][]Action {
	var all [][]Action
	for h := Slot(1); h <= Slot(c.Runs); h++ {
		var charges, lookUps, resolves []Action
		for e := range int8(c.Skew) + 1 {
			charges = append(charges, Action{Kind: Charge, Slot: h, Error: e})
			resolves = append(resolves, Action{Kind: Resolve, Slot: h, Error: e})
		}
		for _, way := range ways {
			lookUps = append(lookUps, Action{Kind: LookUp, Slot: h, Way: way}, Action{Kind: LookUp, Slot: h, Way: way, Shows: true})
		}
		all = append(all, charges, lookUps, resolves)
		for _, k := range []Kind{TimeOut, TakeOver, Complete, Settle, Review} {
			all = append(all, []Action{{Kind: k, Slot: h}})
		}
	}
	return append(all, []Action{{Kind: Tick}})
}
