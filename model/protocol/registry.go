package protocol

// fits reports whether a write finds what it must find. An insert is a write
// on version 0.
func (c *Config) fits(w Write, r Record) bool {
	return r.Version == w.Version || c.has(NoFence) && w.Version > 0 && r.Exists()
}

// written returns the record after a write.
func written(w Write, r Record) Record {
	r.Version++
	r.Owner = w.Owner
	switch w.Step {
	case StepClaim:
		r.State, r.Lease, r.Window, r.Parameters = Claimed, LeaseRuns, WindowOpen, w.Parameters
	case StepTakeOver:
		if r.State != Sent {
			r.State = Claimed
		}
		r.Lease, r.Reply = LeaseRuns, Answer{}
	case StepMarkSent:
		r.State = Sent
	case StepReview:
		r.State = InReview
	default:
		r.State = outcome(w.Reply)
		r.Lease, r.Reply = NoLease, w.Reply
	}
	return r
}

// outcome is the terminal state that keeps a reply.
func outcome(a Answer) RecordState {
	if a.Says == Paid {
		return Succeeded
	}
	return DeclinedState
}

// store makes r the record, and drops the late writes that can never be
// applied any more: a version does not return.
func (c *Config) store(s *State, r Record) {
	s.setRecord(r)
	kept := 0
	for _, word := range filled(s.late[:]) { // what is kept only moves down
		if c.fits(unpackWrite(word), r) {
			s.late[kept] = word
			kept++
		}
	}
	clear(s.late[kept:])
}

// telling is a run that is about to tell a, and what step brought it there.
func telling(r Run, a Answer, step Step) Run {
	return Run{At: AtReply, Step: step, Parameters: r.Parameters, Answer: a}
}

var (
	inProgress = Answer{Says: InProgress}
	mismatch   = Answer{Says: Mismatch}
	declined   = Answer{Says: Declined}
)

// went says how a run goes on once its write is applied, r being the record
// then. Whoever has claimed or taken over may send, by its own clock, until no
// clock's reading permits it any more.
func (c *Config) went(me Run, step Step, r Record) Run {
	switch step {
	case StepClaim, StepTakeOver:
		me.At = AtCharge
		if !c.Keys && !c.has(NoMark) && (step == StepClaim || r.State != Sent) {
			me.At = AtMarkSent
		}
		me.Step, me.Version, me.May = NoStep, r.Version, r.Lease != LeaseDead || c.has(BreakAS)
		return me
	case StepMarkSent:
		me.At, me.Step, me.Version = AtCharge, NoStep, r.Version
		return me
	case StepReview:
		return telling(me, inProgress, StepReview)
	default:
		return telling(me, me.Answer, step)
	}
}

// follow says how an attempt with the parameters p follows what somebody else
// has written. It waits once for a live owner.
func (c *Config) follow(p Parameters, r Record, waited waiting) Run {
	me := Run{Parameters: p}
	switch {
	case !c.has(NoFingerprint) && r.Parameters != p:
		return telling(me, mismatch, NoStep)
	case r.Terminal():
		return telling(me, r.Reply, StepReplay)
	case r.State == InReview:
		return telling(me, inProgress, NoStep)
	case r.Lease != LeaseRuns || c.has(LeaseIgnored):
		if c.has(NoResolve) {
			return telling(me, inProgress, NoStep)
		}
		return Run{At: AtLookUp, Parameters: p, Version: r.Version}
	case waited == hasWaited:
		return telling(me, inProgress, NoStep)
	default:
		me.At = AtWait
		return me
	}
}

// waiting says whether an attempt has waited for a live owner.
type waiting bool

const (
	mayWait   waiting = false
	hasWaited waiting = true
)
