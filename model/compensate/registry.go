package compensate

// written returns the operation's record after a write.
func (w *world) written(r Record, by Write) Record {
	r.Owner = by.Owner
	switch by.Step {
	case StepClaim:
		r.State, r.Lease, r.Window, r.Eager = Claimed, LeaseRuns, WindowOpen, true
	case StepTakeOver:
		if r.State != Claimed {
			r.State = Sent
		}
		r.Lease, r.Eager, r.Reply = LeaseRuns, w.EagerForEver, Answer{}
	case StepMarkSent:
		r.State, r.Reply = Sent, Answer{}
	default:
		r.State = outcome(by.Reply)
		r.Eager, r.Reply = false, by.Reply
	}
	return r
}

// outcome is the terminal state that keeps a reply.
func outcome(a Answer) RecordState {
	if a.Says == Paid {
		return Succeeded
	}
	return DeclinedState
}

// apply writes the operation's record for the run in a slot, or for nobody.
// All others are out of date then: runs, and writes under way.
func (w *world) apply(t *State, by Write, h Slot) {
	t.Record = w.written(t.Record, by)
	w.overtake(t, h, func(r Run) bool { return !r.auditing() }, func(late Write) bool {
		return late.Step.ofAudit() || w.NoFence && late.Step != StepClaim && late != by
	})
}

// applyAudit is the same of the audit's record.
func (w *world) applyAudit(t *State, a Audit, h Slot) {
	t.Audit = a
	w.overtake(t, h, Run.auditing, func(late Write) bool { return !late.Step.ofAudit() })
}

func (w *world) overtake(t *State, h Slot, stale func(Run) bool, remains func(Write) bool) {
	for i := range t.runs {
		if Slot(i+1) != h && stale(t.runs[i]) {
			t.runs[i].Fresh = false
		}
	}
	late := t.Late()
	kept := late[:0]
	for _, v := range late {
		if remains(v) {
			kept = append(kept, v)
		}
	}
	t.setLate(kept)
}

// sender is where a run goes on that owns the record in order to send. A record
// that is marked has its audit.
func (w *world) sender(me Run, state RecordState, alone bool) Run {
	me.Step, me.Alone, me.Fresh = NoStep, alone, true
	switch {
	case state == Sent:
		me.At = AtCharge
	case w.NoAudit:
		return w.audited(me)
	case w.MarkFirst:
		me.At = AtMarkSent
	default:
		me.At = AtAudit
	}
	return me
}

// audited is where a run goes on whose audit is stored.
func (w *world) audited(me Run) Run {
	me.At, me.Step = AtMarkSent, NoStep
	if w.NoMark || w.MarkFirst {
		me.At = AtCharge
	}
	return me
}

// went says how a run goes on once its write is applied.
func (w *world) went(h Slot, step Step) Run {
	me := *w.Run(h)
	switch step {
	case StepClaim:
		return w.sender(me, Claimed, true)
	case StepTakeOver:
		return w.sender(me, w.Record.State, me.Alone)
	case StepMarkSent:
		me.At, me.Step, me.Fresh = AtCharge, NoStep, true
		if w.MarkFirst {
			me.At = AtAudit
		}
		return me
	}
	next := telling(me.Answer)
	if w.NoAudit && w.handles(h) && me.Answer.Says == Paid {
		next.At = AtTidy
	}
	return next
}

// telling is a run that is about to tell a.
func telling(a Answer) Run { return Run{At: AtReply, Answer: a} }

// unproven is how a run goes on whose write was not acknowledged.
func (w *world) unproven(h Slot, step Step) Run {
	me := *w.Run(h)
	if w.NoReadBack {
		me = w.went(h, step)
	} else {
		me.At, me.Step = AtReadBack, step
	}
	me.Fresh = false
	return me
}

// update is a compare-and-swap on the operation's record as it was read, and
// the one that is not acknowledged. A conflict, too, is followed by a read.
func (w *world) update(k Kind, h Slot, step Step) {
	me := *w.Run(h)
	by := Write{Step: step, Owner: h}
	if step == StepComplete || step == StepSettle {
		by.Reply = me.Answer
	}
	if !me.Fresh && (!w.NoFence || w.Record.State == NoState) {
		me.At, me.Step = AtReadBack, step
		w.goes(k, h, me)
		return
	}
	t := w.State
	w.apply(&t, by, h)
	*t.Run(h) = w.went(h, step)
	w.emit(Action{k, h}, t)

	if t := w.State; t.spend() {
		t.addLate(by)
		*t.Run(h) = w.unproven(h, step)
		w.emit(Action{UpdateUnanswered, h}, t)
	}
}

// readBack goes on only if the record shows this run's token in the state that
// it wrote. Who lost the race tells the winner's reply.
func (w *world) readBack(h Slot) {
	me := *w.Run(h)
	switch me.Step {
	case StepHold:
		w.readHoldBack(h)
		return
	case StepAudit:
		if w.Audit.State != NoAuditState {
			w.goes(ReadAuditBack, h, w.audited(me))
		} else {
			w.emit(Action{ReadAuditBack, h}, w.end(h))
		}
		return
	}
	switch handles := w.handles(h); {
	case w.leaves(me) && (w.ReadBackIgnoresOwner || w.Record.Owner == h):
		w.goes(ReadBack, h, w.went(h, me.Step))
	case w.LoserRefunds && me.Answer.Says == Paid:
		next := Run{At: AtRefund, Todo: only(me.Answer.Charge)}
		if handles {
			next.Answer = w.Record.Reply
		}
		w.goes(ReadBack, h, next)
	case w.OwnReply && me.Answer.final() && handles:
		w.goes(ReadBack, h, telling(me.Answer))
	case w.Record.Terminal() && handles:
		w.goes(ReadBack, h, telling(w.Record.Reply))
	default:
		w.emit(Action{ReadBack, h}, w.end(h))
	}
}

// leaves reports whether the record is in the state that the run's write
// leaves.
func (w *world) leaves(me Run) bool {
	switch state := w.Record.State; me.Step {
	case StepClaim:
		return state == Claimed
	case StepTakeOver:
		return state == Claimed || state == Sent
	case StepMarkSent:
		return state == Sent
	default:
		return state == outcome(me.Answer)
	}
}

// newAudit is the audit as it is inserted: no refund was permitted yet.
func (w *world) newAudit() Audit {
	if w.held() {
		return Audit{AuditOpen, LeaseDead}
	}
	return Audit{State: AuditOpen}
}

// insertAudit stores the audit before anything is sent. One that is there
// already is as good.
func (w *world) insertAudit(h Slot) {
	me := *w.Run(h)
	t := w.State
	if w.Audit.State == NoAuditState {
		w.applyAudit(&t, w.newAudit(), h)
	}
	*t.Run(h) = w.audited(me)
	w.emit(Action{InsertAudit, h}, t)

	unanswered := w.State
	if !unanswered.spend() {
		return
	}
	if w.Audit.State == NoAuditState {
		unanswered.addLate(Write{Step: StepAudit})
	}
	if w.AuditUnproven {
		me = w.audited(me)
	} else {
		me.At, me.Step = AtReadBack, StepAudit
	}
	*unanswered.Run(h) = me
	w.emit(Action{InsertAuditUnanswered, h}, unanswered)
}

// landLate is that a write which was not acknowledged is applied after all.
func (w *world) landLate() {
	for _, by := range w.Late() {
		t := w.State
		if !by.Step.ofAudit() {
			w.apply(&t, by, Gone)
			w.emit(Action{Kind: LandLate}, t)
			continue
		}
		a := Audit{State: AuditDone}
		switch by.Step {
		case StepAudit:
			a = w.newAudit()
		case StepHold:
			a = Audit{w.Audit.State, LeaseRuns}
		}
		w.applyAudit(&t, a, Gone)
		if by.Owner != Gone {
			t.Run(by.Owner).Fresh = true
		}
		w.emit(Action{Kind: LandLateAudit}, t)
	}
}

// failover is that the registry loses an acknowledged audit.
func (w *world) failover() {
	t := w.State
	if !w.BreakA3 || w.Audit.State == NoAuditState || !t.spend() {
		return
	}
	w.applyAudit(&t, Audit{}, Gone)
	w.emit(Action{Kind: Failover}, t)
}
