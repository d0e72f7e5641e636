package protocol

// shown is what a look-up sees.
type shown struct {
	count uint8 // how many charges under the key
	first uint8 // the number of the first, if there is one
	ours  bool  // all are the operation's
}

func (w *world) shows(me Run) shown {
	parameters := w.rec.Parameters
	if w.stale(me) {
		parameters = me.Parameters
	}
	all := shown{ours: true}
	for i := uint8(1); w.Lookups && i <= w.charges(); i++ {
		c, _ := w.Charge(i)
		if c.Key != w.key(me.Version) {
			continue
		}
		if all.count++; all.count == 1 {
			all.first = i
		}
		all.ours = all.ours && (c.Parameters == parameters || w.has(AcceptForeign))
	}
	return all
}

// stale reports whether the record is no longer as the run has read it:
// whatever it now writes is a conflict.
func (w *world) stale(me Run) bool { return w.rec.Version != me.Version }

// lookUp asks the provider by key, after the clock was read.
func (w *world) lookUp(h Slot, to Place) (State, bool) {
	me := w.Run(h)
	if me.At != AtLookUp {
		return no()
	}
	return w.resolve(h, me, w.shows(me), to)
}

// lookUpLags is that the provider does not yet show what it has, while a send
// may still land.
func (w *world) lookUpLags(h Slot, to Place) (State, bool) {
	me := w.Run(h)
	if me.At != AtLookUp || !w.lags(me) {
		return no()
	}
	return w.resolve(h, me, shown{}, to)
}

func (w *world) lags(me Run) bool {
	return w.shows(me).count > 0 && (w.rec.Lease != LeaseDead || w.has(BreakA5))
}

// lookUpBehind is that a clock that is behind does not yet read as true what
// is, and that it makes a difference.
func (w *world) lookUpBehind(h Slot, to Place) (State, bool) {
	t, me := w.State, w.Run(h)
	if me.At != AtLookUp || w.stale(me) || w.shows(me).count > 0 && !w.lags(me) {
		return no()
	}
	exact := w.reads()
	if to == w.unseen(h, exact) || !w.spend(&t, 1) {
		return no()
	}
	for _, dead := range [...]bool{exact.dead, false} {
		for _, open := range [...]bool{exact.open, exact.open || w.rec.Window == WindowClosed} {
			for _, asked := range [...]bool{exact.asked, true} {
				if w.unseen(h, reading{dead, open, asked}) == to {
					t.setRun(h, goingTo(me, to, 0))
					return t, true
				}
			}
		}
	}
	return no()
}

// reading is what a clock says of the record.
type reading struct {
	dead  bool // no send can land any more
	open  bool // the window is
	asked bool // somebody may still ask
}

// reads is what the first clock reads.
func (w *world) reads() reading {
	return reading{w.rec.Lease == LeaseDead, w.rec.Window == WindowOpen || w.has(NoGuard), w.Asking()}
}

// unseen is where a run goes on that has found nothing.
func (w *world) unseen(h Slot, now reading) Place {
	asks := h != w.reconciler() || w.RollForward
	neverSent := !w.Keys && w.rec.State == Claimed
	resend := w.Keys && w.StoresDeclines || // it joins the first send
		neverSent ||
		now.dead && (w.Keys || w.Lookups) || // the first send is over
		w.has(ResendUnproven)
	over := now.dead || w.has(SettleAtOnce) || w.has(ClockAfterLookUp)
	notCharged := over && (neverSent || w.Lookups || w.has(SettleUnseen))
	switch {
	case w.rec.State == InReview:
		return AtReply
	case asks && now.open && resend:
		return AtTakeOver
	case notCharged && (!now.asked || !now.open):
		return AtSettle
	case now.dead && !notCharged && (!w.Keys || !now.open):
		return AtReview
	default:
		return AtReply
	}
}

// resolve is what follows from a look-up. A run judges the record as it has
// read it.
func (w *world) resolve(h Slot, me Run, seen shown, to Place) (State, bool) {
	good, stale := seen.count == 1 && seen.ours, w.stale(me)
	ok := false
	switch {
	case good:
		ok = to == AtComplete
	case seen.count > 0 && stale:
		ok = to == AtReview || to == AtReply
	case seen.count > 0:
		ok = to == AtReview && w.rec.State != InReview || to == AtReply && w.rec.State == InReview
	case stale:
		ok = w.staleGoes(h, me, to)
	default:
		ok = to == w.unseen(h, w.reads())
	}
	if !ok {
		return no()
	}
	return w.after(h, goingTo(me, to, seen.first))
}

// staleGoes reports whether a run that has found nothing may go there, if the
// record is no longer as it has read it. Much is unknown then, and it may come
// to any end that the rest permits; what it writes is refused.
func (w *world) staleGoes(h Slot, me Run, to Place) bool {
	shut := w.rec.Window != WindowOpen // if the record is gone, who knows
	over := w.shows(me).count == 0 && !w.sentUpTo(me.Version)
	switch to {
	case AtReply:
		return true
	case AtTakeOver:
		return h != w.reconciler() || w.RollForward
	case AtSettle:
		return over && (w.Lookups || !w.Keys) && (!w.Asking() || shut)
	case AtReview:
		return over && !w.Lookups && (!w.Keys || shut)
	default:
		return false
	}
}

// goingTo is a run that has looked up, with the charge that it found.
func goingTo(me Run, to Place, charge uint8) Run {
	switch to {
	case AtComplete:
		me.Answer = Answer{Paid, charge}
	case AtSettle:
		me.Answer = declined
	case AtReply:
		return telling(me, inProgress, NoStep)
	}
	me.At = to
	return me
}
