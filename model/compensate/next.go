package compensate

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
	for h := Slot(1); h <= c.slots(); h++ {
		w.act(h)
		w.crash(h)
	}
	w.travel()
	w.landLate()
	w.failover()
	w.pass()
}

// act is what a run does next, or begins.
func (w *world) act(h Slot) {
	switch w.Run(h).At {
	case AtIdle:
		if w.handles(h) {
			w.arrive(h)
		} else {
			w.sweep(h)
		}
	case AtAudit:
		w.insertAudit(h)
	case AtReadBack:
		w.readBack(h)
	case AtTakeOver:
		w.update(TakeOver, h, StepTakeOver)
	case AtMarkSent:
		w.update(MarkSent, h, StepMarkSent)
	case AtCharge:
		w.charge(h)
	case AtSent:
		w.sent(h)
	case AtComplete:
		w.replyEarly(h)
		w.update(Complete, h, StepComplete)
	case AtSettle:
		w.update(Settle, h, StepSettle)
	case AtReply:
		w.reply(h)
	case AtTidy:
		w.tidy(h)
	case AtHold:
		w.hold(h)
	case AtRefund:
		w.refund(h)
	case AtRefunding:
		w.refunding(h)
	case AtClose:
		w.close(h)
	}
}

// goes emits a step of the run in a slot that changes its own memory only.
func (w *world) goes(k Kind, h Slot, r Run) {
	t := w.State
	*t.Run(h) = r
	w.emit(Action{k, h}, t)
}

// ask takes an attempt off, if one may arrive.
func (w *world) ask(t *State) bool {
	switch {
	case !w.Asking:
		return false
	case w.Persistent:
		return w.told == 0
	case w.Tries == 0:
		return false
	}
	t.Tries--
	return true
}

// arrive is an attempt that arrives and claims the operation, or is told how
// it ended, or resolves it.
func (w *world) arrive(h Slot) {
	t := w.State
	if !w.ask(&t) {
		return
	}
	switch {
	case w.Record.State == NoState:
		w.claim(h, t)
	case w.Record.Terminal():
		t.tell(w.Record.Reply)
		w.emit(Action{Replay, h}, t)
	case w.Record.leaseOver() || w.LeaseIgnored:
		w.resolve(h, t)
		if w.Record.leaseOver() && w.LeaseIgnored { // two reasons, and TLC counts each
			w.resolve(h, t)
		}
	}
}

// claim is insert if absent; unanswered it may land, now or later.
func (w *world) claim(h Slot, t State) {
	claim := Write{Step: StepClaim, Owner: h}
	unanswered := t
	w.apply(&t, claim, h)
	*t.Run(h) = w.went(h, StepClaim)
	w.emit(Action{Claim, h}, t)

	if unanswered.spend() {
		unanswered.addLate(claim)
		*unanswered.Run(h) = w.unproven(h, StepClaim)
		w.emit(Action{ClaimUnanswered, h}, unanswered)
	}
}

// sweep is what a reconciler begins: it resolves, or looks at the audit.
func (w *world) sweep(h Slot) {
	if w.Record.open() && w.Record.leaseOver() {
		w.resolve(h, w.State)
	}
	w.lookAtAudit(h)
}

// resolve is what a run makes of a record whose lease is over; while a send
// may still land, look-up may not yet show what has landed. The attempt was
// taken off t.
func (w *world) resolve(h Slot, t State) {
	as := func(k Kind, shown bool) {
		next := t
		if *next.Run(h) = w.decided(h, shown); *next.Run(h) != (Run{}) {
			w.emit(Action{k, h}, next)
		}
	}
	as(Resolve, w.Made > 0)
	if w.Made > 0 && (w.Record.Lease != LeaseDead || w.BreakA5) {
		as(ResolveLags, false)
	}
}

// decided is what a run decides that has found the lease over, read the clock
// and looked up, and was shown a charge or none.
func (w *world) decided(h Slot, shown bool) Run {
	dead := w.Record.Lease == LeaseDead
	alone := dead || w.Record.State == Claimed
	wanted := w.handles(h) || w.RollForward
	open := w.Record.Window == WindowOpen || w.NoGuard
	switch {
	case shown && w.KeepsNewest:
		return Run{At: AtComplete, Fresh: true, Answer: Answer{Paid, w.Made}}
	case shown:
		return Run{At: AtComplete, Fresh: true, Answer: Answer{Paid, 1}}
	case wanted && open && (alone || w.Record.Eager):
		return Run{At: AtTakeOver, Fresh: true, Alone: alone}
	case (dead || w.SettleAtOnce) && (!w.Asking || !open):
		return Run{At: AtSettle, Fresh: true, Answer: declined}
	default:
		return Run{}
	}
}

// charge is the send, once per run and only while its lease and the time to
// try run.
func (w *world) charge(h Slot) {
	me, lease := *w.Run(h), w.Record.Lease
	leased := me.Fresh && lease == LeaseRuns || w.SendAfterLease || w.NoReadBack && lease <= LeaseRuns
	if !leased || !w.NoGuard && w.Record.Window == WindowClosed {
		w.emit(Action{SendCharge, h}, w.end(h))
		return
	}
	me.At = AtSent
	w.goes(SendCharge, h, me)
}

// sent is what becomes of a request whose sender waits: it lands, and the
// sender hears the answer; or it does not, or only later.
func (w *world) sent(h Slot) {
	me := *w.Run(h)
	heard := func(t *State, a Answer) {
		next := me
		next.At, next.Alone, next.Answer = AtComplete, false, a
		*t.Run(h) = next
	}
	t := w.State
	heard(&t, Answer{Paid, t.charged()})
	w.emit(Action{LandApproved, h}, t)
	if w.Declines {
		t := w.State
		if me.Alone || w.LaterDeclines {
			heard(&t, declined)
		} else {
			t = w.end(h)
		}
		w.emit(Action{LandDeclined, h}, t)
	}
	if t := w.end(h); t.spend() {
		w.emit(Action{Lost, h}, t)
		t.Stray++
		w.emit(Action{TimeOut, h}, t)
	}
}

// end takes a run and its token out of the state; nobody waits for its message
// any more.
func (w *world) end(h Slot) State {
	t := w.State
	*t.Run(h) = Run{}
	if t.Record.Owner == h {
		t.Record.Owner = Gone
	}
	late := t.Late()
	for i := range late {
		if late[i].Owner == h {
			late[i].Owner = Gone
		}
	}
	t.setLate(late)
	return t
}

// reply is that the run is over; the final reply is told to whoever asked.
func (w *world) reply(h Slot) {
	t := w.end(h)
	if w.handles(h) {
		t.tell(w.Run(h).Answer)
	}
	w.emit(Action{Reply, h}, t)
}

// replyEarly is the defect of telling first and saving then.
func (w *world) replyEarly(h Slot) {
	if !w.ReplyBeforeSave || !w.handles(h) {
		return
	}
	t := w.State
	t.tell(w.Run(h).Answer)
	w.emit(Action{ReplyEarly, h}, t)
}

// crash is that a process dies; what it sent is not lost.
func (w *world) crash(h Slot) {
	me := w.Run(h)
	t := w.end(h)
	if me.At == AtIdle || !t.spend() {
		return
	}
	switch me.At {
	case AtSent:
		t.Stray++
	case AtRefunding:
		t.Charge(me.Todo.first()).Loose++
	}
	w.emit(Action{Crash, h}, t)
}
