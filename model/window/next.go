package window

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
	for h := Slot(1); h <= Slot(c.Runs); h++ {
		w.act(h)
		w.crash(h)
	}
	for _, m := range s.Messages() {
		w.land(m)
		w.lose(m)
	}
	w.tick()
}

// act is what a run does next.
func (w *world) act(h Slot) {
	switch w.Run(h).At {
	case AtIdle:
		for e := range int8(w.Skew) + 1 {
			w.claim(h, e)
			w.resolve(h, e)
		}
	case AtCharge:
		for e := range int8(w.Skew) + 1 {
			w.charge(h, e)
		}
	case AtSent:
		w.timeOut(h)
	case AtLookUp:
		w.lookUp(h)
	case AtClock:
		w.readClock(h)
	case AtTakeOver:
		w.takeOver(h)
	case AtComplete:
		w.finish(Complete, h, Succeeded)
	case AtSettle:
		w.finish(Settle, h, Declined)
	case AtReview:
		w.finish(Review, h, InReview)
	}
}

// overtaken is that the record is written: the memory of all others is out of
// date, and h goes on as r.
func (s *State) overtaken(h Slot, r Run) {
	for g := range s.runs {
		s.runs[g].Fresh = false
	}
	*s.Run(h) = r
}

// end is that a run ends; nobody waits for its messages any more.
func (w *world) end(s *State, h Slot) {
	*s.Run(h) = w.idle()
	s.unattended(h)
}

// claim is that a run claims the operation at the reading e.
func (w *world) claim(h Slot, e int8) {
	if w.Record.State != NoRecord {
		return
	}
	t := w.State
	t.Record = Record{Claimed, e, e + int8(w.Lease)}
	me := w.idle()
	me.At, me.Until, me.First, me.Fresh = AtCharge, e+int8(w.Lease), true, true
	t.overtaken(h, me)
	w.emit(Action{Kind: Claim, Slot: h, Error: e}, t)
}

// charge is the send: only if the lease runs and the guard lets it pass.
func (w *world) charge(h Slot, e int8) {
	t, me := w.State, w.Run(h)
	runs := w.LeaseUnchecked || e < me.Until
	if runs && (w.CanSend(w.Record.From, e) || w.FirstUnguarded && me.First) {
		t.add(Message{h, true, int8(w.Life)})
		t.Run(h).At = AtSent
	} else {
		w.end(&t, h)
	}
	w.emit(Action{Kind: Charge, Slot: h, Error: e}, t)
}

// land is that a message arrives. A key that the provider knows for less than
// Window moves no more money; the sender, if it still waits, hears that all is
// paid.
func (w *world) land(m Message) {
	t := w.State
	if collapses := w.Keys && t.Age >= 0 && int(t.Age) < w.Window; !collapses {
		t.Age = 0
		t.Charges = min(manyCharge, t.Charges+1)
	}
	t.remove(m)
	if me := t.Run(m.By); m.Waits && me.At == AtSent {
		me.At = AtComplete
	}
	w.emit(Action{Kind: Arrive}, t)
}

// lose is that a message is lost.
func (w *world) lose(m Message) {
	t := w.State
	t.remove(m)
	w.emit(Action{Kind: Lose}, t)
}

// timeOut is that a run gives up on its answer. There are two reasons for it,
// and TLC counts each.
func (w *world) timeOut(h Slot) {
	t := w.State
	w.end(&t, h)
	if w.Crashes {
		w.emit(Action{Kind: TimeOut, Slot: h}, t)
	}
	if !w.awaited(h) {
		w.emit(Action{Kind: TimeOut, Slot: h}, t)
	}
}

// resolve is that a run finds the lease over at the reading e, and asks both
// questions of that reading.
func (w *world) resolve(h Slot, e int8) {
	if w.Record.State != Claimed || e <= w.Record.Until {
		return
	}
	t, me := w.State, w.idle()
	me.At, me.Read, me.Can, me.Dead, me.Fresh = AtLookUp, e, w.CanSend(w.Record.From, e), w.Dead(w.Record.Until, e), true
	if w.TakeOverFirst {
		me.Until, me.Dead = e+int8(w.Lease), false
		t.Record.Until = me.Until
		t.overtaken(h, me)
	} else {
		*t.Run(h) = me
	}
	w.emit(Action{Kind: Resolve, Slot: h, Error: e}, t)
}

// leads reports whether a run may go on there when a look-up has shown a
// charge, or none.
func (w *world) leads(to Place, found, can, dead bool) bool {
	if found {
		return to == AtComplete
	}
	switch to {
	case AtTakeOver:
		return can && (w.Keys || dead)
	case AtSettle:
		return dead && w.Lookups
	case AtReview:
		return dead && !w.Lookups && !can
	case AtIdle:
		return !dead && !(can && w.Keys)
	default:
		return false
	}
}

// mayShow reports whether look-up may answer so. A charge is shown after Lag;
// before that it may be shown or not.
func (w *world) mayShow(shows bool) bool {
	charged := w.Charges > 0
	if !w.Lookups {
		return !shows
	}
	return (!shows || charged) && (!charged || int(w.Age) <= w.Lag || shows)
}

// lookUp is the look-up, after the reading; or, a defect, before it.
func (w *world) lookUp(h Slot) {
	for _, shows := range []bool{false, true} {
		if !w.mayShow(shows) {
			continue
		}
		me := *w.Run(h)
		if w.ClockAfterLookUp {
			t := w.State
			t.Run(h).At, t.Run(h).Found = AtClock, shows
			w.emit(Action{Kind: LookUpFirst, Slot: h, Shows: shows}, t)
			continue
		}
		for _, way := range ways {
			if !w.leads(way, shows, me.Can, me.Dead) {
				continue
			}
			t := w.State
			switch {
			case way == AtIdle:
				w.end(&t, h)
			case way == AtTakeOver && w.TakeOverFirst:
				t.Run(h).At = AtCharge
			default:
				t.Run(h).At = way
			}
			w.emit(Action{Kind: LookUp, Slot: h, Shows: shows, Way: way}, t)
		}
	}
}

// readClock is the reading after the look-up.
func (w *world) readClock(h Slot) {
	found := w.Run(h).Found
	for e := range int8(w.Skew) + 1 {
		for _, way := range ways {
			if !w.leads(way, found, w.CanSend(w.Record.From, e), w.Dead(w.Record.Until, e)) {
				continue
			}
			t := w.State
			if way == AtIdle {
				w.end(&t, h)
			} else {
				me := t.Run(h)
				me.At, me.Read, me.Found = way, e, false
			}
			w.emit(Action{Kind: ReadClock, Slot: h, Error: e, Way: way}, t)
		}
	}
}

// takeOver is a new lease from the reading on, in order to send.
func (w *world) takeOver(h Slot) {
	t, me := w.State, *w.Run(h)
	if me.Fresh {
		t.Record.Until = max(w.FarUntil(), me.Read+int8(w.Lease))
		if w.GuardMoves {
			t.Record.From = max(w.FarFrom(), me.Read)
		}
		next := w.idle()
		next.At, next.Until, next.Fresh = AtCharge, t.Record.Until, true
		t.overtaken(h, next)
	} else {
		w.end(&t, h)
	}
	w.emit(Action{Kind: TakeOver, Slot: h}, t)
}

// finish is a terminal write, and the end of the run.
func (w *world) finish(k Kind, h Slot, state RecordState) {
	t := w.State
	if w.Run(h).Fresh {
		t.Record.State = state
		t.overtaken(h, w.idle())
	}
	w.end(&t, h)
	w.emit(Action{Kind: k, Slot: h}, t)
}

// crash is that a process dies.
func (w *world) crash(h Slot) {
	if !w.Crashes || w.Run(h).At == AtIdle {
		return
	}
	t := w.State
	w.end(&t, h)
	w.emit(Action{Kind: Crash, Slot: h}, t)
}

// tick is that time passes. A message that has come to the end of its life is
// lost.
func (w *world) tick() {
	t := w.State
	t.Record.From = max(w.FarFrom(), t.Record.From-1)
	t.Record.Until = max(w.FarUntil(), t.Record.Until-1)
	for h := range w.Runs {
		r := &t.runs[h]
		r.Until, r.Read = max(w.FarUntil(), r.Until-1), max(w.FarRead(), r.Read-1)
	}
	for h := range t.sent {
		for waits := range t.sent[h] {
			t.sent[h][waits] >>= 1
		}
	}
	if t.Age >= 0 {
		t.Age = min(w.oldest(), t.Age+1)
	}
	w.emit(Action{Kind: Tick}, t)
}
