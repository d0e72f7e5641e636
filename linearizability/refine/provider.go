package refine

import (
	"time"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// charges is that a run is about to send, which its clock has just permitted.
func (c *Checker) charges(o *operation, s *history.Step, r *run, call *history.Call, h protocol.Slot) bool {
	action := protocol.Action{Kind: protocol.SendCharge, Slot: h}
	switch {
	case !c.isAt(o, h, protocol.AtCharge):
		return c.diverge(o, action, "the run sends, and in the model it is not about to")
	case call.Ref != o.providerKey:
		return c.diverge(o, action, "the run sends under another provider key than the record has")
	case call.Request != o.request:
		return c.diverge(o, action, "the run sends another request than the record has")
	case s.At > c.cfg.span(r.lease).last:
		return c.diverge(o, action, "the run sends although by every clock its lease is over")
	case s.At > c.cfg.closed(o).last:
		return c.diverge(o, action, "the run sends although by every clock the window is closed")
	}
	me := o.state.Run(h)
	next, ok := protocol.Take(&c.model, o.state, action)
	if ok && next.Run(h).At != protocol.AtSent {
		action = behind(action)
		next, ok = protocol.Take(&c.model, o.state, action)
	}
	if !ok || next.Run(h).At != protocol.AtSent {
		return c.diverge(o, action, "the run sends, and the model's does not")
	}
	send := &c.sends[s.Call]
	send.original = true
	send.message = protocol.Message{By: h, Version: me.Version, Key: 1, Parameters: o.state.Record().Parameters}
	return c.accept(o, action, next)
}

// refrains is that a run does not send: its lease is over or the window is
// closed, by its clock.
func (c *Checker) refrains(o *operation, h protocol.Slot, r *run) bool {
	action := protocol.Action{Kind: protocol.SendCharge, Slot: h}
	next, ok := protocol.Take(&c.model, o.state, action)
	if ok && next.Run(h).At == protocol.AtSent {
		now := c.steps.Steps[c.at].At
		switch {
		case now >= c.cfg.span(r.lease).first:
			ok = c.lapse(o, now)
		case now >= c.cfg.closed(o).first:
			ok = c.close(o, now)
		default:
			return c.diverge(o, action, "the run does not send, and the model's does")
		}
		if !ok {
			return false
		}
		next, ok = protocol.Take(&c.model, o.state, action)
	}
	if !ok || next.Run(h).At != protocol.AtReply {
		return c.diverge(o, action, "the run does not send, and the model's does")
	}
	return c.accept(o, action, next)
}

// timesOut is that a run does not hear the answer to its charge.
func (c *Checker) timesOut(o *operation, h protocol.Slot) bool {
	if !c.isAt(o, h, protocol.AtSent) {
		return true
	}
	kind := protocol.TimeOut
	for _, m := range o.state.Messages() {
		if m.By == h {
			kind = protocol.TimeOutEarly
		}
	}
	return c.take(o, protocol.Action{Kind: kind, Slot: h})
}

// copied is that the network doubles a charge request.
func (c *Checker) copied(s *history.Step) bool {
	o := c.concerns(s.Call)
	if o == nil || o.unjudged {
		return true
	}
	send := &c.sends[s.Call]
	send.copied = true
	return c.take(o, protocol.Action{Kind: protocol.Duplicate, Message: c.original(o, s.Call)})
}

// original is a request as the model has it now: nobody waits for it once its
// run is over.
func (c *Checker) original(o *operation, number int32) protocol.Message {
	m := c.sends[number].message
	if m.By != protocol.Gone && o.slots[m.By] != c.steps.Calls[number].Run {
		m.By = protocol.Gone
	}
	return m
}

// arrived takes one copy of a request off its way. Copies are alike: the one
// whose answer was heard is the original.
func (c *Checker) arrived(o *operation, number int32, heard bool) (m protocol.Message, ok bool) {
	send := &c.sends[number]
	m = c.original(o, number)
	switch {
	case send.copied && !(heard && send.original):
		send.copied = false
		m.Copy, m.By = true, protocol.Gone
		return m, true
	case send.original:
		send.original = false
		return m, true
	default:
		return m, false
	}
}

// lost is that a copy of a charge request will never land.
func (c *Checker) lost(s *history.Step) bool {
	o := c.concerns(s.Call)
	if o == nil || o.unjudged {
		return true
	}
	m, ok := c.arrived(o, s.Call, false)
	if !ok {
		return c.diverge(o, protocol.Action{Kind: protocol.Lose}, "a request is lost that in the model is not on its way")
	}
	return c.take(o, protocol.Action{Kind: protocol.Lose, Message: m})
}

// landed is that a charge request arrived at the provider.
func (c *Checker) landed(o *operation, s *history.Step, r *run, heard bool) bool {
	action := protocol.Action{Kind: protocol.LandApproved}
	switch s.Result {
	case history.ResultDeclined:
		action.Kind = protocol.LandDeclined
	case history.ResultRejected:
		action.Kind, heard = protocol.Lose, false
	}
	m, ok := c.arrived(o, s.Call, heard)
	if !ok {
		return c.diverge(o, action, "a request lands that in the model is not on its way")
	}
	action.Message = m
	if heard {
		r.done = true
	} else if m.By != protocol.Gone && action.Kind != protocol.Lose && r.call == s.Call && !r.done {
		r.done = true
		if !c.timesOut(o, m.By) {
			return false
		}
	}
	before := len(o.state.Ledger())
	if !c.take(o, action) {
		return false
	}
	captured := len(o.state.Ledger()) - before
	if captured == 1 && s.Result == history.ResultCaptured {
		o.charges = append(o.charges, s.Charge)
	} else if captured == 1 || s.Result == history.ResultCaptured {
		return c.diverge(o, protocol.Action{}, "the provider's ledger is not the model's")
	}
	return true
}

// seen is what a look-up shows.
type seen uint8

const (
	unseen seen = iota // the provider has no look-up
	shows              // all charges
	hides              // none, though there are some
)

// looked is that a look-up arrived, and that its answer was heard.
func (c *Checker) looked(o *operation, s *history.Step) bool {
	h := c.slotOf(s.Run)
	see := shows
	switch {
	case int(s.Found) == len(o.charges):
	case s.Found == 0:
		see = hides
	default:
		return c.diverge(o, protocol.Action{Kind: protocol.LookUp, Slot: h}, "the look-up shows some of the charges")
	}
	return c.resolves(o, s.Run, h, see) && c.rests(o, s.Run)
}

// resolves is that a run decides after its look-up. What it decided is seen
// from what it did.
func (c *Checker) resolves(o *operation, number int32, h protocol.Slot, see seen) bool {
	r := &c.runs[number]
	kind := protocol.LookUp
	if see == hides {
		kind = protocol.LookUpLags
	}
	action := protocol.Action{Kind: kind, Slot: h}
	if !c.isAt(o, h, protocol.AtLookUp) {
		return c.diverge(o, action, "the run decides, and in the model it is not about to")
	}
	target := c.aims(o, number)
	if target == protocol.AtIdle {
		return true
	}
	read := c.readingOf(number)
	current := o.state.Run(h).Version == o.state.Record().Version
	if !c.requires(o, h, target, see, read) {
		return false
	}
	if c.decides(o, r, action, target, read) {
		return true
	}
	// Who leaves a record that it might have taken over had no room to send.
	if current && target == protocol.AtReply && o.state.Record().Window == protocol.WindowOpen && read >= c.cfg.narrow(o).first {
		if !c.close(o, read) {
			return false
		}
		if c.decides(o, r, action, target, read) {
			return true
		}
	}
	return c.diverge(o, action, "the run decides for "+target.String()+", and the model does not")
}

// decides takes the look-up after which the run goes on as it did, by the
// first clock or by one that is behind, if there is one.
func (c *Checker) decides(o *operation, r *run, action protocol.Action, target protocol.Place, read time.Duration) bool {
	action.To = target
	next, ok := protocol.Take(&c.model, o.state, action)
	if !ok && c.uncertain(o, read) {
		action = behind(action)
		next, ok = protocol.Take(&c.model, o.state, action)
	}
	if !ok {
		return false
	}
	r.operation = c.about
	return c.accept(o, action, next)
}

// aims is where a run goes from its look-up: AtReply if it leaves the record
// as it is, AtIdle if it died before anybody can tell.
func (c *Checker) aims(o *operation, number int32) protocol.Place {
	next := int32(c.at)
	if s := &c.steps.Steps[c.at]; s.Run != number || s.Kind != history.StepCall && s.Kind != history.StepEnd {
		next = c.next[c.at]
	}
	if next == history.Nowhere || c.steps.Steps[next].Kind == history.StepDied {
		return protocol.AtIdle
	}
	if s := &c.steps.Steps[next]; s.Kind == history.StepCall {
		call := &c.steps.Calls[s.Call]
		if u, known := updateFor(call.Purpose); known && call.Verb == history.VerbUpdate && call.Operation == c.about {
			return u.at
		}
	}
	return protocol.AtReply
}

// readingOf is when a run read its clock before the decision that it takes
// now: before its look-up, or, without one, just now or when it got its list.
func (c *Checker) readingOf(number int32) time.Duration {
	r := &c.runs[number]
	now := c.steps.Steps[c.at]
	if c.model.Lookups {
		return r.called
	}
	if c.steps.Runs[number].Reconciler && now.Kind != history.StepCall {
		return r.listed
	}
	return now.At
}
