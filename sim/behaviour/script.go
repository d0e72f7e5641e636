package behaviour

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// none is the run of an action that no run takes, and the item of one that is
// about none.
const none = -1

// step is one action of a script, between two states of the model.
type step struct {
	protocol.Action
	from, to protocol.State
	slot     protocol.Slot // of the run that takes it, that of a sweep included
	run      int           // that run, counted from 0 as runs begin, or none
	item     int           // the message or the unanswered write that it is about, counted alike, or none
	applied  bool          // it is an unanswered write, and is applied later
	given    *saying       // what its clock says, if that is not left to the model
}

// before and after are the step's run around the step.
func (s *step) before() protocol.Run { return s.from.Run(s.slot) }
func (s *step) after() protocol.Run  { return s.to.Run(s.slot) }

// parameters are those of the attempt that the step's run is for.
func (s *step) parameters() protocol.Parameters {
	if s.Action.Parameters != protocol.NoParameters {
		return s.Action.Parameters
	}
	return s.before().Parameters
}

// writes reports whether the step changes what the registry keeps.
func (s *step) writes() bool { return s.from.Record().Version != s.to.Record().Version }

// stale reports whether the run goes by a record that has changed since it has
// read it.
func (s *step) stale() bool {
	switch s.before().At {
	case protocol.AtLookUp, protocol.AtCharge:
		return s.from.Record().Version != s.before().Version
	default: // it reads the record in this step
		return false
	}
}

// script is a behaviour of the model, from its initial state.
type script []step

// String returns the actions, one a line, each with the state that it leads to.
func (all script) String() string {
	var b strings.Builder
	for i := range all {
		fmt.Fprintf(&b, "%3d  %v\n       %v\n", i+1, all[i].Action, all[i].to)
	}
	return b.String()
}

// cast knows who is meant by a name. The model forgets the name of a run that
// is over: what it has sent or written is then anybody's.
type cast struct {
	slots    map[protocol.Slot]int // the run that is in each
	runs     int
	messages []message
	writes   []write
}

type message struct {
	by      protocol.Slot
	run     int
	version uint8
	copy    bool
	gone    bool // it has landed, or is lost
}

type write struct {
	protocol.Write
	by *step
}

// begins reports whether a run begins with an action.
func begins(k protocol.Kind) bool {
	switch k {
	case protocol.Claim, protocol.ClaimUnanswered, protocol.ClaimBehind, protocol.Sweep:
		return true
	default:
		return false
	}
}

// begins puts a new run into the step's slot.
func (c *cast) begins(s *step) {
	c.slots[s.slot] = c.runs
	c.runs++
}

// named is the name by which the model knows a run that was in a slot.
func (c *cast) named(slot protocol.Slot, run int) protocol.Slot {
	if in, ok := c.slots[slot]; ok && in == run {
		return slot
	}
	return protocol.Gone
}

// identify fills in which run takes a step, and which item it is about.
func (c *cast) identify(s *step) {
	if begins(s.Kind) {
		c.begins(s)
	}
	s.run, s.item = none, none
	if run, ok := c.slots[s.slot]; ok {
		s.run = run
	}
	switch s.Kind {
	case protocol.SendCharge, protocol.ChargeBehind:
		if s.after().At == protocol.AtSent {
			s.item = len(c.messages)
			c.messages = append(c.messages, message{by: s.slot, run: s.run, version: s.before().Version})
		}
	case protocol.Duplicate:
		s.item = c.travelling(s.Message)
		copied := c.messages[s.item]
		copied.by, copied.run, copied.copy = protocol.Gone, none, true
		c.messages = append(c.messages, copied)
	case protocol.LandApproved, protocol.LandDeclined, protocol.Lose:
		s.item = c.travelling(s.Message)
		c.messages[s.item].gone = true
	case protocol.ClaimUnanswered:
		s.item = len(c.writes)
		c.writes = append(c.writes, write{protocol.Write{Step: protocol.StepClaim, Owner: s.slot, Parameters: s.Parameters}, s})
	case protocol.UpdateUnanswered:
		s.item = len(c.writes)
		me := s.before()
		c.writes = append(c.writes, write{protocol.Write{Step: s.after().Step, Version: me.Version, Owner: s.slot, Reply: me.Answer}, s})
	case protocol.LandLate:
		s.item = slices.IndexFunc(c.writes, func(w write) bool {
			w.Owner = c.named(w.Owner, w.by.run)
			return w.Write == s.Write
		})
		c.writes[s.item].by.applied = true
	case protocol.Reply, protocol.Crash:
		delete(c.slots, s.slot)
	}
}

// travelling finds a message that is on its way.
func (c *cast) travelling(m protocol.Message) int {
	return slices.IndexFunc(c.messages, func(one message) bool {
		return !one.gone && one.version == m.Version && one.copy == m.Copy && c.named(one.by, one.run) == m.By
	})
}
