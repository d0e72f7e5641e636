package compensate

// lookAtAudit is one look at the audit, and those of a look-up that does not
// show everything: while a send may still land, what has landed, and, counted
// as a fault, that a charge was refunded.
func (w *world) lookAtAudit(h Slot) {
	w.look(LookAtAudit, h, look{shown: w.Made})
	if w.Record.Lease != LeaseDead || w.BreakA5 {
		for shown := range w.Made {
			w.look(AuditLags, h, look{shown: shown})
		}
	}
	refunded := false
	for i := uint8(1); i <= w.Made; i++ {
		refunded = refunded || w.Charge(i).Refunds > 0
	}
	if refunded && (!w.held() || w.Audit.Lease != LeaseDead) {
		w.look(AuditHides, h, look{shown: w.Made, hides: true})
	}
}

// look is what a look-up shows.
type look struct {
	shown uint8 // how many charges, the oldest first
	hides bool  // but not that they were refunded
}

// look looks, and calls for each choice of what is to stay: what the reply
// says, and nobody's own choice.
func (w *world) look(k Kind, h Slot, l look) {
	switch {
	case w.RefundOwnChoice && l.shown > 0:
		for keep := uint8(1); keep <= l.shown; keep++ {
			w.examine(k, h, l, only(keep))
		}
	case !w.Record.Terminal() && l.shown > 0:
		w.examine(k, h, l, only(1))
	default:
		w.examine(k, h, l, w.kept())
	}
}

// surplus is what is to be given back: every charge that look-up shows and
// does not show as refunded, but those that are kept.
func (w *world) surplus(l look, keep Set) (todo Set) {
	for i := uint8(1); i <= l.shown; i++ {
		if !keep.Has(i) && (l.hides || w.Charge(i).Refunds == 0) {
			todo |= only(i)
		}
	}
	return todo
}

// examine is what follows from the clock, the operation and the look-up.
// Nothing is given back before the operation is final.
func (w *world) examine(k Kind, h Slot, l look, keep Set) {
	if w.Audit.State != AuditOpen {
		return
	}
	dead := w.Record.Lease == LeaseDead || w.AuditStopsEarly
	todo := w.surplus(l, keep)
	me := Run{At: AtClose, Fresh: true, Todo: todo, Alone: w.RefundAssumed && todo != 0 && dead}
	switch {
	case todo == 0 && (!w.Record.Terminal() && !w.AuditBeforeEnd || !dead && !w.AuditClockLast):
		return
	case todo == 0:
	case !w.Record.Terminal() && !w.RefundBeforeComplete:
		return
	case w.held() && w.Audit.Lease != LeaseDead && !w.RefundUndead:
		return
	case w.held():
		me.At = AtHold
	default:
		me.At = AtRefund
	}
	t := w.State
	if l.hides && !t.spend() {
		return
	}
	*t.Run(h) = me
	w.emit(Action{k, h}, t)
}

// hold takes the audit over, so that no two runs refund at once.
func (w *world) hold(h Slot) {
	me := *w.Run(h)
	if me.Fresh || w.AuditUnfenced {
		t := w.State
		w.applyAudit(&t, Audit{w.Audit.State, LeaseRuns}, h)
		me.At, me.Fresh = AtRefund, true
		*t.Run(h) = me
		w.emit(Action{Hold, h}, t)
	} else {
		w.goes(Hold, h, Run{})
	}
	w.holdUnanswered(h)
}

func (w *world) holdUnanswered(h Slot) {
	t, me := w.State, *w.Run(h)
	if !me.Fresh || !t.spend() {
		return
	}
	t.addLate(Write{Step: StepHold, Owner: h})
	if w.NoReadBack {
		me.At = AtRefund
	} else {
		me.At, me.Step = AtReadBack, StepHold
	}
	me.Fresh = false
	*t.Run(h) = me
	w.emit(Action{HoldUnanswered, h}, t)
}

// readHoldBack goes on only if the audit shows this run's token.
func (w *world) readHoldBack(h Slot) {
	me := *w.Run(h)
	if !me.Fresh && !(w.ReadBackIgnoresOwner && w.Audit.State == AuditOpen) {
		w.emit(Action{ReadHoldBack, h}, w.end(h))
		return
	}
	me.At, me.Step, me.Fresh = AtRefund, NoStep, true
	w.goes(ReadHoldBack, h, me)
}

// close is that the audit is over: no more charges can come, and none is left
// over.
func (w *world) close(h Slot) {
	if (w.Run(h).Fresh || w.AuditUnfenced) && (!w.AuditClockLast || w.Record.Lease == LeaseDead) {
		t := w.State
		w.applyAudit(&t, Audit{State: AuditDone}, h)
		*t.Run(h) = Run{}
		w.emit(Action{Close, h}, t)
	} else {
		w.goes(Close, h, Run{})
	}
	// Unacknowledged, it is left to a later audit.
	if t := w.State; w.Run(h).Fresh && t.spend() {
		t.addLate(Write{Step: StepClose})
		*t.Run(h) = Run{}
		w.emit(Action{CloseUnanswered, h}, t)
	}
}

// refund asks for a refund, in full and by the charge's id, from which its key
// is derived.
func (w *world) refund(h Slot) {
	me := *w.Run(h)
	if w.held() && !(me.Fresh && w.Audit.Lease == LeaseRuns) && !w.RefundAfterLease && !w.NoReadBack {
		me = Run{}
	} else {
		me.At = AtRefunding
	}
	w.goes(Refund, h, me)
}

// refunding is what becomes of a refund whose sender waits. One without an
// answer is not repeated: a later audit looks up first.
func (w *world) refunding(h Slot) {
	me := *w.Run(h)
	i := me.Todo.first()
	t := w.State
	w.giveBack(t.Charge(i))
	*t.Run(h) = w.afterRefund(h, me.Todo.without(i))
	w.emit(Action{LandRefund, h}, t)

	t = w.State
	if !t.spend() {
		return
	}
	left := me.Todo.without(i)
	if w.BlindRefundRetry {
		left = me.Todo
	}
	*t.Run(h) = w.afterRefund(h, left)
	w.emit(Action{RefundLost, h}, t)
	t.Charge(i).Loose++
	w.emit(Action{RefundTimeOut, h}, t)
}

// giveBack is that the provider gives a charge back: again, unless it refuses
// that or knows the key.
func (w *world) giveBack(c *Charge) {
	switch {
	case c.Refunds == 0:
		c.Refunds = 1
	case !w.bound():
		c.Refunds = 2
	}
}

// afterRefund is what a run does once it has asked for the first refund of its
// list.
func (w *world) afterRefund(h Slot, todo Set) Run {
	me := *w.Run(h)
	me.Todo = todo
	switch {
	case todo != 0:
		me.At = AtRefund
	case !w.handles(h) && me.Alone:
		me.At, me.Alone = AtClose, false
	case me.Answer.final():
		me = telling(me.Answer)
	default:
		me = Run{}
	}
	return me
}

// tidy is the defect of having no audit: who completes looks once and gives
// back what it sees then.
func (w *world) tidy(h Slot) {
	for shown := range w.Made + 1 {
		if shown < w.Made && w.Record.Lease == LeaseDead {
			continue
		}
		me := *w.Run(h)
		if me.Todo = w.surplus(look{shown: shown}, only(me.Answer.Charge)); me.Todo == 0 {
			me = telling(me.Answer)
		} else {
			me.At = AtRefund
		}
		w.goes(Tidy, h, me)
	}
}
