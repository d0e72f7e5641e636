// Package lockstep runs the protocol's model and the sequential specification
// of package model side by side, and says whether each thing that a client of
// the one can see is allowed by the other: a refinement, checked in every
// behaviour.
//
// What can be seen is a charge, when the provider books it, and an answer, when
// its attempt is told. An attempt reaches the service at an instant of its own,
// which nobody sees; it is chosen as late as possible, at the first charge or
// answer that needs it. As nothing is promised before, that leaves the
// specification every freedom that it has, so a behaviour is refused here if
// and only if no order of its calls explains it.
//
// The package does not search and does not look at records, messages and
// leases: package explore does the one, the invariants of package protocol the
// other. Foreign charges are nobody's here.
//
// The rule it keeps: the judge is model.State.Step itself. What is kept of the
// specification's state between two steps is unpacked for it and packed again,
// and losing anything on the way is a panic.
package lockstep

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// State is a state of the protocol together with what the specification has
// promised so far. It is plain memory, and two states are the same if they are
// equal.
type State struct {
	Protocol protocol.State
	bound    protocol.Parameters // whose parameters the key is bound to
	final    uint8               // what was told first: 0 nothing, 1 declined, or a charge's number and one more
	charge   uint8               // the number of the net charge; 0 is none
	refused  model.Reason        // of the last step; nothing comes after one
}

// Refused is why the specification does not allow what was seen last, or
// model.Allowed.
func (s State) Refused() model.Reason { return s.refused }

// Initial returns the one state in which a behaviour begins.
func Initial(c *protocol.Config) State { return State{Protocol: protocol.Initial(c)} }

// Next calls emit with every step from s, in a fixed order: those of the
// protocol, and none from a state in which something was refused.
func Next(c *protocol.Config, s State, emit func(protocol.Action, State)) {
	if s.refused != model.Allowed {
		return
	}
	protocol.Next(c, s.Protocol, func(a protocol.Action, to protocol.State) {
		next := s
		next.Protocol = to
		next.sees(c, s.Protocol, a)
		emit(a, next)
	})
}

// sees judges what a client can see of the action that led here.
func (s *State) sees(c *protocol.Config, before protocol.State, a protocol.Action) {
	for i := uint8(1); ; i++ {
		charge, ok := s.Protocol.Charge(i)
		if !ok {
			break
		}
		if _, was := before.Charge(i); !was {
			s.step(charge.Parameters, model.Input{Kind: model.Charge, Parameters: parameters(charge.Parameters), Charge: name(i)})
		}
	}
	tells := a.Kind == protocol.Reply || a.Kind == protocol.ReplyEarly
	if !tells || c.Reconciles && int(a.Slot) > c.Handlers {
		return
	}
	run := before.Run(a.Slot)
	in := model.Input{Kind: model.Answer, Parameters: parameters(run.Parameters)}
	asked := run.Parameters
	switch run.Answer.Says {
	case protocol.Paid:
		in.Reply = model.Reply{Outcome: history.OutcomePaid, Charge: name(run.Answer.Charge)}
	case protocol.Declined:
		in.Reply.Outcome = history.OutcomeDeclined
	case protocol.Mismatch:
		in.Reply.Outcome = history.OutcomeMismatch
		asked = protocol.P + protocol.Q - asked // somebody with the other parameters came before
	default:
		return
	}
	s.step(asked, in)
}

// step takes the input, after an attempt with those parameters has reached the
// service.
func (s *State) step(asked protocol.Parameters, in model.Input) {
	if s.refused != model.Allowed {
		return
	}
	now, _ := s.unpack().Step(&model.Input{Kind: model.Submit, Parameters: parameters(asked)}, model.Rules{})
	now, why := now.Step(&in, model.Rules{})
	s.pack(now)
	s.refused = why
}

// parameters are told apart by their fingerprints.
func parameters(p protocol.Parameters) model.Parameters {
	return model.Parameters{Fingerprint: p.String()}
}

// names are the provider's names of charges.
var names = [...]string{"", "charge 1", "charge 2", "charge 3", "charge 4", "charge 5", "charge 6"}

func name(charge uint8) string { return names[charge] }

func number(name string) uint8 {
	for i, n := range names {
		if n == name {
			return uint8(i)
		}
	}
	panic(fmt.Sprintf("lockstep: a charge is called %q", name))
}

// unpack returns the specification's state.
func (s *State) unpack() (full model.State) {
	if s.bound != protocol.NoParameters {
		full.Key.Bound = parameters(s.bound)
	}
	full.Order.Net[0] = name(s.charge)
	switch s.final {
	case 0:
	case 1:
		full.Key.Final.Outcome = history.OutcomeDeclined
		full.Order.Told = model.ToldNotCharged
	default:
		full.Order.Kept = name(s.final - 1)
		full.Key.Final = model.Reply{Outcome: history.OutcomePaid, Charge: full.Order.Kept}
		full.Order.Told = model.ToldPaid
	}
	return full
}

// pack is the inverse of unpack.
func (s *State) pack(full model.State) {
	s.bound = protocol.NoParameters
	for _, p := range [...]protocol.Parameters{protocol.P, protocol.Q} {
		if full.Key.Bound == parameters(p) {
			s.bound = p
		}
	}
	s.charge = number(full.Order.Net[0])
	switch full.Key.Final.Outcome {
	case history.OutcomePaid:
		s.final = number(full.Key.Final.Charge) + 1
	case history.OutcomeDeclined:
		s.final = 1
	default:
		s.final = 0
	}
	if again := s.unpack(); again != full {
		panic(fmt.Sprintf("lockstep: %+v is kept as %+v", full, again))
	}
}

// String returns the protocol's state in one line, and what was refused.
func (s State) String() string {
	if s.refused == model.Allowed {
		return s.Protocol.String()
	}
	return fmt.Sprintf("%v; refused: %v", s.Protocol, s.refused)
}
