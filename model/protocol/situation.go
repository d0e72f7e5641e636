package protocol

// Situation is something that must be reachable, or the invariants would hold
// for want of anything to judge.
type Situation struct {
	Name  string // the specification denies it under this name
	Doc   string // what happens, in one sentence
	Shows func(*Config, State) bool
}

// Situations are those of the specification, in its order.
var Situations = []Situation{
	{"NeverReplayed", "A stored reply is told again.", func(c *Config, s State) bool {
		return s.told != 0 && (tells(c, s, Paid, StepReplay) || tells(c, s, Declined, StepReplay))
	}},
	{"NeverInProgress", `"In progress" is told while the owner's lease runs.`, func(c *Config, s State) bool {
		return s.Record().Lease == LeaseRuns && tells(c, s, InProgress, NoStep)
	}},
	{"NeverMismatch", "Other parameters under the key are refused.", func(c *Config, s State) bool {
		return tells(c, s, Mismatch, NoStep)
	}},
	{"NeverTakenOver", "A run sends that has taken the record over.", func(c *Config, s State) bool {
		claimed := uint8(1) // the version at which the run of the claim sends
		if !c.Keys {
			claimed = 2
		}
		return anyRun(c, s, func(_ Slot, r Run) bool { return r.At == AtSent && r.Version > claimed })
	}},
	{"NeverLookedUp", "A look-up finds the charge of a run that is over.", func(c *Config, s State) bool {
		rec := s.Record()
		return anyRun(c, s, func(h Slot, r Run) bool {
			return r.At == AtComplete && r.Version == rec.Version && rec.Owner != c.token(h) && r.Answer.Says == Paid
		})
	}},
	{"NeverAbsorbed", "A charge request is still on its way when the operation has succeeded under its key.", func(_ *Config, s State) bool {
		rec := s.Record()
		kept, _ := s.Charge(rec.Reply.Charge)
		for _, m := range s.Messages() {
			if rec.State == Succeeded && m.Key == kept.Key {
				return true
			}
		}
		return false
	}},
	{"NeverDeclined", "The operation is declined, and the provider keeps that.", func(_ *Config, s State) bool {
		return s.Record().State == DeclinedState && s.refused != 0
	}},
	{"NeverSettled", "The operation is declined because nothing was charged and nothing can be.", func(c *Config, s State) bool {
		return tells(c, s, Declined, StepSettle)
	}},
	{"NeverReviewed", "The operation is handed over to a person.", func(_ *Config, s State) bool {
		return s.Record().State == InReview
	}},
	{"NeverCollected", "The record is forgotten after its reply was told.", func(_ *Config, s State) bool {
		return !s.Record().Exists() && s.told != 0
	}},
	{"NeverLateApplied", "A terminal write that was not acknowledged is found applied.", func(c *Config, s State) bool {
		rec := s.Record()
		return rec.Terminal() && anyRun(c, s, func(h Slot, r Run) bool { return r.At == AtReadBack && rec.Owner == h })
	}},
	{"NeverLostRace", "A run that wants to complete finds the record completed by another.", func(c *Config, s State) bool {
		rec := s.Record()
		return rec.Terminal() && anyRun(c, s, func(h Slot, r Run) bool {
			return r.At == AtReadBack && r.Step == StepComplete && rec.Owner != h
		})
	}},
}

func anyRun(c *Config, s State, is func(Slot, Run) bool) bool {
	for h := Slot(1); h <= c.slots(); h++ {
		if is(h, s.Run(h)) {
			return true
		}
	}
	return false
}

func tells(c *Config, s State, says Said, step Step) bool {
	return anyRun(c, s, func(_ Slot, r Run) bool {
		return r.At == AtReply && r.Answer.Says == says && r.Step == step
	})
}
