package refine

import (
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// update is what an update is in the model: the action, where a run is that
// may take it, and its name there.
type update struct {
	kind protocol.Kind
	at   protocol.Place
	step protocol.Step
}

func updateFor(purpose string) (update, bool) {
	switch purpose {
	case "take-over":
		return update{protocol.TakeOver, protocol.AtTakeOver, protocol.StepTakeOver}, true
	case "mark-sent":
		return update{protocol.MarkSent, protocol.AtMarkSent, protocol.StepMarkSent}, true
	case "complete":
		return update{protocol.Complete, protocol.AtComplete, protocol.StepComplete}, true
	case "settle":
		return update{protocol.Settle, protocol.AtSettle, protocol.StepSettle}, true
	case "review":
		return update{protocol.Review, protocol.AtReview, protocol.StepReview}, true
	default:
		return update{}, false
	}
}

// collects reports whether a call is the collector's, which is no run of the
// model.
func collects(call *history.Call) bool {
	return call.Tombstone || call.Verb == history.VerbDelete
}

// calls is that a run makes a call: what came before it is over.
func (c *Checker) calls(s *history.Step, r *run) bool {
	call := &c.steps.Calls[s.Call]
	if !c.goesOn(s, r) {
		return false
	}
	o := c.concerns(s.Call)
	if c.steps.Runs[s.Run].Reconciler && r.operation != history.Nowhere && (o == nil || r.operation != c.about) {
		if !c.leaves(c.operation(r.operation), r) {
			return false
		}
		r.operation = history.Nowhere
		o = c.concerns(s.Call)
	}
	r.call, r.called, r.done = s.Call, s.At, false
	if o == nil {
		return c.callsElsewhere(s, call)
	}
	if o.unjudged {
		return true
	}
	if c.steps.Runs[s.Run].Reconciler {
		r.operation = c.about
	}
	switch told := &c.steps.Runs[s.Run]; {
	case r.blind:
		return c.diverge(o, protocol.Action{}, "the run goes on although its read had no answer")
	case !told.Reconciler && c.about != told.Operation:
		return c.diverge(o, protocol.Action{}, "the run turns to another operation than it is asked for")
	}
	h := c.slotOf(s.Run)
	switch call.Verb {
	case history.VerbInsert:
		return c.claims(o, r, call)
	case history.VerbGet:
		return c.reads(o, h)
	case history.VerbUpdate:
		return collects(call) || c.intends(o, s, call, h)
	case history.VerbCharge:
		return c.charges(o, s, r, call, h)
	case history.VerbLookup:
		action := protocol.Action{Kind: protocol.LookUp, Slot: h}
		switch {
		case !c.isAt(o, h, protocol.AtLookUp):
			return c.diverge(o, action, "the run looks up, and in the model it is not about to")
		case call.Ref != o.providerKey:
			return c.diverge(o, action, "the run looks up another provider key than the record has")
		}
	}
	return true
}

// callsElsewhere is that a run makes a call which is about no operation.
func (c *Checker) callsElsewhere(s *history.Step, call *history.Call) bool {
	switch call.Verb {
	case history.VerbUnfinished, history.VerbExpired:
		if !c.steps.Runs[s.Run].Reconciler {
			return c.diverge(nil, protocol.Action{Kind: protocol.Sweep}, "a handler sweeps")
		}
	case history.VerbRefund:
		return c.diverge(nil, protocol.Action{}, "the protocol refunds nothing")
	case history.VerbCharge, history.VerbLookup:
		for i := range c.operations {
			if c.operations[i].unjudged { // it may be one of this
				return true
			}
		}
		return c.diverge(nil, protocol.Action{}, "no record has the provider key of the call")
	}
	return true
}

func (c *Checker) isAt(o *operation, h protocol.Slot, at protocol.Place) bool {
	return h != 0 && o.slots[h] != history.Nowhere && o.state.Run(h).At == at
}

// claims is that a run is about to claim.
func (c *Checker) claims(o *operation, r *run, call *history.Call) bool {
	told := &c.steps.Runs[call.Run]
	switch {
	case told.Reconciler:
		return c.diverge(o, protocol.Action{Kind: protocol.Claim}, "the reconciler claims")
	case r.slot != 0 && !r.waived:
		return c.diverge(o, protocol.Action{Kind: protocol.Claim, Slot: r.slot}, "the run claims a second time")
	case call.Fingerprint != told.Fingerprint:
		return c.diverge(o, protocol.Action{Kind: protocol.Claim}, "the run claims with other parameters than it is asked with")
	case call.Purpose != "claim" || call.State != history.StateClaimed:
		return c.diverge(o, protocol.Action{Kind: protocol.Claim}, "the run inserts what is no claim")
	}
	return true
}

// reads is that a run is about to read.
func (c *Checker) reads(o *operation, h protocol.Slot) bool {
	if c.isAt(o, h, protocol.AtWait) || c.isAt(o, h, protocol.AtReadBack) {
		return true
	}
	return c.diverge(o, protocol.Action{Kind: protocol.ReadBack, Slot: h}, "the run reads the record, and in the model it is not about to")
}

// intends is that a run is about to update the record: it must be where the
// model lets it, with the same outcome and on the version that it read.
func (c *Checker) intends(o *operation, s *history.Step, call *history.Call, h protocol.Slot) bool {
	u, known := updateFor(call.Purpose)
	if !known {
		return c.diverge(o, protocol.Action{}, "the protocol has no update for "+call.Purpose)
	}
	action := protocol.Action{Kind: u.kind, Slot: h}
	if c.isAt(o, h, protocol.AtLookUp) && !c.model.Lookups {
		if !c.resolves(o, s.Run, h, unseen) {
			return false
		}
	}
	if !c.isAt(o, h, u.at) {
		return c.diverge(o, action, "the run updates the record for "+call.Purpose+", and in the model it is not about to")
	}
	me := o.state.Run(h)
	switch {
	case call.Version != uint64(me.Version):
		return c.diverge(o, action, "the update is fenced by another version than the run has read")
	case !o.saves(me.Answer, call):
		return c.diverge(o, action, "the update saves another outcome than the model's run knows")
	case o.state.Record().Version == me.Version && !o.keeps(call, u):
		return c.diverge(o, action, "the update changes what was bound at the claim, or the lease")
	}
	return true
}

// saves reports whether an update saves the answer that a run of the model
// has.
func (o *operation) saves(a protocol.Answer, call *history.Call) bool {
	switch call.Outcome {
	case history.OutcomePaid:
		return a.Says == protocol.Paid && o.charge(a) == call.Charge
	case history.OutcomeDeclined:
		return a.Says == protocol.Declined
	default:
		return !a.Final()
	}
}

// charge returns the provider's name of the charge that an answer tells of.
func (o *operation) charge(a protocol.Answer) string {
	if a.Charge == 0 || int(a.Charge) > len(o.charges) {
		return ""
	}
	return o.charges[a.Charge-1]
}

func (o *operation) keeps(call *history.Call, u update) bool {
	return call.WindowFrom == o.windowFrom && call.Ref == o.providerKey && call.Request == o.request && call.Fingerprint == o.fingerprint &&
		(u.kind == protocol.TakeOver || call.LeaseUntil == o.leaseUntil)
}

// served is that a request arrived at the registry or the provider.
func (c *Checker) served(s *history.Step, r *run) bool {
	call := &c.steps.Calls[s.Call]
	if call.Verb == history.VerbUnfinished {
		r.listing, r.listed = int32(c.at), s.At
	}
	o := c.concerns(s.Call)
	if o == nil || o.unjudged {
		return true
	}
	heard := call.Answered == int32(c.at)
	switch call.Verb {
	case history.VerbInsert:
		return c.inserted(o, s, r, call, heard)
	case history.VerbGet:
		return !heard || s.Result == history.ResultUnapplied || c.read(o, s, r)
	case history.VerbUpdate:
		if collects(call) {
			return s.Result != history.ResultApplied || c.collected(o, s, call)
		}
		return c.updated(o, s, r, call, heard)
	case history.VerbDelete:
		if s.Result == history.ResultApplied && !o.collected {
			return c.diverge(o, protocol.Action{Kind: protocol.Collect}, "a record is deleted that was not collected")
		}
		return true
	case history.VerbCharge:
		return c.landed(o, s, r, heard)
	case history.VerbLookup:
		if !heard || s.Result != history.ResultFound {
			return true
		}
		r.done = true
		return c.looked(o, s)
	}
	return true
}

// inserted is that a claim arrived.
func (c *Checker) inserted(o *operation, s *history.Step, r *run, call *history.Call, heard bool) bool {
	switch {
	case s.Result == history.ResultApplied && heard:
		c.enter(o, s.Run)
		r.done = true
		return c.take(o, c.claim(o, s.Run)) && c.agrees(o, s, r, call)
	case s.Result == history.ResultApplied && c.hearsOfItself(call):
		// The run hears of a record that its own doubled request has made, and
		// takes it for somebody else's.
		c.enter(o, s.Run)
		action := c.claim(o, s.Run)
		if !c.take(o, action) || !c.take(o, protocol.Action{Kind: protocol.Crash, Slot: action.Slot}) {
			return false
		}
		c.leave(o, r.slot)
		r.slot = 0
		return c.agrees(o, s, r, call)
	case s.Result == history.ResultApplied:
		if !r.done && !r.over && r.call == s.Call {
			r.done = true
			if !c.claimUnanswered(o, s.Run) {
				return false
			}
		}
		return c.landLate(o, s, call) && c.agrees(o, s, r, call)
	case s.Result == history.ResultShown && heard:
		r.done = true
		if r.waived {
			return c.follows(o, s.Run, protocol.Action{Kind: protocol.ReadBack, Slot: r.slot})
		}
		c.enter(o, s.Run)
		return c.follows(o, s.Run, c.claim(o, s.Run))
	}
	return true
}

func (c *Checker) hearsOfItself(call *history.Call) bool {
	return call.Answered != history.Nowhere && c.steps.Steps[call.Answered].Result == history.ResultShown
}

func (c *Checker) claim(o *operation, number int32) protocol.Action {
	told := &c.steps.Runs[number]
	return protocol.Action{Kind: protocol.Claim, Slot: c.runs[number].slot, Parameters: o.parametersOf(told.Fingerprint)}
}

// claimUnanswered is that a run does not hear what became of its claim.
func (c *Checker) claimUnanswered(o *operation, number int32) bool {
	r := &c.runs[number]
	c.enter(o, number)
	action := c.claim(o, number)
	action.Kind = protocol.ClaimUnanswered
	if o.state.Record().Version == 0 && r.call != history.Nowhere {
		l := &c.sends[r.call]
		l.late = true
		l.write = protocol.Write{Step: protocol.StepClaim, Owner: r.slot, Parameters: action.Parameters}
	}
	return c.take(o, action)
}

// updateUnanswered is that a run does not hear what became of its update.
func (c *Checker) updateUnanswered(o *operation, number int32) bool {
	r := &c.runs[number]
	h := c.slotOf(number)
	me := o.state.Run(h)
	u, _ := updateFor(c.steps.Calls[r.call].Purpose)
	if o.state.Record().Version != me.Version { // it would be a conflict
		return c.take(o, protocol.Action{Kind: u.kind, Slot: h})
	}
	l := &c.sends[r.call]
	l.late = true
	l.write = protocol.Write{Step: u.step, Version: me.Version, Owner: h, Reply: me.Answer}
	return c.take(o, protocol.Action{Kind: protocol.UpdateUnanswered, Slot: h})
}

// landLate is that a write is applied of which nobody heard.
func (c *Checker) landLate(o *operation, s *history.Step, call *history.Call) bool {
	l := &c.sends[s.Call]
	if !l.late {
		return c.diverge(o, protocol.Action{Kind: protocol.LandLate}, "a write is applied that in the model can no longer be")
	}
	l.late = false
	write := l.write
	if write.Owner != protocol.Gone && o.slots[write.Owner] != call.Run {
		write.Owner = protocol.Gone
	}
	return c.take(o, protocol.Action{Kind: protocol.LandLate, Write: write})
}

// updated is that an update arrived.
func (c *Checker) updated(o *operation, s *history.Step, r *run, call *history.Call, heard bool) bool {
	h := c.slotOf(s.Run)
	u, known := updateFor(call.Purpose)
	if !known {
		return true
	}
	switch {
	case s.Result == history.ResultApplied && heard:
		r.done = true
		return c.take(o, protocol.Action{Kind: u.kind, Slot: h}) && c.agrees(o, s, r, call) && c.rests(o, s.Run)
	case s.Result == history.ResultApplied:
		if !r.done && !r.over && r.call == s.Call {
			r.done = true
			if !c.updateUnanswered(o, s.Run) {
				return false
			}
		}
		return c.landLate(o, s, call) && c.agrees(o, s, r, call)
	case s.Result == history.ResultConflict && heard && !r.done:
		r.done = true
		was := o.state.Record().Version
		if !c.take(o, protocol.Action{Kind: u.kind, Slot: h}) {
			return false
		}
		if o.state.Record().Version != was {
			return c.diverge(o, protocol.Action{}, "the registry refuses an update that the model applies")
		}
	}
	return true
}

// agrees compares the record of the model with the one that was just written.
func (c *Checker) agrees(o *operation, s *history.Step, r *run, call *history.Call) bool {
	rec := o.state.Record()
	if uint64(rec.Version) != s.Version || stateOf(rec.State) != s.State {
		return c.diverge(o, protocol.Action{}, "the record that was written is not the model's")
	}
	if call.Verb == history.VerbInsert {
		o.providerKey, o.windowFrom, o.request, o.fingerprint = call.Ref, call.WindowFrom, call.Request, call.Fingerprint
	}
	if call.Verb == history.VerbInsert || call.Purpose == "take-over" {
		r.lease = call.LeaseUntil
	}
	o.leaseUntil = call.LeaseUntil
	o.next = c.due(o)
	return true
}

func stateOf(s protocol.RecordState) history.State {
	switch s {
	case protocol.Claimed:
		return history.StateClaimed
	case protocol.Sent:
		return history.StateSent
	case protocol.Succeeded:
		return history.StateSucceeded
	case protocol.DeclinedState:
		return history.StateDeclined
	case protocol.InReview:
		return history.StateReview
	default:
		return history.StateNone
	}
}

// read is that a read arrived, and that its answer was heard.
func (c *Checker) read(o *operation, s *history.Step, r *run) bool {
	h := c.slotOf(s.Run)
	r.done, r.absent = true, s.Result == history.ResultAbsent
	kind := protocol.ReadBack
	if c.isAt(o, h, protocol.AtWait) {
		kind = protocol.Wait
	}
	if !o.collected && o.state.Record().Version != uint8(s.Version) {
		return c.diverge(o, protocol.Action{Kind: kind, Slot: h}, "the record that is read is not the model's")
	}
	if !c.follows(o, s.Run, protocol.Action{Kind: kind, Slot: h}) {
		return false
	}
	if at := o.state.Run(h).At; at == protocol.AtCharge || at == protocol.AtMarkSent {
		r.lease = o.leaseUntil
	}
	return c.rests(o, s.Run)
}

// collected is that a record becomes a tombstone.
func (c *Checker) collected(o *operation, s *history.Step, call *history.Call) bool {
	if call.Fingerprint != o.fingerprint || call.Ref != o.providerKey {
		return c.diverge(o, protocol.Action{Kind: protocol.Collect}, "the tombstone is not of what was claimed")
	}
	if o.collected {
		return c.diverge(o, protocol.Action{Kind: protocol.Collect}, "a tombstone is written again")
	}
	if !c.expire(o, s.At) || !c.take(o, protocol.Action{Kind: protocol.Collect}) {
		return false
	}
	o.collected = true
	return true
}

// listed is that a sweep gets a record.
func (c *Checker) listed(s *history.Step, r *run) bool {
	o := c.operation(s.Operation)
	call := &c.steps.Calls[s.Call]
	if call.Verb != history.VerbUnfinished || call.Answered != r.listing || o.unjudged {
		return true
	}
	if o.slots[reconciler] != history.Nowhere {
		panic(protocol.OutOfRoom{Of: "reconcilers"})
	}
	if !c.lapse(o, s.At) {
		return false
	}
	o.slots[reconciler] = s.Run
	if !c.take(o, protocol.Action{Kind: protocol.Sweep}) {
		return false
	}
	if uint64(o.state.Run(reconciler).Version) != s.Version {
		return c.diverge(o, protocol.Action{Kind: protocol.Sweep}, "the record that is listed is not the model's")
	}
	return true
}

// goesOn is that a run does something after a call: if it did not hear of it,
// that is how the call ended for it.
func (c *Checker) goesOn(s *history.Step, r *run) bool {
	if r.call == history.Nowhere || r.done {
		return true
	}
	o := c.concerns(r.call)
	if o == nil || o.unjudged {
		return true
	}
	call := &c.steps.Calls[r.call]
	r.done = true
	switch call.Verb {
	case history.VerbInsert:
		return r.waived || c.claimUnanswered(o, s.Run)
	case history.VerbUpdate:
		return collects(call) || c.updateUnanswered(o, s.Run)
	case history.VerbGet, history.VerbLookup:
		if c.steps.Runs[s.Run].Reconciler {
			return c.vanishes(o, reconciler)
		}
		r.blind = true
	case history.VerbCharge:
		return c.timesOut(o, c.slotOf(s.Run))
	}
	return true
}

// vanishes ends a run without effect.
func (c *Checker) vanishes(o *operation, h protocol.Slot) bool {
	if !c.take(o, protocol.Action{Kind: protocol.Crash, Slot: h}) {
		return false
	}
	c.leave(o, h)
	return true
}

// rests ends the reconciler's run on a record as soon as it has nothing to do
// any more: it answers nobody.
func (c *Checker) rests(o *operation, number int32) bool {
	if !c.steps.Runs[number].Reconciler || !c.isAt(o, reconciler, protocol.AtReply) {
		return true
	}
	if !c.take(o, protocol.Action{Kind: protocol.Reply, Slot: reconciler}) {
		return false
	}
	c.leave(o, reconciler)
	return true
}

// leaves is that the reconciler turns to another record, or is done.
func (c *Checker) leaves(o *operation, r *run) bool {
	number := o.slots[reconciler]
	if o.unjudged || number == history.Nowhere {
		return true
	}
	if c.isAt(o, reconciler, protocol.AtLookUp) && !c.model.Lookups && !c.resolves(o, number, reconciler, unseen) {
		return false
	}
	if c.isAt(o, reconciler, protocol.AtCharge) && !c.refrains(o, reconciler, r) {
		return false
	}
	if o.slots[reconciler] == history.Nowhere || c.isAt(o, reconciler, protocol.AtReply) {
		return c.rests(o, number)
	}
	return c.diverge(o, protocol.Action{}, "the reconciler leaves a record, and in the model it has something to do")
}

// ends is that a run is over.
func (c *Checker) ends(s *history.Step, r *run) bool {
	if !c.goesOn(s, r) {
		return false
	}
	r.over = true
	if c.steps.Runs[s.Run].Reconciler {
		for i := range c.operations {
			if c.operations[i].slots[reconciler] == s.Run && !c.leaves(c.operation(int32(i)), r) {
				return false
			}
		}
		return true
	}
	o := c.operation(r.operation)
	switch {
	case o.unjudged:
		return true
	case r.waived && r.call == history.Nowhere && s.Outcome == history.OutcomeRefused:
		return c.vanishes(o, r.slot)
	case r.slot == 0:
		if s.Outcome != history.OutcomeRefused {
			return c.diverge(o, protocol.Action{}, "the run answers without having claimed")
		}
		return true
	case r.blind:
		if s.Outcome != history.OutcomeInProgress && s.Outcome != history.OutcomeUnavailable {
			return c.diverge(o, protocol.Action{}, "the run answers although its read had no answer")
		}
		return c.vanishes(o, r.slot)
	case c.isAt(o, r.slot, protocol.AtCharge) && !c.refrains(o, r.slot, r):
		return false
	case c.isAt(o, r.slot, protocol.AtLookUp) && !c.model.Lookups && !c.resolves(o, s.Run, r.slot, unseen):
		return false
	}
	reply := protocol.Action{Kind: protocol.Reply, Slot: r.slot}
	me := o.state.Run(r.slot)
	if me.At != protocol.AtReply {
		return c.diverge(o, reply, "the run is over, and in the model it is not")
	}
	if !o.tells(me.Answer, s) && !(r.absent && me.Answer.Says == protocol.InProgress && s.Outcome == history.OutcomeUnavailable) {
		return c.diverge(o, reply, "the run answers otherwise than in the model")
	}
	if !c.take(o, reply) {
		return false
	}
	c.leave(o, r.slot)
	return true
}

// tells reports whether a run answers what the model's run is about to tell.
func (o *operation) tells(a protocol.Answer, s *history.Step) bool {
	switch a.Says {
	case protocol.Paid:
		return s.Outcome == history.OutcomePaid && s.Charge == o.charge(a)
	case protocol.Declined:
		return s.Outcome == history.OutcomeDeclined
	case protocol.Mismatch:
		return s.Outcome == history.OutcomeMismatch
	case protocol.InProgress:
		return s.Outcome == history.OutcomeInProgress || o.collected && s.Outcome == history.OutcomeGone
	default:
		return false
	}
}

// dies is that the process of a run dies. A write that it left on its way and
// that is still to be applied is one that nobody hears of.
func (c *Checker) dies(s *history.Step, r *run) bool {
	r.over = true
	if r.call != history.Nowhere && !r.done {
		if o := c.concerns(r.call); o != nil && !o.unjudged && !c.leavesBehind(o, s, r) {
			return false
		}
	}
	if c.steps.Runs[s.Run].Reconciler {
		for i := range c.operations {
			o := c.operation(int32(i))
			if o.slots[reconciler] == s.Run && !o.unjudged && !c.vanishes(o, reconciler) {
				return false
			}
		}
		return true
	}
	o := c.operation(r.operation)
	return r.slot == 0 || o.unjudged || c.vanishes(o, r.slot)
}

func (c *Checker) leavesBehind(o *operation, s *history.Step, r *run) bool {
	call := &c.steps.Calls[r.call]
	later := call.Applied > int32(c.at)
	switch {
	case call.Verb == history.VerbInsert && later && !r.waived:
		return c.claimUnanswered(o, s.Run)
	case call.Verb == history.VerbUpdate && later && !collects(call):
		return c.updateUnanswered(o, s.Run)
	case call.Verb == history.VerbCharge && !call.Left:
		return c.lost(&history.Step{Run: s.Run, Call: r.call})
	}
	return true
}
