package protocol

// sweep is that the reconciler finds a record whose lease is over.
func (w *world) sweep() {
	h := w.reconciler()
	if !w.Reconciles || w.Run(h).At != AtIdle || !w.rec.unfinished() || w.rec.Lease == LeaseRuns {
		return
	}
	t := w.State
	t.setRun(h, Run{At: AtLookUp, Version: w.rec.Version, Parameters: w.rec.Parameters})
	w.emit(Action{Kind: Sweep}, t)
}

// collect forgets what is finished once nobody can ask.
func (w *world) collect() {
	finished := w.rec.Terminal() || w.has(CollectUnfinished)
	unasked := !w.Asking() || w.has(ShortRetention)
	if !w.Collects || !w.rec.Exists() || !finished || !unasked {
		return
	}
	t := w.State
	w.store(&t, Record{})
	w.emit(Action{Kind: Collect}, t)
}

// land is that a charge request reaches the provider. It approves or declines,
// or gives the answer that it has under the key.
func (w *world) land(m Message) {
	if prior := w.prior(m.Key); prior > 0 {
		c, _ := w.Charge(prior)
		a := Answer{}
		if c.Parameters == m.Parameters {
			a = Answer{Paid, prior}
		}
		w.emit(Action{Kind: LandApproved}, w.answered(m, a))
		return
	}
	again := w.Keys && w.refuses(m.Key)
	if !again {
		number := uint8(len(w.Ledger()) + 1)
		t := w.answered(m, Answer{Paid, number})
		t.setCharge(number, Charge{m.Key, m.Parameters, true})
		w.emit(Action{Kind: LandApproved}, t)
	}
	if again || w.Declines {
		t := w.answered(m, declined)
		if w.StoresDeclines {
			t.refused |= 1 << m.Key
		}
		w.emit(Action{Kind: LandDeclined}, t)
	}
}

// prior is the number of the charge with which the provider collapses the
// key, or 0.
func (w *world) prior(key uint8) uint8 {
	if !w.Keys {
		return 0
	}
	for i, c := range w.Ledger() {
		if c.Known && c.Key == key {
			return uint8(i + 1)
		}
	}
	return 0
}

// answered takes a message off the way and gives the answer to its sender, if
// that still waits.
func (w *world) answered(m Message, a Answer) State {
	t := w.State
	t.removeMessage(m)
	if me, waits := w.sender(m); waits && me.Version == m.Version {
		t.setRun(m.By, w.heard(me, a))
	}
	return t
}

func (w *world) sender(m Message) (Run, bool) {
	if m.By == Gone {
		return Run{}, false
	}
	me := w.Run(m.By)
	return me, me.At == AtSent
}

// lose is that a message does not arrive: a fault if somebody waits for it.
func (w *world) lose(m Message) {
	cost := 0
	if _, waits := w.sender(m); waits {
		cost = 1
	}
	t := w.State
	if t.spend(cost) {
		t.removeMessage(m)
		w.emit(Action{Kind: Lose}, t)
	}
}

// duplicate is that the network doubles a message. Where the provider cannot
// tell copies, the assumptions exclude it.
func (w *world) duplicate(m Message) {
	t := w.State
	if m.Copy || !(w.Keys && w.StoresDeclines || w.has(BreakA6)) || !t.spend(1) {
		return
	}
	m.Copy, m.By = true, Gone
	t.addMessage(m)
	w.emit(Action{Kind: Duplicate}, t)
}

// landLate is that a write which was not acknowledged is applied after all.
func (w *world) landLate() {
	late := w.Late()
	for i, write := range late {
		if !w.fits(write, w.rec) {
			continue
		}
		t := w.State
		others := append(append([]Write{}, late[:i]...), late[i+1:]...)
		t.setLate(others)
		w.store(&t, written(write, w.rec))
		w.emit(Action{Kind: LandLate}, t)
	}
}

// pass is that time passes.
func (w *world) pass() {
	record := func(k Kind, cost int, change func(*Record)) {
		t, r := w.State, w.rec
		if t.spend(cost) {
			change(&r)
			t.setRecord(r)
			w.emit(Action{Kind: k}, t)
		}
	}
	over := func(r *Record) { r.Lease = LeaseOver }
	switch {
	case w.rec.Lease == LeaseRuns && w.rec.Owner == Gone:
		record(LeaseEnds, 0, over)
	case w.rec.Lease == LeaseRuns:
		record(LeaseEndsEarly, 1, over)
	case w.rec.Lease == LeaseOver && (w.quiet() || w.has(BreakA2)):
		record(SendsDie, 0, func(r *Record) { r.Lease = LeaseDead })
	}
	if w.Ages && w.rec.Window == WindowOpen {
		record(WindowCloses, 0, func(r *Record) { r.Window = WindowClosed })
	}
	w.forget()
	if w.GivesUp && w.Asking() && w.rec.Exists() {
		t := w.State
		t.setAsking(false)
		w.emit(Action{Kind: HorizonEnds}, t)
	}
}

// forget is that the provider forgets the keys: after the guard's bound, and
// after all that was permitted before it has landed.
func (w *world) forget() {
	permitted := w.rec.Window != WindowOpen && w.quiet() || w.has(BreakA1)
	if !w.Ages || !permitted {
		return
	}
	t := w.State
	for i, c := range w.Ledger() {
		c.Known = false
		t.setCharge(uint8(i+1), c)
	}
	t.refused = 0
	if t != w.State {
		w.emit(Action{Kind: Forget}, t)
	}
}

// failover is that the registry loses an acknowledged claim.
func (w *world) failover() {
	t := w.State
	if !w.has(BreakA3) || !w.rec.Exists() || !t.spend(1) {
		return
	}
	w.store(&t, Record{})
	w.emit(Action{Kind: Failover}, t)
}
