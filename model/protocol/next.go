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
