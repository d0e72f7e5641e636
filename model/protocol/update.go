package protocol

func (w *world) write(h Slot, me Run, step Step) Write {
	return Write{Step: step, Version: me.Version, Owner: w.token(h), Reply: me.Answer}
}

// update is a compare-and-swap on the version that the run has read. A
// conflict is followed by a read.
func (w *world) update(h Slot, at Place, step Step) (State, bool) {
	me := w.Run(h)
	if me.At != at {
		return no()
	}
	t, write := w.State, w.write(h, me, step)
	if w.rec.Exists() && w.fits(write, w.rec) {
		r := written(write, w.rec)
		w.store(&t, r)
		me = w.went(me, step, r)
	} else {
		me.At, me.Step = AtReadBack, step
	}
	t.setRun(h, me)
	return t, true
}

// updateUnanswered is an update that is not acknowledged.
func (w *world) updateUnanswered(h Slot) (State, bool) {
	me := w.Run(h)
	step := me.At.writes()
	t, write := w.State, w.write(h, me, step)
	if step == NoStep || !w.rec.Exists() || !w.fits(write, w.rec) || !w.spend(&t, 1) {
		return no()
	}
	t.addLate(write)
	if w.has(NoReadBack) {
		me = w.went(me, step, written(write, w.rec))
	} else {
		me.At, me.Step = AtReadBack, step
	}
	t.setRun(h, me)
	return t, true
}

// writes is the update that a run makes at a place, or NoStep.
func (p Place) writes() Step {
	switch p {
	case AtTakeOver:
		return StepTakeOver
	case AtMarkSent:
		return StepMarkSent
	case AtComplete:
		return StepComplete
	case AtSettle:
		return StepSettle
	case AtReview:
		return StepReview
	default:
		return NoStep
	}
}

// settle is declined, not charged.
func (w *world) settle(h Slot) (State, bool) {
	if me := w.Run(h); me.At == AtSettle && w.has(ClockAfterLookUp) && w.rec.Lease != LeaseDead {
		return w.after(h, telling(me, inProgress, NoStep))
	}
	return w.update(h, AtSettle, StepSettle)
}

// readBack goes on only if the record shows this run's token in the state that
// it wrote.
func (w *world) readBack(h Slot) (State, bool) {
	me := w.Run(h)
	switch {
	case me.At != AtReadBack:
		return no()
	case w.mine(h, me):
		return w.after(h, w.went(me, me.Step, w.rec))
	case w.has(OwnReply) && me.Answer.Final():
		return w.after(h, telling(me, me.Answer, me.Step))
	case !w.rec.Exists():
		return w.after(h, telling(me, inProgress, NoStep))
	case me.Step == StepClaim:
		return w.after(h, w.follow(me.Parameters, w.rec, mayWait))
	case w.rec.Terminal():
		return w.after(h, telling(me, w.rec.Reply, StepReplay))
	default:
		return w.after(h, telling(me, inProgress, NoStep))
	}
}

func (w *world) readBackBehind(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtReadBack || me.Step != StepClaim || w.mine(h, me) {
		return no()
	}
	return w.followBehind(w.State, h, me.Parameters, mayWait)
}

// mine reports whether the record is as the run has written it.
func (w *world) mine(h Slot, me Run) bool {
	return w.leaves(me, w.rec.State) && (w.has(ReadBackIgnoresOwner) || w.rec.Owner == w.token(h))
}

// leaves reports whether the run's write leaves a record in the state.
func (w *world) leaves(me Run, state RecordState) bool {
	switch me.Step {
	case StepClaim:
		return state == Claimed
	case StepTakeOver:
		return state == Claimed || state == Sent
	case StepMarkSent:
		return state == Sent
	case StepReview:
		return state == InReview
	default:
		return state == outcome(me.Answer)
	}
}
