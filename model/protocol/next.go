package protocol

// Initial returns the one state in which a behaviour begins.
func Initial(c *Config) State {
	var s State
	if c.Foreign {
		s.setCharge(1, Charge{Key: 1, Parameters: ForeignParameters, Known: true})
	}
	s.tries = uint8(c.Others)<<4 | uint8(c.Attempts)
	s.rest = uint8(c.Faults)
	s.setAsking(true)
	return s
}

// world is the state that Next starts from, and where it puts the steps.
type world struct {
	*Config
	State
	rec  Record
	emit func(Action, State)
}

// Next calls emit with every step from s, in a fixed order; a step that leads
// to a state twice is told twice, as TLC counts it.
func Next(c *Config, s State, emit func(Action, State)) {
	w := &world{Config: c, State: s, rec: s.Record(), emit: emit}
	for h := Slot(1); h <= c.slots(); h++ {
		w.arrive(h, P)
		w.arrive(h, Q)
		w.act(h, s.Run(h))
		w.crash(h, s.Run(h))
	}
	w.sweep()
	w.collect()
	for _, m := range s.Messages() {
		w.land(m)
		w.lose(m)
		w.duplicate(m)
	}
	w.landLate()
	w.pass()
	w.failover()
}

// run emits a step of the run in a slot that changes its own memory only.
func (w *world) run(k Kind, h Slot, r Run) {
	t := w.State
	t.setRun(h, r)
	w.emit(Action{Kind: k, Slot: h}, t)
}

// arrive is an attempt that arrives and claims the operation, or follows
// whoever has.
func (w *world) arrive(h Slot, p Parameters) {
	if h == w.reconciler() || w.Run(h).At != AtIdle || !w.mayAsk(p) {
		return
	}
	t := w.State
	if !w.persists(p) {
		t.setTries(p, t.Tries(p)-1)
	}
	me := Run{Parameters: p}
	claim := Write{Step: StepClaim, Owner: w.token(h), Parameters: p}
	unanswered := t
	switch {
	case w.rec.Exists():
		t.setRun(h, w.follow(p, w.rec, mayWait))
	case w.has(CheckThenInsert):
		t.setRun(h, Run{At: AtInsert, Parameters: p})
	default:
		r := written(claim, w.rec)
		w.store(&t, r)
		t.setRun(h, w.went(me, StepClaim, r))
	}
	w.emit(Action{Claim, h, p}, t)

	if !unanswered.spend(1) {
		return
	}
	if !w.rec.Exists() {
		unanswered.setLate(append(unanswered.Late(), claim))
	}
	if w.has(NoReadBack) {
		me = w.went(me, StepClaim, written(claim, Record{}))
	} else {
		me.At, me.Step = AtReadBack, StepClaim
	}
	unanswered.setRun(h, me)
	w.emit(Action{ClaimUnanswered, h, p}, unanswered)
}

func (w *world) persists(p Parameters) bool { return w.Persistent && p == P }

func (w *world) mayAsk(p Parameters) bool {
	switch {
	case !w.Asking() && !w.has(BreakA4):
		return false
	case w.persists(p):
		return !w.toldTo(P)
	default:
		return w.Tries(p) > 0
	}
}

// act is what a run does next.
func (w *world) act(h Slot, me Run) {
	switch me.At {
	case AtWait:
		if w.rec.Exists() {
			w.run(Wait, h, w.follow(me.Parameters, w.rec, hasWaited))
		} else {
			w.run(Wait, h, telling(me, inProgress, NoStep))
		}
	case AtInsert:
		w.overwrite(h, me)
	case AtReadBack:
		w.run(ReadBack, h, w.readBack(h, me))
	case AtLookUp:
		w.lookUp(h, me)
	case AtTakeOver:
		w.update(TakeOver, h, StepTakeOver)
	case AtMarkSent:
		w.update(MarkSent, h, StepMarkSent)
	case AtCharge:
		w.charge(h, me)
	case AtSent:
		w.timeOut(h, me)
	case AtComplete:
		w.replyEarly(h, me)
		w.update(Complete, h, StepComplete)
	case AtSettle:
		w.settle(h, me)
	case AtReview:
		w.update(Review, h, StepReview)
	case AtReply:
		w.reply(h, me)
	}
}

// overwrite is the defect of a claim in two steps.
func (w *world) overwrite(h Slot, me Run) {
	r := written(Write{Step: StepClaim, Owner: w.token(h), Parameters: me.Parameters}, w.rec)
	r.Reply = Answer{}
	t := w.State
	w.store(&t, r)
	t.setRun(h, w.went(me, StepClaim, r))
	w.emit(Action{Kind: Overwrite, Slot: h}, t)
}

// update is a compare-and-swap on the version that the run has read, and the
// one that is not acknowledged.
func (w *world) update(k Kind, h Slot, step Step) {
	w.updateAnswered(k, h, step)
	w.updateUnanswered(h, step)
}

func (w *world) write(h Slot, step Step) Write {
	me := w.Run(h)
	return Write{Step: step, Version: me.Version, Owner: w.token(h), Reply: me.Answer}
}

func (w *world) updateAnswered(k Kind, h Slot, step Step) {
	t, me, write := w.State, w.Run(h), w.write(h, step)
	if w.rec.Exists() && w.fits(write, w.rec) {
		r := written(write, w.rec)
		w.store(&t, r)
		me = w.went(me, step, r)
	} else {
		me.At, me.Step = AtReadBack, step
	}
	t.setRun(h, me)
	w.emit(Action{Kind: k, Slot: h}, t)
}

func (w *world) updateUnanswered(h Slot, step Step) {
	t, me, write := w.State, w.Run(h), w.write(h, step)
	if !w.rec.Exists() || !w.fits(write, w.rec) || !t.spend(1) {
		return
	}
	t.setLate(append(t.Late(), write))
	if w.has(NoReadBack) {
		me = w.went(me, step, written(write, w.rec))
	} else {
		me.At, me.Step = AtReadBack, step
	}
	t.setRun(h, me)
	w.emit(Action{Kind: UpdateUnanswered, Slot: h}, t)
}

// settle is declined, not charged.
func (w *world) settle(h Slot, me Run) {
	if w.has(ClockAfterLookUp) && w.rec.Lease != LeaseDead {
		w.run(Settle, h, telling(me, inProgress, NoStep))
	} else {
		w.updateAnswered(Settle, h, StepSettle)
	}
	w.updateUnanswered(h, StepSettle)
}

// readBack goes on only if the record shows this run's token in the state that
// it wrote.
func (w *world) readBack(h Slot, me Run) Run {
	mine := w.leaves(me, w.rec.State) && (w.has(ReadBackIgnoresOwner) || w.rec.Owner == w.token(h))
	switch {
	case mine:
		return w.went(me, me.Step, w.rec)
	case w.has(OwnReply) && me.Answer.Final():
		return telling(me, me.Answer, me.Step)
	case !w.rec.Exists():
		return telling(me, inProgress, NoStep)
	case me.Step == StepClaim:
		return w.follow(me.Parameters, w.rec, mayWait)
	case w.rec.Terminal():
		return telling(me, w.rec.Reply, StepReplay)
	default:
		return telling(me, inProgress, NoStep)
	}
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

// charge sends the record's request, once, if the lease runs and the provider
// still collapses whatever is sent now.
func (w *world) charge(h Slot, me Run) {
	unwritten := w.has(NoReadBack) && !w.rec.Exists()
	mine := w.rec.Version == me.Version && w.rec.Lease == LeaseRuns
	leased := mine || w.has(SendAfterLease) || unwritten
	guarded := w.rec.Window == WindowOpen || w.has(NoGuard) || unwritten
	if !leased || !guarded {
		w.run(SendCharge, h, telling(me, inProgress, NoStep))
		return
	}
	t := w.State
	m := Message{By: h, Version: me.Version, Key: w.key(me.Version), Parameters: w.rec.Parameters}
	if !w.rec.Exists() {
		m.Parameters = me.Parameters
	}
	t.addMessage(m)
	me.At = AtSent
	t.setRun(h, me)
	w.emit(Action{Kind: SendCharge, Slot: h}, t)
}

// heard is what a run makes of the provider's answer. Approved is definite; so
// is declined where it is stored, or where nobody else was ever permitted to
// send; everything else is unknown.
func (w *world) heard(me Run, a Answer) Run {
	definite := a.Says == Paid ||
		a.Says == Declined && (w.StoresDeclines || me.First || w.has(LaterDeclines)) ||
		a.Says == Nothing && w.has(UnknownMeansFailed)
	if !definite {
		return telling(me, inProgress, NoStep)
	}
	if a.Says == Nothing {
		a = declined
	}
	me.At, me.First, me.Answer = AtComplete, false, a
	return me
}

// timeOut is that no answer comes.
func (w *world) timeOut(h Slot, me Run) {
	kind, cost := TimeOut, 0
	for _, m := range w.Messages() {
		if m.By == h {
			kind, cost = TimeOutEarly, 1
		}
	}
	t := w.State
	if !t.spend(cost) {
		return
	}
	t.setRun(h, w.heard(me, Answer{}))
	if w.has(DeleteWhenUnknown) && w.rec.Version == me.Version {
		t.setRecord(Record{})
	}
	w.emit(Action{Kind: kind, Slot: h}, t)
}

// lookUp asks the provider by key, after the clock was read. While a send may
// still land, the provider may not yet show what it has.
func (w *world) lookUp(h Slot, me Run) {
	var found []uint8
	if w.Lookups {
		for i, c := range w.Ledger() {
			if c.Key == w.key(me.Version) {
				found = append(found, uint8(i+1))
			}
		}
	}
	w.run(LookUp, h, w.resolve(h, me, found))
	if len(found) > 0 && (w.rec.Lease != LeaseDead || w.has(BreakA5)) {
		w.run(LookUpLags, h, w.resolve(h, me, nil))
	}
}

// resolve is what follows from a look-up that has seen these charges.
func (w *world) resolve(h Slot, me Run, seen []uint8) Run {
	good := len(seen) == 1
	for _, i := range seen {
		c, _ := w.Charge(i)
		good = good && (c.Parameters == w.rec.Parameters || w.has(AcceptForeign))
	}
	stale := w.rec.Version != me.Version // whatever it now writes is a conflict
	open := w.rec.Window == WindowOpen || w.has(NoGuard) || stale
	dead := w.rec.Lease == LeaseDead || w.has(SettleAtOnce)
	asked := h != w.reconciler() || w.RollForward
	resend := w.Keys || w.rec.State == Claimed || stale ||
		w.Lookups && (w.rec.Lease == LeaseDead || w.has(ResendUnproven))
	to := func(at Place, a Answer) Run {
		me.At, me.Answer = at, a
		return me
	}
	switch {
	case good:
		return to(AtComplete, Answer{Paid, seen[0]})
	case w.rec.State == InReview:
		return telling(me, inProgress, NoStep)
	case len(seen) > 0:
		return to(AtReview, Answer{})
	case asked && open && resend:
		return to(AtTakeOver, Answer{})
	case !w.Lookups && !open && dead && w.has(SettleUnseen):
		return to(AtSettle, declined)
	case !w.Lookups && !open && dead:
		return to(AtReview, Answer{})
	case !w.Lookups:
		return telling(me, inProgress, NoStep)
	case (dead || w.has(ClockAfterLookUp)) && (!w.Asking() || !open):
		return to(AtSettle, declined)
	default:
		return telling(me, inProgress, NoStep)
	}
}

// end takes a run and its token out of the state.
func (w *world) end(h Slot) State {
	t := w.State
	t.setRun(h, Run{})
	retire := func(owner Slot) Slot {
		if owner == h && !w.has(OwnerIsProcess) {
			return Gone
		}
		return owner
	}
	r := w.rec
	r.Owner = retire(r.Owner)
	t.setRecord(r)
	late := t.Late()
	for i := range late {
		late[i].Owner = retire(late[i].Owner)
	}
	t.setLate(late)
	for _, m := range w.Messages() {
		if m.By == h {
			t.removeMessage(m)
			m.By = Gone
			t.addMessage(m)
		}
	}
	return t
}

// reply is the handler's return.
func (w *world) reply(h Slot, me Run) {
	t := w.end(h)
	if h != w.reconciler() && me.Answer.Final() {
		t.tell(Telling{me.Parameters, me.Answer})
	}
	w.emit(Action{Kind: Reply, Slot: h}, t)
}

// replyEarly is the defect of telling first and saving then.
func (w *world) replyEarly(h Slot, me Run) {
	if !w.has(ReplyBeforeSave) || h == w.reconciler() {
		return
	}
	t := w.State
	t.tell(Telling{me.Parameters, me.Answer})
	w.emit(Action{Kind: ReplyEarly, Slot: h}, t)
}

// crash is that a process dies.
func (w *world) crash(h Slot, me Run) {
	if me.At == AtIdle {
		return
	}
	if t := w.end(h); t.spend(1) {
		w.emit(Action{Kind: Crash, Slot: h}, t)
	}
}
