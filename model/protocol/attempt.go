package protocol

// asks lets an attempt arrive in a slot, if one may.
func (w *world) asks(t *State, h Slot, p Parameters) bool {
	if h == w.reconciler() || !w.idle(h) || p != P && p != Q || !w.Asking() && !w.has(BreakA4) {
		return false
	}
	switch left := t.Tries(p); {
	case w.Unbounded:
		return true
	case w.Persistent && p == P:
		return !w.toldTo(P)
	case left > 0:
		t.setTries(p, left-1)
		return true
	default:
		return false
	}
}

// claim is an attempt that arrives and claims the operation, or follows
// whoever has.
func (w *world) claim(h Slot, p Parameters) (State, bool) {
	t := w.State
	if !w.asks(&t, h, p) {
		return no()
	}
	me := Run{Parameters: p}
	switch {
	case w.rec.Exists():
		t.setRun(h, w.follow(p, w.rec, mayWait))
	case w.has(CheckThenInsert):
		me.At = AtInsert
		t.setRun(h, me)
	default:
		r := written(Write{Step: StepClaim, Owner: w.token(h), Parameters: p}, w.rec)
		w.store(&t, r)
		t.setRun(h, w.went(me, StepClaim, r))
	}
	return t, true
}

// claimUnanswered is a claim that is not acknowledged.
func (w *world) claimUnanswered(h Slot, p Parameters) (State, bool) {
	t := w.State
	if !w.asks(&t, h, p) || !w.spend(&t, 1) {
		return no()
	}
	me := Run{At: AtReadBack, Step: StepClaim, Parameters: p}
	write := Write{Step: StepClaim, Owner: w.token(h), Parameters: p}
	if !w.rec.Exists() {
		t.addLate(write)
	}
	if w.has(NoReadBack) {
		me = w.went(Run{Parameters: p}, StepClaim, written(write, Record{}))
	}
	t.setRun(h, me)
	return t, true
}

// claimBehind is an attempt that follows whoever has claimed, by a clock that
// is behind.
func (w *world) claimBehind(h Slot, p Parameters) (State, bool) {
	t := w.State
	if !w.asks(&t, h, p) {
		return no()
	}
	return w.followBehind(t, h, p, mayWait)
}

// followBehind is that by a clock that is behind a lease still runs which
// another clock has found over; never once it is dead, since that takes longer
// than clocks can differ. Where it makes no difference it is no step.
func (w *world) followBehind(t State, h Slot, p Parameters, waited waiting) (State, bool) {
	behind := w.rec
	behind.Lease = LeaseRuns
	me := w.follow(p, behind, waited)
	if w.rec.Lease != LeaseOver || me == w.follow(p, w.rec, waited) || !w.spend(&t, 1) {
		return no()
	}
	t.setRun(h, me)
	return t, true
}

// overwrite is the defect of a claim in two steps.
func (w *world) overwrite(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtInsert {
		return no()
	}
	r := written(Write{Step: StepClaim, Owner: w.token(h), Parameters: me.Parameters}, w.rec)
	r.Reply = Answer{}
	t := w.State
	w.store(&t, r)
	t.setRun(h, w.went(me, StepClaim, r))
	return t, true
}

// wait is that an attempt has waited for a live owner, and reads once more.
func (w *world) wait(h Slot) (State, bool) {
	me := w.Run(h)
	switch {
	case me.At != AtWait:
		return no()
	case !w.rec.Exists():
		return w.after(h, telling(me, inProgress, NoStep))
	default:
		return w.after(h, w.follow(me.Parameters, w.rec, hasWaited))
	}
}

func (w *world) waitBehind(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtWait {
		return no()
	}
	return w.followBehind(w.State, h, me.Parameters, hasWaited)
}
