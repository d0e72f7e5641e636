package refine

import (
	"fmt"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// Divergence is a step of the system that is none of the model's. Two runs of
// one plan give equal divergences.
type Divergence struct {
	Step      int           // an index of the steps
	Event     int           // the last event of the history before it, -1 if there is none
	At        time.Duration // of the step
	Operation string        // the intent that it is about
	Observed  string        // what the system did
	Action    protocol.Action
	Named     bool           // Action is what the model was asked to do
	Before    protocol.State // of the model
	After     protocol.State // and after the action, if it could be taken
	Taken     bool           // it could
	Why       string         // in one sentence without a full stop
}

// Sentence tells the divergence in one line, both states among it.
func (d *Divergence) Sentence() string {
	text := fmt.Sprintf("%s: %s; the model is at [%s]", d.Observed, d.Why, Words(d.Before))
	if d.Taken {
		text += fmt.Sprintf(" and after %v at [%s]", d.Action, Words(d.After))
	} else if d.Named {
		text += fmt.Sprintf(", where it cannot do %v", d.Action)
	}
	return text
}

// Words tells a state of the model without its attempts and faults, which are
// not counted here.
func Words(s protocol.State) string {
	return strings.TrimSuffix(s.String(), "; left 0+0 tries, 0 faults")
}

// diverge notes that the step is none of the model's, and returns false.
func (c *Checker) diverge(o *operation, a protocol.Action, why string) bool {
	d := &Divergence{Step: c.at, Why: why, Action: a, Named: a != protocol.Action{}}
	if c.at < len(c.steps.Steps) {
		d.At, d.Event = c.steps.Steps[c.at].At, int(c.steps.Steps[c.at].Events)-1
		d.Observed = Observed(c.steps, c.at)
	}
	if o != nil {
		d.Operation, d.Before = o.order, o.state
		if d.Named {
			d.After, d.Taken = protocol.Take(&c.model, o.state, a)
		}
	}
	c.found = d
	return false
}

// Observed says in words what a step is.
func Observed(steps *history.Steps, at int) string {
	var b strings.Builder
	s := &steps.Steps[at]
	b.WriteString(steps.Runs[s.Run].Name)
	if s.Call == history.Nowhere {
		switch s.Kind {
		case history.StepBegin:
			b.WriteString(" begins")
		case history.StepDied:
			b.WriteString(" dies")
		case history.StepEnd:
			fmt.Fprintf(&b, " ends and answers %v", s.Outcome)
		}
		return b.String()
	}
	call := &steps.Calls[s.Call]
	switch s.Kind {
	case history.StepCall:
		fmt.Fprintf(&b, " calls %v for %s", call.Verb, call.Purpose)
	case history.StepCopied:
		fmt.Fprintf(&b, "'s %s is doubled by the network", call.Purpose)
	case history.StepLost:
		fmt.Fprintf(&b, "'s %s does not arrive", call.Purpose)
	case history.StepListed:
		fmt.Fprintf(&b, "'s %s lists %s at version %d", call.Purpose, steps.Operations[s.Operation].Key, s.Version)
	case history.StepServed:
		fmt.Fprintf(&b, "'s %s: %v", call.Purpose, s.Result)
		if call.Answered != int32(at) {
			b.WriteString(", not heard of")
		}
	}
	if call.Verb == history.VerbUpdate || call.Verb == history.VerbInsert || call.Verb == history.VerbDelete {
		fmt.Fprintf(&b, " (%v on version %d)", stateName(call), call.Version)
	}
	return b.String()
}

func stateName(call *history.Call) string {
	switch {
	case call.Verb == history.VerbDelete:
		return "delete"
	case call.Tombstone:
		return "tombstone"
	default:
		return call.State.String()
	}
}
