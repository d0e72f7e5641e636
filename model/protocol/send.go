package protocol

// charge sends the record's request, once, if the lease runs and the provider
// still collapses whatever is sent now.
func (w *world) charge(h Slot) (State, bool) {
	me := w.Run(h)
	switch {
	case me.At != AtCharge:
		return no()
	case !w.maySend(me):
		return w.after(h, telling(me, inProgress, NoStep))
	default:
		return w.send(w.State, h, me)
	}
}

// maySend is what a run's lease and the guard say.
func (w *world) maySend(me Run) bool {
	unwritten := w.has(NoReadBack) && !w.rec.Exists()
	mine := w.rec.Version == me.Version && w.rec.Lease == LeaseRuns
	leased := mine || w.has(SendAfterLease) || unwritten
	guarded := w.rec.Window == WindowOpen || w.has(NoGuard) || unwritten
	return leased && guarded
}

// chargeBehind is that by a clock that is behind the lease that the run has
// read still runs, although others have found it over and perhaps taken the
// record over, and the window is open although others find it closed.
func (w *world) chargeBehind(h Slot) (State, bool) {
	t, me := w.State, w.Run(h)
	open := w.rec.Window == WindowOpen || w.rec.Window == WindowClosed || w.rec.Window == WindowPast && w.has(BreakAS)
	if me.At != AtCharge || w.maySend(me) || !me.May || !open || !w.spend(&t, 1) {
		return no()
	}
	return w.send(t, h, me)
}

// send sends the record's request.
func (w *world) send(t State, h Slot, me Run) (State, bool) {
	m := Message{By: h, Version: me.Version, Key: w.key(me.Version), Parameters: w.rec.Parameters}
	if !w.rec.Exists() {
		m.Parameters = me.Parameters
	}
	t.addMessage(m)
	me.At, me.May = AtSent, false
	t.setRun(h, me)
	return t, true
}

// heard is what a run makes of the provider's answer. Approved and declined
// are definite; everything else is unknown.
func (w *world) heard(me Run, a Answer) Run {
	if a.Says == Nothing {
		if !w.has(UnknownMeansFailed) {
			return telling(me, inProgress, NoStep)
		}
		a = declined
	}
	me.At, me.Answer = AtComplete, a
	return me
}

// timeOut is that no answer comes, where it may be so.
func (w *world) timeOut(h Slot, may bool, cost uint8) (State, bool) {
	t, me := w.State, w.Run(h)
	if me.At != AtSent || !may || !w.spend(&t, cost) {
		return no()
	}
	t.setRun(h, w.heard(me, Answer{}))
	if w.has(DeleteWhenUnknown) && w.rec.Version == me.Version {
		t.setRecord(Record{})
	}
	return t, true
}
