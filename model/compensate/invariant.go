package compensate

// Invariant is something that holds in every reachable state of the protocol.
type Invariant struct {
	Name string
	Doc  string // what it says, in one sentence
	Hold func(*Config, State) bool
}

// Invariants are those of the specification, in its order; TypeOK is left to
// Go's types.
var Invariants = []Invariant{
	{"SingleCharge", "When all is over there is at most one net charge: the one that the reply names and that was told.", func(_ *Config, s State) bool {
		if !s.Converged() {
			return true
		}
		for _, t := range s.Told() {
			if t != s.Record.Reply {
				return false
			}
		}
		return s.Net() == s.kept()
	}},
	{"AuditIsLast", "Once the audit is over nothing can come that it would have to see.", func(_ *Config, s State) bool {
		return s.Audit.State != AuditDone || s.Record.Terminal() && !s.travels() && s.Net() == s.kept()
	}},
	{"TruthfulReply", `"Paid" is told only of a charge that was made, "declined" only if there is none, now and later.`, func(_ *Config, s State) bool {
		for _, t := range s.Told() {
			if t.Charge > s.Made || t.Says == Declined && s.Made > 0 {
				return false
			}
		}
		return true
	}},
	{"StableReply", "All final replies of the operation are equal.", func(_ *Config, s State) bool {
		return len(s.Told()) <= 1
	}},
	{"SentJournaled", "Nothing is on its way to the provider before the record says sent and there is an audit.", func(_ *Config, s State) bool {
		return !s.travels() || s.Record.State > Claimed && s.Audit.State != NoAuditState
	}},
	{"KeptIsJournaled", "Nothing is given back, or asked to be, before the operation is final, and never the charge that its reply names.", func(_ *Config, s State) bool {
		back := s.refunding()
		for i := uint8(1); i <= s.Made; i++ {
			if s.Charge(i).Refunds > 0 {
				back |= only(i)
			}
		}
		return back == 0 || s.Record.Terminal() && back&s.kept() == 0
	}},
	{"BoundedRefunds", "No charge is given back twice, and none that somebody was told of.", func(_ *Config, s State) bool {
		for i := uint8(1); i <= s.Made; i++ {
			if n := s.Charge(i).Refunds; n > 1 || n > 0 && s.told.Has(i) {
				return false
			}
		}
		return true
	}},
	{"SingleOwner", "No two live runs hold the record at once in order to send.", func(_ *Config, s State) bool {
		owners := 0
		for _, r := range s.runs {
			sends := r.At == AtAudit || r.At == AtMarkSent || r.At == AtCharge || r.At == AtSent
			if sends && r.Fresh && s.Record.open() {
				owners++
			}
		}
		return owners <= 1
	}},
}

// StepInvariant is something that holds of every step of the protocol.
type StepInvariant struct {
	Name string
	Doc  string // what it says, in one sentence
	Hold func(c *Config, from, to State) bool
}

// StepInvariants are the action properties of the specification, in its order.
var StepInvariants = []StepInvariant{
	{"TerminalIsFinal", "A terminal record never changes.", func(_ *Config, from, to State) bool {
		return !from.Record.Terminal() || to.Record.State == from.Record.State && to.Record.Reply == from.Record.Reply
	}},
}

// Goal is what every fair behaviour comes to.
type Goal struct {
	Name    string
	Doc     string // what it says, in one sentence
	Forever bool   // once reached in the end, it stays so; otherwise reaching it once is enough
	Reached func(State) bool
}

// Goals are the liveness properties of the specification, in its order.
var Goals = []Goal{
	{"Converges", "What was claimed comes to rest: final, the audit over, one net charge.", true, func(s State) bool {
		return s.Record.State == NoState || s.Converged() && s.Net() == s.kept()
	}},
	{"NotWedged", "A client that keeps asking hears a final answer.", false, func(s State) bool { return s.told != 0 }},
}

// Situation is something that must be reachable, or the invariants would hold
// for want of anything to judge.
type Situation struct {
	Name  string // the specification denies it under this name
	Doc   string // what happens, in one sentence
	Shows func(*Config, State) bool
}

// Situations are those of the specification, in its order.
var Situations = []Situation{
	{"NeverTwice", "There are two net charges.", func(_ *Config, s State) bool { return len(s.Net().Charges()) > 1 }},
	{"NeverGivenBack", "All is over, and a charge was given back.", func(_ *Config, s State) bool {
		for i := uint8(1); i <= s.Made; i++ {
			if s.Converged() && s.Charge(i).Refunds == 1 {
				return true
			}
		}
		return false
	}},
	{"NeverLateCharge", `A charge is made after "paid" was told of another.`, func(_ *Config, s State) bool {
		for _, t := range s.Told() {
			if t.Says == Paid && s.Made > t.Charge {
				return true
			}
		}
		return false
	}},
	{"NeverRefundLost", "A refund is on its way that nobody waits for.", func(_ *Config, s State) bool {
		for _, c := range s.ledger {
			if c.Loose > 0 {
				return true
			}
		}
		return false
	}},
	{"NeverOlderKept", "Of two charges the first is kept.", func(_ *Config, s State) bool {
		return s.Converged() && s.Made == 2 && s.kept() == only(1)
	}},
	{"NeverNewerKept", "Of two charges the second is kept.", func(_ *Config, s State) bool {
		return s.Converged() && s.Made == 2 && s.kept() == only(2)
	}},
	{"NeverLostRace", "A run that wants to complete finds the record completed by another.", func(_ *Config, s State) bool {
		for i, r := range s.runs {
			if r.At == AtReadBack && r.Step == StepComplete && s.Record.Terminal() && s.Record.Owner != Slot(i+1) {
				return true
			}
		}
		return false
	}},
	{"NeverSettled", "The operation is declined, and its audit is over.", func(_ *Config, s State) bool {
		return s.Converged() && s.Record.State == DeclinedState && s.Audit.State == AuditDone
	}},
}
