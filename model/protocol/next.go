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
				try(Action{Kind: ClaimBehind, Slot: h, Parameters: p})
			}
			continue
		}
		at := s.Run(h).At
		for _, k := range goesOn[at] {
			try(Action{Kind: k, Slot: h})
		}
		if at == AtLookUp {
			for _, to := range [...]Place{AtTakeOver, AtComplete, AtSettle, AtReview, AtReply} {
				for k := LookUp; k <= LookUpBehind; k++ {
					try(Action{Kind: k, Slot: h, To: to})
				}
			}
		}
		try(Action{Kind: Crash, Slot: h})
	}
	try(Action{Kind: Sweep})
	try(Action{Kind: Collect})
	for _, word := range filled(s.msgs[:]) {
		m := unpackMessage(word)
		for _, k := range [...]Kind{LandApproved, LandDeclined, Lose, Duplicate} {
			try(Action{Kind: k, Message: m})
		}
	}
	for _, word := range filled(s.late[:]) {
		try(Action{Kind: LandLate, Write: unpackWrite(word)})
	}
	for k := LeaseEnds; k <= Failover; k++ {
		try(Action{Kind: k})
	}
}

// goesOn lists what a run may do at each place, but for its look-up, which may
// go several ways; a crash may come anywhere.
var goesOn = [...][]Kind{
	AtWait:     {Wait, WaitBehind},
	AtReadBack: {ReadBack, ReadBackBehind},
	AtTakeOver: {TakeOver, UpdateUnanswered},
	AtMarkSent: {MarkSent, UpdateUnanswered},
	AtCharge:   {SendCharge, ChargeBehind},
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
	case ClaimBehind:
		return w.claimBehind(h, a.Parameters)
	case Overwrite:
		return w.overwrite(h)
	case Wait:
		return w.wait(h)
	case WaitBehind:
		return w.waitBehind(h)
	case ReadBack:
		return w.readBack(h)
	case ReadBackBehind:
		return w.readBackBehind(h)
	case TakeOver:
		return w.update(h, AtTakeOver, StepTakeOver)
	case MarkSent:
		return w.update(h, AtMarkSent, StepMarkSent)
	case SendCharge:
		return w.charge(h)
	case ChargeBehind:
		return w.chargeBehind(h)
	case TimeOut:
		return w.timeOut(h, !w.awaited(h), 0)
	case TimeOutEarly:
		return w.timeOut(h, w.awaited(h), 1)
	case LookUp:
		return w.lookUp(h, a.To)
	case LookUpLags:
		return w.lookUpLags(h, a.To)
	case LookUpBehind:
		return w.lookUpBehind(h, a.To)
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

// claimBehind is an attempt that follows whoever has claimed, by a clock that
// is behind.
func (w *world) claimBehind(h Slot, p Parameters) (State, bool) {
	t := w.State
	if !w.asks(&t, h, p) {
		return no()
	}
	return w.followBehind(t, h, p, mayWait)
}

// followBehind is that by a clock that is behind a lease still runs which
// another clock has found over; never once it is dead, since that takes longer
// than clocks can differ. Where it makes no difference it is no step.
func (w *world) followBehind(t State, h Slot, p Parameters, waited waiting) (State, bool) {
	behind := w.rec
	behind.Lease = LeaseRuns
	me := w.follow(p, behind, waited)
	if w.rec.Lease != LeaseOver || me == w.follow(p, w.rec, waited) || !w.spend(&t, 1) {
		return no()
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

func (w *world) waitBehind(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtWait {
		return no()
	}
	return w.followBehind(w.State, h, me.Parameters, hasWaited)
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
	switch {
	case me.At != AtReadBack:
		return no()
	case w.mine(h, me):
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

func (w *world) readBackBehind(h Slot) (State, bool) {
	me := w.Run(h)
	if me.At != AtReadBack || me.Step != StepClaim || w.mine(h, me) {
		return no()
	}
	return w.followBehind(w.State, h, me.Parameters, mayWait)
}

// mine reports whether the record is as the run has written it.
func (w *world) mine(h Slot, me Run) bool {
	return w.leaves(me, w.rec.State) && (w.has(ReadBackIgnoresOwner) || w.rec.Owner == w.token(h))
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
	shut := w.rec.Window > WindowOpen
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
