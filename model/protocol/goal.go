package protocol

// Goal is what every fair behaviour comes to.
type Goal struct {
	Name    string
	Doc     string // what it says, in one sentence
	Forever bool   // once reached in the end, it stays so; otherwise reaching it once is enough
	Reached func(State) bool
}

// Goals are the liveness properties of the specification, in its order.
var Goals = []Goal{
	{"Resolves", "In the end the record is finished, or a person has it, and stays so.", true, func(s State) bool {
		r := s.Record()
		return !r.Exists() || r.Terminal() || r.State == InReview
	}},
	{"NotWedged", "A client that keeps asking hears a final answer, unless a person has the record or the key belongs to other parameters.", false, func(s State) bool {
		r := s.Record()
		return s.told != 0 || r.State == InReview || r.Parameters == Q
	}},
}

// Fairness returns what may be relied on in the end, as sets of actions: one
// of a set is taken if it stays possible. Runs go on, messages arrive, time
// passes, a persistent client asks while it has no answer, and the reconciler
// sweeps. No fault is fair.
func Fairness(c *Config) [][]Action {
	var all [][]Action
	for h := Slot(1); h <= c.slots(); h++ {
		var goesOn []Action
		for _, k := range []Kind{Wait, ReadBack, TakeOver, MarkSent, SendCharge, TimeOut, LookUp, Complete, Settle, Review, Reply} {
			goesOn = append(goesOn, Action{Kind: k, Slot: h})
		}
		all = append(all, goesOn)
		if c.Persistent {
			all = append(all, []Action{{Kind: Claim, Slot: h, Parameters: P}})
		}
	}
	return append(all,
		[]Action{{Kind: LandApproved}, {Kind: LandDeclined}},
		[]Action{{Kind: LeaseEnds}}, []Action{{Kind: SendsDie}}, []Action{{Kind: WindowCloses}},
		[]Action{{Kind: HorizonEnds}}, []Action{{Kind: Sweep}})
}
