package retention

// Invariant is something that holds in every reachable state of the protocol.
type Invariant struct {
	Name string
	Doc  string // what it says, in one sentence
	Hold func(*Config, State) bool
}

// StepInvariant is something that holds of every step of the protocol.
type StepInvariant struct {
	Name string
	Doc  string // what it says, in one sentence
	Hold func(c *Config, from, to State) bool
}

// Invariants are those of the specification, in its order; TypeOK is left to
// Go's types.
var Invariants = []Invariant{
	{"SingleCharge", "Each operation is charged at most once.", func(_ *Config, s State) bool {
		return s.Charges[0] <= 1 && s.Charges[1] <= 1
	}},
	{"TruthfulReply", `"Paid" is told only of a charge that was made for the operation, "declined" only if there is none.`, truthfulReply},
	{"StableReply", "All final answers to one operation are equal, and within the horizon nobody hears that the reply is gone.", stableReply},
	{"FingerprintBound", "Nobody hears of the end of other parameters than its own, and a mismatch is told to nobody else.", fingerprintBound},
}

// StepInvariants are the action properties of the specification.
var StepInvariants = []StepInvariant{
	{"SafeRetention", "Nothing unfinished is forgotten, no reply while an attempt within the horizon may come, and no record while any may.", safeRetention},
	{"TerminalIsFinal", "What a finished record says never changes until it is forgotten: what came out, of whose parameters.", terminalIsFinal},
}

func truthfulReply(_ *Config, s State) bool {
	for _, t := range s.Told() {
		charged := s.Charges[t.To.Operation()] > 0
		if t.Says == SaidPaid && !charged || t.Says == SaidDeclined && charged {
			return false
		}
	}
	return true
}

func stableReply(_ *Config, s State) bool {
	var heard [senders]Said
	for _, t := range s.Told() {
		switch {
		case t.Says == SaidGoneTooSoon:
			return false
		case t.Says == SaidGone:
		case heard[t.To] != InProgress && heard[t.To] != t.Says:
			return false
		default:
			heard[t.To] = t.Says
		}
	}
	return true
}

func fingerprintBound(_ *Config, s State) bool {
	for _, t := range s.Told() {
		if (t.Says == SaidMismatch) != (t.To.Parameters() != t.Of.Parameters()) {
			return false
		}
	}
	return true
}

// onTheWay reports whether an attempt of the sender may still land.
func (s *State) onTheWay(w Sender) bool { return s.Requests[w] != Over || s.Inserts[w] != Over }

// mayCome reports whether an attempt within the horizon may come.
func (s *State) mayCome() bool { return s.Until >= 0 || s.onTheWay(P) || s.onTheWay(Q) }

// mayComeLate reports whether any attempt may come that somebody has allowed
// for.
func (s *State) mayComeLate(c *Config) bool {
	late := int(s.Until)+c.Late >= 0 || c.Late > 0 && (s.onTheWay(LateP) || s.onTheWay(LateQ))
	return late || s.onTheWay(P) || s.onTheWay(Q)
}

func safeRetention(c *Config, from, to State) bool {
	was, is := from.Record, to.Record
	if !was.Exists() {
		return true
	}
	if !was.Tomb && (is.Tomb || !is.Exists()) && (!was.Terminal() || from.mayCome()) {
		return false
	}
	return is.Exists() || was.Terminal() && !from.mayComeLate(c)
}

func terminalIsFinal(_ *Config, from, to State) bool {
	was, is := from.Record, to.Record
	return !was.Terminal() || !is.Exists() || is.State == was.State && is.By == was.By && is.Print == was.Print
}

// Goal is what follows in every fair behaviour: each state that is From is
// followed by one that is To.
type Goal struct {
	Name     string
	Doc      string // what it says, in one sentence
	From, To func(State) bool
}

// Goals are the liveness properties of the specification.
var Goals = []Goal{
	{"Forgotten", "What is finished is forgotten in the end.",
		func(s State) bool { return s.Record.Terminal() },
		func(s State) bool { return !s.Record.Exists() }},
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
	{"NeverJustInTime", "The last attempt lands as late as it can, when a collector's clock shows the very instant of expiry.", func(c *Config, s State) bool {
		r := s.Record
		return r.Terminal() && !r.Tomb && s.Until < 0 && s.Requests[P] == Over && s.Inserts[P] == 0 && r.Expires >= 0 && r.Expires < c.readings()
	}},
	{"NeverGone", "The client hears that the operation is finished and its reply no longer kept.", func(_ *Config, s State) bool {
		for _, t := range s.Told() {
			if t.Says == SaidGone {
				return true
			}
		}
		return false
	}},
	{"NeverMetTombstone", "An attempt with other parameters meets a tombstone.", func(_ *Config, s State) bool {
		r := s.Record
		return r.Tomb && r.Print && r.By.Parameters() == P && s.Inserts[LateQ] != Over
	}},
	{"NeverForgotten", "The record is deleted after its reply was told.", func(_ *Config, s State) bool {
		for _, t := range s.Told() {
			if t.Says == SaidPaid && s.Forgot > 0 && !s.Record.Exists() {
				return true
			}
		}
		return false
	}},
	{"NeverReviewOutlives", "A record in review is kept when nobody asks any more and the provider has forgotten.", func(c *Config, s State) bool {
		return s.Record.State == InReview && !s.mayCome() && int(s.Key.Age) == c.Window
	}},
	{"NeverUsedAgain", "A key that was forgotten pays another operation.", func(_ *Config, s State) bool {
		return s.Charges == [2]uint8{1, 1}
	}},
}
