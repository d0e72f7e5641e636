package refine

import (
	"math"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// behind is an action as a run takes it whose clock is behind.
func behind(a protocol.Action) protocol.Action {
	switch a.Kind {
	case protocol.Claim:
		a.Kind = protocol.ClaimBehind
	case protocol.Wait:
		a.Kind = protocol.WaitBehind
	case protocol.ReadBack:
		a.Kind = protocol.ReadBackBehind
	case protocol.SendCharge:
		a.Kind = protocol.ChargeBehind
	case protocol.LookUp, protocol.LookUpLags:
		a.Kind = protocol.LookUpBehind
	}
	return a
}

// lapse lets the lease be over, which a run reads at this instant.
func (c *Checker) lapse(o *operation, read time.Duration) bool {
	rec := o.state.Record()
	if rec.Lease != protocol.LeaseRuns {
		return true
	}
	action := protocol.Action{Kind: protocol.LeaseEndsEarly}
	if rec.Owner == protocol.Gone {
		action.Kind = protocol.LeaseEnds
	}
	if read < c.cfg.over(o).first {
		return c.diverge(o, action, "a run acts as if the lease were over, and by no clock it is")
	}
	return c.take(o, action)
}

// kill lets all sends be over.
func (c *Checker) kill(o *operation, read time.Duration) bool {
	if !c.lapse(o, read) {
		return false
	}
	if o.state.Record().Lease != protocol.LeaseOver {
		return true
	}
	action := protocol.Action{Kind: protocol.SendsDie}
	if read < c.cfg.dead(o).first {
		return c.diverge(o, action, "a run acts as if no send could land any more, and by no clock that is so")
	}
	return c.take(o, action)
}

// close lets the window be closed.
func (c *Checker) close(o *operation, read time.Duration) bool {
	if o.state.Record().Window != protocol.WindowOpen {
		return true
	}
	action := protocol.Action{Kind: protocol.WindowCloses}
	if read < c.cfg.narrow(o).first {
		return c.diverge(o, action, "a run acts as if the window were closed, and by no clock it is")
	}
	return c.take(o, action)
}

// expire lets nobody ask any more. Runs that have not claimed yet, or not even
// begun, are attempts that were made before and are on their way, perhaps to a
// process that stands still: their claims are unanswered, and they read when
// they get there.
func (c *Checker) expire(o *operation, read time.Duration) bool {
	if !o.state.Asking() {
		return true
	}
	action := protocol.Action{Kind: protocol.HorizonEnds}
	if read < c.cfg.unasked(o).first {
		return c.diverge(o, action, "a run acts as if nobody could ask any more, and by no clock that is so")
	}
	for i := range c.runs {
		r, told := &c.runs[i], &c.steps.Runs[i]
		if told.Reconciler || told.Operation != c.about || told.Asked > read || r.slot != 0 || r.over {
			continue
		}
		r.waived = true
		if !c.claimUnanswered(o, int32(i)) {
			return false
		}
	}
	return c.take(o, action)
}

// ages lets each fact come true of which every clock says that it is so.
func (c *Checker) ages(now time.Duration) bool {
	for i := range c.operations {
		o := &c.operations[i]
		if now <= o.next || o.unjudged {
			continue
		}
		c.about = int32(i)
		if !c.matures(o, now) {
			return false
		}
	}
	return true
}

func (c *Checker) matures(o *operation, now time.Duration) bool {
	rec := o.state.Record()
	if !rec.Exists() {
		o.next = math.MaxInt64
		return true
	}
	if rec.Lease == protocol.LeaseRuns && now > c.cfg.over(o).last && !c.lapse(o, now) {
		return false
	}
	if o.state.Record().Lease == protocol.LeaseOver && now > c.cfg.dead(o).last && !c.kill(o, now) {
		return false
	}
	if rec.Window == protocol.WindowOpen && now > c.cfg.narrow(o).last && !c.close(o, now) {
		return false
	}
	if o.state.Asking() && now > c.cfg.unasked(o).last && !c.expire(o, now) {
		return false
	}
	if now > c.cfg.forgotten(o) {
		forget := protocol.Action{Kind: protocol.Forget}
		if next, ok := protocol.Take(&c.model, o.state, forget); ok {
			c.accept(o, forget, next)
		}
	}
	o.next = c.due(o)
	return true
}

// due is the next instant at which every clock says that a fact is so that is
// not yet.
func (c *Checker) due(o *operation) time.Duration {
	rec, next := o.state.Record(), time.Duration(math.MaxInt64)
	if rec.Lease == protocol.LeaseRuns {
		next = min(next, c.cfg.over(o).last)
	}
	if rec.Lease == protocol.LeaseOver {
		next = min(next, c.cfg.dead(o).last)
	}
	if rec.Window == protocol.WindowOpen {
		next = min(next, c.cfg.narrow(o).last)
	}
	if o.state.Asking() {
		next = min(next, c.cfg.unasked(o).last)
	}
	if rec.Window != protocol.WindowPast {
		next = min(next, c.cfg.forgotten(o))
	}
	return next
}

// follows is that a run reads what is there and goes on by it. Whether it read
// the lease as over is seen from what it does next.
func (c *Checker) follows(o *operation, number int32, action protocol.Action) bool {
	h := c.slotOf(number)
	next := c.next[c.at]
	now := c.steps.Steps[c.at].At
	state, ok := protocol.Take(&c.model, o.state, action)
	if !ok {
		return c.diverge(o, action, "the model cannot do that here")
	}
	if next == history.Nowhere || h == reconciler || c.steps.Steps[next].Kind == history.StepDied {
		return c.accept(o, action, state)
	}
	ended := c.steps.Steps[next].Kind == history.StepEnd
	resolves := c.resolvesNext(next)
	switch at := state.Run(h).At; {
	case at == protocol.AtWait && (resolves || ended && !c.model.Lookups):
		// One that does not wait either has resolved, and left the record as it
		// was.
		if !c.lapse(o, c.steps.Steps[next].At) {
			return false
		}
	case at == protocol.AtReply && resolves && o.state.Record().Lease == protocol.LeaseRuns:
		if !c.lapse(o, c.steps.Steps[next].At) {
			return false
		}
	case at == protocol.AtLookUp && !resolves && now <= c.cfg.over(o).last:
		late := behind(action)
		state, ok = protocol.Take(&c.model, o.state, late)
		if ok && (state.Run(h).At == protocol.AtReply || !ended) {
			action = late
		}
	}
	return c.take(o, action)
}

// resolvesNext reports whether a run resolves in its next step.
func (c *Checker) resolvesNext(next int32) bool {
	s := &c.steps.Steps[next]
	if s.Kind != history.StepCall {
		return false
	}
	call := &c.steps.Calls[s.Call]
	if call.Verb == history.VerbLookup {
		return true
	}
	return !c.model.Lookups && (call.Purpose == "take-over" || call.Purpose == "review" || call.Purpose == "settle")
}

// requires lets those facts come true without which a run cannot have decided
// as it did. Of a record that is no longer as the run has read it, only those
// that do not depend on its lease.
func (c *Checker) requires(o *operation, h protocol.Slot, target protocol.Place, see seen, read time.Duration) bool {
	rec := o.state.Record()
	m := &c.model
	if see == shows && len(o.charges) > 0 {
		return true
	}
	stale := o.state.Run(h).Version != rec.Version
	neverSent := !m.Keys && rec.State == protocol.Claimed
	switch target {
	case protocol.AtTakeOver:
		return stale || m.Keys && m.StoresDeclines || neverSent || c.kill(o, read)
	case protocol.AtSettle:
		if !stale && !c.kill(o, read) {
			return false
		}
		asks := h != reconciler || m.RollForward
		switch {
		case !o.state.Asking() || rec.Window != protocol.WindowOpen:
			return true
		case asks || read >= c.cfg.narrow(o).first:
			return c.close(o, read)
		default:
			return c.expire(o, read)
		}
	case protocol.AtReview:
		return (stale || c.kill(o, read)) && (!m.Keys || c.close(o, read))
	}
	return true
}

// uncertain reports whether there is a fact that some clock says at this
// instant, and some other one does not.
func (c *Checker) uncertain(o *operation, read time.Duration) bool {
	rec := o.state.Record()
	return rec.Lease == protocol.LeaseDead && read <= c.cfg.dead(o).last ||
		rec.Window == protocol.WindowClosed && read <= c.cfg.narrow(o).last ||
		!o.state.Asking() && read <= c.cfg.unasked(o).last
}
