package protocol

// sweep is that the reconciler finds a record whose lease is over.
func (w *world) sweep() (State, bool) {
	h := w.reconciler()
	if !w.Reconciles || !w.idle(h) || !w.rec.unfinished() || w.rec.Lease == LeaseRuns {
		return no()
	}
	return w.after(h, Run{At: AtLookUp, Version: w.rec.Version, Parameters: w.rec.Parameters})
}

// collect forgets what is finished once nobody can ask.
func (w *world) collect() (State, bool) {
	finished := w.rec.Terminal() || w.has(CollectUnfinished)
	unasked := !w.Asking() || w.has(ShortRetention)
	if !w.Collects || !w.rec.Exists() || !finished || !unasked {
		return no()
	}
	t := w.State
	w.store(&t, Record{})
	return t, true
}

// landApproved is that a charge request reaches the provider, which approves
// it or gives the answer that it has under the key.
func (w *world) landApproved(m Message) (State, bool) {
	prior := w.prior(m.Key)
	if prior == 0 && w.refuses(m.Key) && w.Keys {
		return no()
	}
	number, a := prior, Answer{}
	if prior == 0 {
		number = w.charges() + 1
	}
	if c, _ := w.Charge(prior); prior == 0 || c.Parameters == m.Parameters {
		a = Answer{Paid, number}
	}
	t, ok := w.answered(m, a)
	if ok && prior == 0 {
		t.setCharge(number, Charge{m.Key, m.Parameters, true})
	}
	return t, ok
}

// landDeclined is that a charge request reaches the provider, which declines
// it, or has done so.
func (w *world) landDeclined(m Message) (State, bool) {
	if w.prior(m.Key) > 0 || !w.Declines && !(w.Keys && w.refuses(m.Key)) {
		return no()
	}
	t, ok := w.answered(m, declined)
	if ok && w.StoresDeclines {
		t.refused |= 1 << m.Key
	}
	return t, ok
}

// prior is the number of the charge with which the provider collapses the
// key, or 0.
func (w *world) prior(key uint8) uint8 {
	for i := uint8(1); w.Keys && i <= w.charges(); i++ {
		if c, _ := w.Charge(i); c.Known && c.Key == key {
			return i
		}
	}
	return 0
}

// answered takes a message off the way and gives the answer to its sender, if
// that still waits; false if there is no such message.
func (w *world) answered(m Message, a Answer) (State, bool) {
	t := w.State
	if !removeFrom(t.msgs[:], m.pack()) {
		return no()
	}
	if me, waits := w.sender(m); waits && me.Version == m.Version {
		t.setRun(m.By, w.heard(me, a))
	}
	return t, true
}

func (w *world) sender(m Message) (Run, bool) {
	if m.By == Gone {
		return Run{}, false
	}
	me := w.Run(m.By)
	return me, me.At == AtSent
}

// lose is that a message does not arrive: a fault if somebody waits for it.
func (w *world) lose(m Message) (State, bool) {
	cost := uint8(0)
	if _, waits := w.sender(m); waits {
		cost = 1
	}
	t := w.State
	if !removeFrom(t.msgs[:], m.pack()) || !w.spend(&t, cost) {
		return no()
	}
	return t, true
}

// duplicate is that the network doubles a message. Where the provider cannot
// tell copies, the assumptions exclude it.
func (w *world) duplicate(m Message) (State, bool) {
	t := w.State
	travels := removeFrom(t.msgs[:], m.pack())
	if !travels || m.Copy || !(w.Keys && w.StoresDeclines || w.has(BreakA6)) || !w.spend(&t, 1) {
		return no()
	}
	t.addMessage(m)
	m.Copy, m.By = true, Gone
	t.addMessage(m)
	return t, true
}

// landLate is that a write which was not acknowledged is applied after all.
func (w *world) landLate(write Write) (State, bool) {
	t := w.State
	if !removeFrom(t.late[:], write.pack()) || !w.fits(write, w.rec) {
		return no()
	}
	w.store(&t, written(write, w.rec))
	return t, true
}

// changed is the state once time has changed the record.
func (w *world) changed(r Record) (State, bool) {
	t := w.State
	t.setRecord(r)
	return t, true
}

// lapse is that the lease ends, where it may.
func (w *world) lapse(may bool, cost uint8) (State, bool) {
	t, r := w.State, w.rec
	if r.Lease != LeaseRuns || !may || !w.spend(&t, cost) {
		return no()
	}
	r.Lease = LeaseOver
	t.setRecord(r)
	return t, true
}

// sendsDie is that every send that this lease or an earlier one permitted has
// landed or is lost, and is shown by look-up; and no clock is so far behind
// that it would permit another.
func (w *world) sendsDie() (State, bool) {
	r := w.rec
	if r.Lease != LeaseOver || !w.quiet() && !w.has(BreakA2) {
		return no()
	}
	r.Lease = LeaseDead
	t, _ := w.changed(r)
	if w.has(BreakAS) {
		return t, true
	}
	for h := Slot(1); h <= w.slots(); h++ {
		me := t.Run(h)
		me.May = false
		t.setRun(h, me)
	}
	return t, true
}

// windowCloses is that the guard's bound is passed.
func (w *world) windowCloses() (State, bool) {
	r := w.rec
	if !w.Ages || r.Window != WindowOpen {
		return no()
	}
	r.Window = WindowClosed
	return w.changed(r)
}

// forget is that the provider forgets the keys: after the guard's bound by
// every clock, and after all that was permitted before it has landed.
func (w *world) forget() (State, bool) {
	permitted := w.rec.Window != WindowOpen && w.quiet() || w.has(BreakA1)
	if !w.Ages || !permitted {
		return no()
	}
	t := w.State
	for i := uint8(1); i <= w.charges(); i++ {
		c, _ := w.Charge(i)
		c.Known = false
		t.setCharge(i, c)
	}
	t.refused = 0
	if t == w.State {
		return no()
	}
	if r := w.rec; r.Window == WindowClosed {
		r.Window = WindowPast
		t.setRecord(r)
	}
	return t, true
}

// horizonEnds is that the retry horizon is over: nobody asks any more.
func (w *world) horizonEnds() (State, bool) {
	if !w.GivesUp || !w.Asking() || !w.rec.Exists() {
		return no()
	}
	t := w.State
	t.setAsking(false)
	return t, true
}

// failover is that the registry loses an acknowledged claim.
func (w *world) failover() (State, bool) {
	t := w.State
	if !w.has(BreakA3) || !w.rec.Exists() || !w.spend(&t, 1) {
		return no()
	}
	w.store(&t, Record{})
	return t, true
}
