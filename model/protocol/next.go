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

// Next calls emit with every step from s, in a fixed order; a step that leads
// to a state twice is told twice, as TLC counts it. It panics with
// [OutOfRoom] where a step leads beyond what a state holds.
func Next(c *Config, s State, emit func(Action, State)) {
	w := world{c, s, s.Record()}
	try := func(a Action) {
		if t, ok := w.take(a); ok {
			emit(a, t)
		}
	}
	for h := Slot(1); h <= c.slots(); h++ {
		if s.idle(h) {
			for _, p := range [...]Parameters{P, Q} {
				try(Action{Kind: Claim, Slot: h, Parameters: p})
				try(Action{Kind: ClaimUnanswered, Slot: h, Parameters: p})
			}
			continue
		}
		for _, k := range goesOn[s.Run(h).At] {
			try(Action{Kind: k, Slot: h})
		}
		try(Action{Kind: Crash, Slot: h})
	}
	try(Action{Kind: Sweep})
	try(Action{Kind: Collect})
	for _, word := range s.msgs {
		if word == 0 {
			break
		}
		m := unpackMessage(word)
		for _, k := range [...]Kind{LandApproved, LandDeclined, Lose, Duplicate} {
			try(Action{Kind: k, Message: m})
		}
	}
	for _, word := range s.late {
		if word == 0 {
			break
		}
		try(Action{Kind: LandLate, Write: unpackWrite(word)})
	}
	for k := LeaseEnds; k <= Failover; k++ {
		try(Action{Kind: k})
	}
}

// goesOn lists what a run may do at each place; a crash may come anywhere.
var goesOn = [...][]Kind{
	AtWait:     {Wait},
	AtReadBack: {ReadBack},
	AtLookUp:   {LookUp, LookUpLags},
	AtTakeOver: {TakeOver, UpdateUnanswered},
	AtMarkSent: {MarkSent, UpdateUnanswered},
	AtCharge:   {SendCharge},
	AtSent:     {TimeOut, TimeOutEarly},
	AtComplete: {ReplyEarly, Complete, UpdateUnanswered},
	AtSettle:   {Settle, UpdateUnanswered},
	AtReview:   {Review, UpdateUnanswered},
	AtReply:    {Reply},
	AtInsert:   {Overwrite},
}

// Take returns the state that exactly this action leads to from s, and false
// if the action cannot be taken there. It looks at nothing but this action,
// so that a behaviour can be followed at its own pace. It panics with
// [OutOfRoom] as Next does.
func Take(c *Config, s State, a Action) (State, bool) {
	w := world{c, s, s.Record()}
	return w.take(a)
}

// world is the state that a step starts from.
type world struct {
	*Config
	State
	rec Record
}

// take is the step that the action names.
func (w *world) take(a Action) (State, bool) {
	if a.Kind < Sweep && (a.Slot < 1 || a.Slot > w.slots()) || a.Kind >= Sweep && a.Slot != 0 {
		return State{}, false
	}
	h := a.Slot
	switch a.Kind {
	case Claim:
		return w.claim(h, a.Parameters)
	case ClaimUnanswered:
		return w.claimUnanswered(h, a.Parameters)
	case Overwrite:
		return w.overwrite(h)
	case Wait:
		return w.wait(h)
	case ReadBack:
		return w.readBack(h)
	case TakeOver:
		return w.update(h, AtTakeOver, StepTakeOver)
	case MarkSent:
		return w.update(h, AtMarkSent, StepMarkSent)
	case SendCharge:
		return w.charge(h)
	case TimeOut:
		return w.timeOut(h, !w.awaited(h), 0)
	case TimeOutEarly:
		return w.timeOut(h, w.awaited(h), 1)
	case LookUp:
		return w.lookUp(h)
	case LookUpLags:
		return w.lookUpLags(h)
	case Complete:
		return w.update(h, AtComplete, StepComplete)
	case Settle:
		return w.settle(h)
	case Review:
		return w.update(h, AtReview, StepReview)
	case UpdateUnanswered:
		return w.updateUnanswered(h)
	case Reply:
		return w.reply(h)
	case ReplyEarly:
		return w.replyEarly(h)
	case Crash:
		return w.crash(h)
	case Sweep:
		return w.sweep()
	case Collect:
		return w.collect()
	case LandApproved:
		return w.landApproved(a.Message)
	case LandDeclined:
		return w.landDeclined(a.Message)
	case Lose:
		return w.lose(a.Message)
	case Duplicate:
		return w.duplicate(a.Message)
	case LandLate:
		return w.landLate(a.Write)
	case LeaseEnds:
		return w.lapse(w.rec.Owner == Gone, 0)
	case LeaseEndsEarly:
		return w.lapse(w.rec.Owner != Gone, 1)
	case SendsDie:
		return w.sendsDie()
	case WindowCloses:
		return w.windowCloses()
	case Forget:
		return w.forget()
	case HorizonEnds:
		return w.horizonEnds()
	case Failover:
		return w.failover()
	default:
		return State{}, false
	}
}

// no is what an action that cannot be taken leads to.
func no() (State, bool) { return State{}, false }

// spend takes n faults off the budget of t, if they are there.
func (w *world) spend(t *State, n uint8) bool {
	if w.Unbounded {
		return true
	}
	if t.rest&127 < n {
		return false
	}
	t.rest -= n
	return true
}

// after is the state once the run in a slot has changed its own memory only.
func (w *world) after(h Slot, me Run) (State, bool) {
	t := w.State
	t.setRun(h, me)
	return t, true
}

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

func (w *world) write(h Slot, me Run, step Step) Write {
	return Write{Step: step, Version: me.Version, Owner: w.token(h), Reply: me.Answer}
}

// update is a compare-and-swap on the version that the run has read. A
// conflict is followed by a read.
func (w *world) update(h Slot, at Place, step Step) (State, bool) {
	me := w.Run(h)
	if me.At != at {
		return no()
	}
	t, write := w.State, w.write(h, me, step)
	if w.rec.Exists() && w.fits(write, w.rec) {
		r := written(write, w.rec)
		w.store(&t, r)
		me = w.went(me, step, r)
	} else {
		me.At, me.Step = AtReadBack, step
	}
	t.setRun(h, me)
	return t, true
}

// updateUnanswered is an update that is not acknowledged.
func (w *world) updateUnanswered(h Slot) (State, bool) {
	me := w.Run(h)
	step := me.At.writes()
	t, write := w.State, w.write(h, me, step)
	if step == NoStep || !w.rec.Exists() || !w.fits(write, w.rec) || !w.spend(&t, 1) {
		return no()
	}
	t.addLate(write)
	if w.has(NoReadBack) {
		me = w.went(me, step, written(write, w.rec))
	} else {
		me.At, me.Step = AtReadBack, step
	}
	t.setRun(h, me)
	return t, true
}

// writes is the update that a run makes at a place, or NoStep.
func (p Place) writes() Step {
	switch p {
	case AtTakeOver:
		return StepTakeOver
	case AtMarkSent:
		return StepMarkSent
	case AtComplete:
		return StepComplete
	case AtSettle:
		return StepSettle
	case AtReview:
		return StepReview
	default:
		return NoStep
	}
}

// settle is declined, not charged.
func (w *world) settle(h Slot) (State, bool) {
	if me := w.Run(h); me.At == AtSettle && w.has(ClockAfterLookUp) && w.rec.Lease != LeaseDead {
		return w.after(h, telling(me, inProgress, NoStep))
	}
	return w.update(h, AtSettle, StepSettle)
}

// readBack goes on only if the record shows this run's token in the state that
// it wrote.
func (w *world) readBack(h Slot) (State, bool) {
	me := w.Run(h)
	mine := w.leaves(me, w.rec.State) && (w.has(ReadBackIgnoresOwner) || w.rec.Owner == w.token(h))
	switch {
	case me.At != AtReadBack:
		return no()
	case mine:
		return w.after(h, w.went(me, me.Step, w.rec))
	case w.has(OwnReply) && me.Answer.Final():
		return w.after(h, telling(me, me.Answer, me.Step))
	case !w.rec.Exists():
		return w.after(h, telling(me, inProgress, NoStep))
	case me.Step == StepClaim:
		return w.after(h, w.follow(me.Parameters, w.rec, mayWait))
	case w.rec.Terminal():
		return w.after(h, telling(me, w.rec.Reply, StepReplay))
	default:
		return w.after(h, telling(me, inProgress, NoStep))
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
func (w *world) charge(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtCharge {
		return no()
	}
	unwritten := w.has(NoReadBack) && !w.rec.Exists()
	mine := w.rec.Version == me.Version && w.rec.Lease == LeaseRuns
	leased := mine || w.has(SendAfterLease) || unwritten
	guarded := w.rec.Window == WindowOpen || w.has(NoGuard) || unwritten
	if !leased || !guarded {
		return w.after(h, telling(me, inProgress, NoStep))
	}
	t := w.State
	m := Message{By: h, Version: me.Version, Key: w.key(me.Version), Parameters: w.rec.Parameters}
	if !w.rec.Exists() {
		m.Parameters = me.Parameters
	}
	t.addMessage(m)
	me.At = AtSent
	t.setRun(h, me)
	return t, true
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

// shown is what a look-up sees: how many charges under the key, and the first.
type shown struct {
	count uint8
	first uint8 // its number, if there is one
	ours  bool  // all are the operation's
}

func (w *world) shows(me Run) shown {
	all := shown{ours: true}
	for i := uint8(1); w.Lookups && i <= w.charges(); i++ {
		c, _ := w.Charge(i)
		if c.Key != w.key(me.Version) {
			continue
		}
		if all.count++; all.count == 1 {
			all.first = i
		}
		all.ours = all.ours && (c.Parameters == w.rec.Parameters || w.has(AcceptForeign))
	}
	return all
}

// lookUp asks the provider by key, after the clock was read.
func (w *world) lookUp(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtLookUp {
		return no()
	}
	return w.after(h, w.resolve(h, me, w.shows(me)))
}

// lookUpLags is that the provider does not yet show what it has, while a send
// may still land.
func (w *world) lookUpLags(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtLookUp || w.shows(me).count == 0 || w.rec.Lease == LeaseDead && !w.has(BreakA5) {
		return no()
	}
	return w.after(h, w.resolve(h, me, shown{}))
}

// resolve is what follows from a look-up.
func (w *world) resolve(h Slot, me Run, seen shown) Run {
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
	case seen.count == 1 && seen.ours:
		return to(AtComplete, Answer{Paid, seen.first})
	case w.rec.State == InReview:
		return telling(me, inProgress, NoStep)
	case seen.count > 0:
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
func (w *world) end(t *State, h Slot) {
	t.setRun(h, Run{})
	t.orphan(h)
	if !w.has(OwnerIsProcess) {
		t.retire(h)
	}
}

// reply is the handler's return.
func (w *world) reply(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtReply {
		return no()
	}
	t := w.State
	w.end(&t, h)
	if h != w.reconciler() && me.Answer.Final() {
		t.tell(Telling{me.Parameters, me.Answer})
	}
	return t, true
}

// replyEarly is the defect of telling first and saving then.
func (w *world) replyEarly(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtComplete || !w.has(ReplyBeforeSave) || h == w.reconciler() {
		return no()
	}
	t := w.State
	t.tell(Telling{me.Parameters, me.Answer})
	return t, true
}

// crash is that a process dies.
func (w *world) crash(h Slot) (State, bool) {
	t := w.State
	if w.idle(h) || !w.spend(&t, 1) {
		return no()
	}
	w.end(&t, h)
	return t, true
}
