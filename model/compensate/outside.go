package compensate

// travel is what becomes of messages that nobody waits for, and of those that
// are doubled.
func (w *world) travel() {
	if w.Stray > 0 {
		t := w.State
		t.Stray--
		w.emit(Action{Kind: LoseStray}, t) // or it is declined
		t.charged()
		w.emit(Action{Kind: LandStray}, t)
	}
	for i := uint8(1); i <= w.Made; i++ {
		if w.Charge(i).Loose > 0 {
			t := w.State
			t.Charge(i).Loose--
			w.emit(Action{Kind: LoseLooseRefund}, t)
			w.giveBack(t.Charge(i))
			w.emit(Action{Kind: LandLooseRefund}, t)
		}
	}
	w.double()
}

// double is that something below the service doubles a request: refunds where
// the provider is meant to notice, and charges where an assumption is dropped.
func (w *world) double() {
	if t := w.State; w.BreakA6 && w.travels() && t.spend() {
		t.Stray++
		w.emit(Action{Kind: Duplicate}, t)
	}
	if !w.RefundsOnce && !w.RefundKeys && !w.BreakA6 {
		return
	}
	for _, i := range w.State.refunding().Charges() {
		if t := w.State; t.spend() {
			t.Charge(i).Loose++
			w.emit(Action{Kind: DuplicateRefund}, t)
		}
	}
}

// pass is that time passes.
func (w *world) pass() {
	record := func(k Kind, change func(*Record)) {
		t := w.State
		change(&t.Record)
		w.emit(Action{Kind: k}, t)
	}
	switch r := w.Record; {
	case r.Lease == LeaseRuns:
		t := w.State
		t.Record.Lease = LeaseOver
		if r.Owner == Gone {
			w.emit(Action{Kind: LeaseEnds}, t)
		} else if t.spend() {
			w.emit(Action{Kind: LeaseEndsEarly}, t)
		}
	case r.Lease == LeaseOver && (!w.travels() || w.BreakA2):
		record(SendsDie, func(r *Record) { r.Lease = LeaseDead })
	}
	if w.Record.Eager && w.Record.leaseOver() && !w.EagerForEver {
		record(HurryEnds, func(r *Record) { r.Eager = false })
	}
	if w.Ages && w.Record.open() && w.Record.Window == WindowOpen {
		record(WindowCloses, func(r *Record) { r.Window = WindowClosed })
	}
	if w.GivesUp && w.Asking && w.Record.State != NoState {
		t := w.State
		t.Asking = false
		w.emit(Action{Kind: HorizonEnds}, t)
	}
	w.passAudit()
}

// passAudit is that the lease under which refunds are sent ends, and that they
// die then.
func (w *world) passAudit() {
	t := w.State
	switch w.Audit.Lease {
	case LeaseRuns:
		t.Audit.Lease = LeaseOver
		if !w.refunds() {
			w.emit(Action{Kind: AuditLeaseEnds}, t)
		} else if t.spend() {
			w.emit(Action{Kind: AuditLeaseEndsEarly}, t)
		}
	case LeaseOver:
		if w.State.refunding() == 0 || w.BreakA2 {
			t.Audit.Lease = LeaseDead
			w.emit(Action{Kind: RefundsDie}, t)
		}
	}
}

// refunds reports whether a run that holds the audit is alive.
func (w *world) refunds() bool {
	for h := Slot(w.Handlers + 1); h <= w.slots(); h++ {
		if r := w.Run(h); r.Fresh && (r.At == AtRefund || r.At == AtRefunding || r.At == AtReadBack) {
			return true
		}
	}
	return false
}
