package protocol

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
	{"SingleCharge", "There is at most one charge of the operation.", singleCharge},
	{"TruthfulReply", `"Paid" is told only of a charge that was made for the operation, "declined" only if there is none, now and later.`, truthfulReply},
	{"StableReply", "All final replies of the operation are equal.", stableReply},
	{"FingerprintBound", "Nobody hears the final answer to other parameters than its own.", fingerprintBound},
	{"SingleOwner", "No two live runs hold the record at once in order to send.", singleOwner},
	{"SentJournaled", "Nothing is on its way to the provider before the record says so.", sentJournaled},
	{"WindowGuarded", "Nothing is on its way under a key that the provider has forgotten.", windowGuarded},
	{"StableProviderKey", "The operation has one provider key, in all sends and charges.", stableProviderKey},
}

// StepInvariants are the action properties of the specification, in its order.
// All of them are about what becomes of the record.
var StepInvariants = []StepInvariant{
	{"TerminalIsFinal", "A terminal record never changes until it is forgotten.", ofRecord(terminalIsFinal)},
	{"FencedWrites", "A write is applied only on the version that its writer has read, and leaves the parameters as they were claimed.", ofRecord(fencedWrites)},
	{"SafeRetention", "Nothing unfinished is forgotten, and nothing while a retry may come.", ofRecord(safeRetention)},
}

// ofRecord asks only about steps that change the record, which most do not.
func ofRecord(hold func(*Config, State, State) bool) func(*Config, State, State) bool {
	return func(c *Config, from, to State) bool { return from.rec == to.rec || hold(c, from, to) }
}

// ours returns how many charges are the operation's, and whether the charge of
// that number is one of them.
func ours(s *State, number uint8) (count int, among bool) {
	for i, c := range s.Ledger() {
		if c.Parameters != ForeignParameters {
			count++
			among = among || i+1 == int(number)
		}
	}
	return count, among
}

func singleCharge(_ *Config, s State) bool {
	count, _ := ours(&s, 0)
	return count <= 1
}

func truthfulReply(_ *Config, s State) bool {
	for _, t := range s.Told() {
		count, among := ours(&s, t.Reply.Charge)
		if t.Reply.Says == Paid && !among || t.Reply.Says == Declined && count > 0 {
			return false
		}
	}
	return true
}

func stableReply(_ *Config, s State) bool {
	told := s.Told()
	for _, t := range told {
		if t.Reply != told[0].Reply {
			return false
		}
	}
	return true
}

func fingerprintBound(_ *Config, s State) bool {
	r := s.Record()
	for _, t := range s.Told() {
		if r.Exists() && t.Parameters != r.Parameters {
			return false
		}
		c, charged := s.Charge(t.Reply.Charge)
		if charged && c.Parameters != ForeignParameters && c.Parameters != t.Parameters {
			return false
		}
	}
	return true
}

func singleOwner(c *Config, s State) bool {
	r, holders := s.Record(), 0
	for h := Slot(1); h <= c.slots(); h++ {
		me := s.Run(h)
		sends := me.At == AtMarkSent || me.At == AtCharge || me.At == AtSent
		if sends && me.Version == r.Version && (r.State == Claimed || r.State == Sent) {
			holders++
		}
	}
	return holders <= 1
}

func sentJournaled(c *Config, s State) bool {
	r := s.Record()
	switch {
	case s.quiet():
		return true
	case !r.Exists():
		return !s.Asking()
	default:
		return c.Keys || r.State != Claimed
	}
}

func windowGuarded(_ *Config, s State) bool {
	for _, m := range s.Messages() {
		for _, c := range s.Ledger() {
			if c.Parameters != ForeignParameters && c.Key == m.Key && !c.Known {
				return false
			}
		}
	}
	return true
}

func stableProviderKey(_ *Config, s State) bool {
	for _, m := range s.Messages() {
		if m.Key != 1 {
			return false
		}
	}
	for _, c := range s.Ledger() {
		if c.Key != 1 {
			return false
		}
	}
	return true
}

func terminalIsFinal(_ *Config, from, to State) bool {
	was, is := from.Record(), to.Record()
	if !was.Terminal() || !is.Exists() {
		return true
	}
	return is.Version == was.Version && is.State == was.State && is.Reply == was.Reply && is.Parameters == was.Parameters
}

func fencedWrites(c *Config, from, to State) bool {
	was, is := from.Record(), to.Record()
	if !was.Exists() || !is.Exists() || is.Version == was.Version {
		return true
	}
	if is.Version != was.Version+1 || is.Parameters != was.Parameters {
		return false
	}
	for h := Slot(1); h <= c.slots(); h++ {
		if to.Run(h) != from.Run(h) && from.Run(h).Version == was.Version {
			return true
		}
	}
	remaining := make(map[Write]bool)
	for _, w := range to.Late() {
		remaining[w] = true
	}
	for _, w := range from.Late() {
		if !remaining[w] && w.Version == was.Version && w.Step != StepClaim {
			return true
		}
	}
	return false
}

func safeRetention(_ *Config, from, to State) bool {
	was, is := from.Record(), to.Record()
	return !was.Exists() || is.Exists() || was.Terminal() && !from.Asking()
}
