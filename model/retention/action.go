package retention

import "fmt"

// Kind is an action of the specification.
type Kind uint8

// The actions.
const (
	Ask Kind = iota
	Arrive
	Insert
	Land
	Complete
	Decline
	Review
	CompleteStale
	DropBody
	Delete
	Reap
	DeleteStale
	Failover
	Tick
	kindCount // how many there are
)

var kindNames = []string{
	"Ask", "Arrive", "Insert", "Land", "Complete", "Decline", "Review", "CompleteStale", "DropBody", "Delete", "Reap", "DeleteStale",
	"Failover", "Tick",
}

// String returns the name, as the specification has it.
func (k Kind) String() string { return nameOf(k, "action", kindNames) }

// Action labels a step: the action and what it is about. A field that an
// action does not have is zero.
type Action struct {
	Kind   Kind
	Sender Sender
	Error  int8 // by how much the clock that is read is fast
}

// Code returns the action as a number, one for each action.
func (a Action) Code() uint16 { return uint16(a.Kind)<<6 | uint16(a.Sender)<<3 | uint16(a.Error) }

// ActionOf is the inverse of Code.
func ActionOf(code uint16) Action {
	return Action{Kind(code >> 6), Sender(code >> 3 & 7), int8(code & 7)}
}

// String returns the action as the specification writes it: Insert(p, 0).
func (a Action) String() string {
	switch a.Kind {
	case Ask, Insert:
		return fmt.Sprintf("%v(%v, %d)", a.Kind, a.Sender, a.Error)
	case Arrive:
		return fmt.Sprintf("%v(%v)", a.Kind, a.Sender)
	case Complete, Decline, CompleteStale, DropBody, Delete, Reap:
		return fmt.Sprintf("%v(%d)", a.Kind, a.Error)
	default:
		return a.Kind.String()
	}
}

// Fairness returns what may be relied on in the end, as sets of actions: one
// of a set is taken if it stays possible. Time passes and the collector goes
// on.
func Fairness(c *Config) [][]Action {
	var drops, deletes []Action
	for e := range c.readings() {
		drops = append(drops, Action{Kind: DropBody, Error: e})
		deletes = append(deletes, Action{Kind: Delete, Error: e})
	}
	return [][]Action{drops, deletes, {{Kind: Tick}}}
}
