package retention

// world is the state that Next starts from, and where it puts the steps.
type world struct {
	*Config
	State
	emit func(Action, State)
}

// Next calls emit with every step from s, in a fixed order; a step that leads
// to a state twice is told twice, as TLC counts it.
func Next(c *Config, s State, emit func(Action, State)) {
	w := &world{c, s, emit}
	for sender := range senders {
		for e := range c.clientReadings() {
			w.ask(sender, e)
		}
		w.arrive(sender)
		for e := range c.claimReadings() {
			w.insert(sender, e)
		}
	}
	w.land()
	w.review()
	for e := range c.readings() {
		w.complete(e)
		w.decline(e)
		w.completeStale(e)
		w.dropBody(e)
		w.delete(e)
		w.reap(e)
	}
	w.deleteStale()
	w.failover()
	w.tick()
}

// mayAsk reports whether an attempt may be sent at the reading e.
func (w *world) mayAsk(sender Sender, e int8) bool {
	late := e > w.Until && (int(e) <= int(w.Until)+w.Late || w.BreakA4)
	switch sender {
	case P:
		return e <= w.Until
	case Q:
		return w.Others && e <= w.Until
	case LateP:
		return late
	case LateQ:
		return w.Others && late
	default:
		return w.Reuses && w.Forgot == 1 && !w.Record.Exists()
	}
}

// ask is that an attempt is sent.
func (w *world) ask(sender Sender, e int8) {
	if int(w.Requests[sender]) >= w.Life || !w.mayAsk(sender, e) {
		return
	}
	t := w.State
	t.Requests[sender] = int8(w.Life)
	w.emit(Action{Ask, sender, e}, t)
}

// arrive is that a request arrives, and the service asks the registry to
// insert.
func (w *world) arrive(sender Sender) {
	if w.Requests[sender] == Over {
		return
	}
	t := w.State
	t.Inserts[sender] = int8(w.Life)
	w.emit(Action{Kind: Arrive, Sender: sender}, t)
}

// answer is what is told of the record. Another fingerprint is a mismatch, in
// every state of the record, tombstones included.
func (w *world) answer(sender Sender) Said {
	r := w.Record
	switch {
	case r.Print && sender.Parameters() != r.By.Parameters():
		return SaidMismatch
	case !r.Terminal():
		return InProgress
	case r.Tomb && (sender == P || sender == Q):
		return SaidGoneTooSoon
	case r.Tomb:
		return SaidGone
	case r.State == Succeeded:
		return SaidPaid
	default:
		return SaidDeclined
	}
}

// insert is that an insert lands: it claims the operation at the reading e, or
// finds what is there, which a replay only reads.
func (w *world) insert(sender Sender, e int8) {
	if w.Inserts[sender] == Over {
		return
	}
	t := w.State
	expires := e + int8(w.Retention())
	if w.Record.Exists() {
		if says := w.answer(sender); says != InProgress {
			t.tell(Telling{sender.Who(), says, w.Record.By})
		}
		if w.ReplayExtends && w.Record.Terminal() && !w.Record.Tomb {
			t.Record.Expires = expires
		}
	} else {
		t.Record = Record{State: Claimed, By: sender.Who(), Print: true, Expires: Over}
		if w.agesFromClaim() {
			t.Record.Expires = expires
		}
	}
	w.emit(Action{Insert, sender, e}, t)
}

// land is that the charge lands. A key that the provider knows for less than
// Window moves no more money, and other parameters under it are refused.
func (w *world) land() {
	r := w.Record
	known := w.Key.Age >= 0 && int(w.Key.Age) < w.Window
	if r.State != Claimed || r.Landed || known && w.Key.Of != r.By.Parameters() {
		return
	}
	t := w.State
	t.Record.Landed = true
	if !known {
		t.Key = Key{0, r.By.Parameters()}
		count := &t.Charges[r.By.Operation()]
		*count = min(manyCharge, *count+1)
	}
	w.emit(Action{Kind: Land}, t)
}

// finished returns the state after a terminal write at the reading e: the
// reply is kept from now on.
func (w *world) finished(state RecordState, e int8) State {
	t := w.State
	t.Record.State = state
	if !w.FromClaim {
		t.Record.Expires = e + int8(w.Retention())
	}
	return t
}

// complete is that the charge that landed is saved, by the run that made the
// claim or by another one that has looked it up: then the first still holds a
// write.
func (w *world) complete(e int8) {
	r := w.Record
	if r.State != Claimed && r.State != InReview || !r.Landed {
		return
	}
	t := w.finished(Succeeded, e)
	t.Stale = w.FenceIgnoresOwner
	w.emit(Action{Kind: Complete, Error: e}, t)
}

// decline is declined, or settled: nothing was charged and nothing can be.
func (w *world) decline(e int8) {
	if w.Record.State == Claimed && !w.Record.Landed {
		w.emit(Action{Kind: Decline, Error: e}, w.finished(Declined, e))
	}
}

// review is that the record is handed over to a person.
func (w *world) review() {
	if w.Record.State != Claimed {
		return
	}
	t := w.State
	t.Record.State = InReview
	w.emit(Action{Kind: Review}, t)
}

// completeStale is a write that waits since the last record and fits the new
// one, because the owner is not compared.
func (w *world) completeStale(e int8) {
	if !w.Stale || !w.FenceIgnoresOwner || w.Forgot == 0 || w.Record.State != Claimed {
		return
	}
	t := w.finished(Succeeded, e)
	t.Stale = false
	w.emit(Action{Kind: CompleteStale, Error: e}, t)
}

// expired reports whether the record is over by the reading e.
func (w *world) expired(e int8) bool {
	return e > w.Record.Expires || w.CollectOrEqual && e == w.Record.Expires
}

// forgotten returns the state without the record.
func (w *world) forgotten() State {
	t := w.State
	t.Record = noRecord
	t.Forgot = min(manyForgot, t.Forgot+1)
	t.Stale = t.Stale || w.CollectUnfenced
	return t
}

// dropBody is that a reply has expired: its body is dropped.
func (w *world) dropBody(e int8) {
	if !w.Record.Terminal() || w.Record.Tomb || !w.expired(e) {
		return
	}
	t := w.State
	if w.NoTombstone {
		t = w.forgotten()
	} else {
		t.Record.Tomb, t.Record.Print = true, !w.TombstoneForgetsPrint
		t.Record.Expires = e + int8(w.tombstone())
	}
	w.emit(Action{Kind: DropBody, Error: e}, t)
}

// delete is that a tombstone has expired: the record is deleted.
func (w *world) delete(e int8) {
	if w.Record.Tomb && w.expired(e) {
		w.emit(Action{Kind: Delete, Error: e}, w.forgotten())
	}
}

// reap is the defect of a collector that does not ask whether a record is
// finished.
func (w *world) reap(e int8) {
	claimed := w.Record.State == Claimed && w.CollectUnfinished
	review := w.Record.State == InReview && w.CollectReview
	if (claimed || review) && w.expired(e) {
		w.emit(Action{Kind: Reap, Error: e}, w.forgotten())
	}
}

// deleteStale is the defect of a delete without a fence: it was meant for
// another record.
func (w *world) deleteStale() {
	if !w.Stale || !w.CollectUnfenced || w.Forgot == 0 || !w.Record.Exists() {
		return
	}
	t := w.State
	t.Record, t.Stale = noRecord, false
	w.emit(Action{Kind: DeleteStale}, t)
}

// failover is that the registry loses what it acknowledged.
func (w *world) failover() {
	if w.BreakA3 && w.Record.Exists() {
		w.emit(Action{Kind: Failover}, w.forgotten())
	}
}

// tick is that time passes.
func (w *world) tick() {
	t := w.State
	t.Record.Expires = max(Over, t.Record.Expires-1)
	t.Until = max(w.FarUntil(), t.Until-1)
	for sender := range senders {
		if !w.BreakA2 {
			t.Requests[sender] = max(Over, t.Requests[sender]-1)
			t.Inserts[sender] = max(Over, t.Inserts[sender]-1)
		}
	}
	if t.Key.Age >= 0 {
		t.Key.Age = min(int8(w.Window), t.Key.Age+1)
	}
	w.emit(Action{Kind: Tick}, t)
}
