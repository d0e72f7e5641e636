package window

// Invariant is something that holds in every reachable state of the protocol.
type Invariant struct {
	Name string
	Doc  string // what it says, in one sentence
	Hold func(*Config, State) bool
}

// Invariants are those of the specification, in its order; TypeOK is left to
// Go's types.
var Invariants = []Invariant{
	{"SingleCharge", "There is at most one charge.", func(_ *Config, s State) bool { return s.Charges <= 1 }},
	{"WindowGuarded", "Nothing is on its way when the provider has forgotten the key.", func(c *Config, s State) bool {
		return !c.Keys || int(s.Age) < c.Window || s.Quiet()
	}},
	{"TruthfulReply", "What is declined is never charged, what succeeded was.", func(_ *Config, s State) bool {
		switch s.Record.State {
		case Declined:
			return s.Charges == 0
		case Succeeded:
			return s.Charges > 0
		default:
			return true
		}
	}},
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
	{"Resolves", "What was claimed ends.",
		func(s State) bool { return s.Record.State == Claimed },
		func(s State) bool { return s.Record.State > Claimed }},
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
	{"NeverSettled", "A record is settled, clocks and all.", func(_ *Config, s State) bool {
		return s.Record.State == Declined
	}},
	{"NeverCollapsed", "A second send is on its way after the first has charged.", func(_ *Config, s State) bool {
		for h := Slot(1); h <= maxRuns; h++ {
			if s.Charges == 1 && s.awaited(h) && !s.Run(h).First {
				return true
			}
		}
		return false
	}},
	{"NeverOutlived", "A run has sent and its record was taken over.", func(_ *Config, s State) bool {
		for h := Slot(1); h <= maxRuns; h++ {
			if me := s.Run(h); me.At == AtSent && !me.Fresh && s.Record.State == Claimed {
				return true
			}
		}
		return false
	}},
}
