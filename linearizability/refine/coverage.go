package refine

import (
	"slices"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// Space is everything that a world of the model can do, and what of it runs of
// the system did. Two states of it are one if they differ only in how many
// attempts and faults are left, or in which handler is which: the world is
// small and counts them, and a run of the system has more of both.
type Space struct {
	model       protocol.Config
	states      map[string]int32
	reached     []bool // of each state
	transitions map[Transition]bool
	example     []protocol.State // of each state
	scratch     projection
	elsewhere   int
}

// Transition is a step of a Space. Its states are numbers of the Space.
type Transition struct {
	From, To int32
	Kind     protocol.Kind
}

// NewSpace visits every state of a world, and every step.
func NewSpace(model protocol.Config) *Space {
	s := &Space{model: model, states: map[string]int32{}, transitions: map[Transition]bool{}}
	initial := protocol.Initial(&s.model)
	seen := map[protocol.State]bool{initial: true}
	for queue := []protocol.State{initial}; len(queue) > 0; queue = queue[1:] {
		from := s.add(queue[0])
		protocol.Next(&s.model, queue[0], func(a protocol.Action, next protocol.State) {
			s.transitions[Transition{from, s.add(next), a.Kind}] = false
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		})
	}
	s.reached[s.add(initial)] = true
	return s
}

func (s *Space) add(state protocol.State) int32 {
	key := s.scratch.of(&state, s.model.Handlers, s.model.Reconciles)
	n, known := s.states[string(key)]
	if !known {
		n = int32(len(s.reached))
		s.states[string(key)] = n
		s.reached, s.example = append(s.reached, false), append(s.example, state)
	}
	return n
}

// Transit is an action that a run of a system took.
type Transit struct {
	From, To protocol.State
	Kind     protocol.Kind
}

// Visit notes an action of a run that was followed in a model of this
// configuration. An action between states that the world does not have is
// counted and left out.
func (s *Space) Visit(in *protocol.Config, t Transit) {
	a, known := s.states[string(s.scratch.of(&t.From, in.Handlers, in.Reconciles))]
	if !known {
		s.elsewhere++
		return
	}
	b, known := s.states[string(s.scratch.of(&t.To, in.Handlers, in.Reconciles))]
	if _, is := s.transitions[Transition{a, b, t.Kind}]; !known || !is {
		s.elsewhere++
		return
	}
	s.reached[a], s.reached[b] = true, true
	s.transitions[Transition{a, b, t.Kind}] = true
}

// Elsewhere is how many actions were between states that the world does not
// have: more runs at once, more messages, a later version.
func (s *Space) Elsewhere() int { return s.elsewhere }

// States returns how many states there are, and how many were reached.
func (s *Space) States() (all, reached int) {
	for _, r := range s.reached {
		if r {
			reached++
		}
	}
	return len(s.reached), reached
}

// Count is how many transitions an action has, and how many were taken.
type Count struct{ All, Taken int }

// Transitions returns how many there are of each action.
func (s *Space) Transitions() (of [protocol.KindCount]Count) {
	for t, taken := range s.transitions {
		of[t.Kind].All++
		if taken {
			of[t.Kind].Taken++
		}
	}
	return of
}

// Phase is when in the life of an operation a transition ends.
type Phase uint8

// The phases. How early the later ones can begin depends on a deployment's
// durations, of which the model has none: it lets every one of them begin at
// once.
const (
	PhaseFirst  Phase = iota // the window is open, and somebody may ask
	PhaseClosed              // the window is closed, and somebody may ask
	PhaseAlone               // nobody can ask
	PhaseCount
)

var phaseNames = [PhaseCount]string{"while the window is open", "once it is closed", "once nobody can ask"}

// String says when it is.
func (p Phase) String() string { return phaseNames[p] }

// Phases returns how many transitions there are in each phase.
func (s *Space) Phases() (of [PhaseCount]Count) {
	for t, taken := range s.transitions {
		to, p := s.example[t.To], PhaseFirst
		switch {
		case !to.Asking():
			p = PhaseAlone
		case to.Record().Window > protocol.WindowOpen:
			p = PhaseClosed
		}
		of[p].All++
		if taken {
			of[p].Taken++
		}
	}
	return of
}

// Missed returns the transitions that no run took, by action, then by their
// states in the order in which a search comes by them.
func (s *Space) Missed() []Transition {
	var all []Transition
	for t, taken := range s.transitions {
		if !taken {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Transition) int {
		switch {
		case a.Kind != b.Kind:
			return int(a.Kind) - int(b.Kind)
		case a.From != b.From:
			return int(a.From - b.From)
		default:
			return int(a.To - b.To)
		}
	})
	return all
}

// State returns a state of that number.
func (s *Space) State(number int32) protocol.State { return s.example[number] }

// Reached reports whether a run was in the state of that number.
func (s *Space) Reached(number int32) bool { return s.reached[number] }

// projection encodes states without what does not count in a Space.
type projection struct {
	key, other []byte
	runs       [][]byte
}

// of returns the encoding of a state; it is valid until the next call. Of the
// two ways to call the parameters P and Q it takes the one that comes first.
func (p *projection) of(s *protocol.State, handlers int, reconciles bool) []byte {
	p.key = p.encode(p.key[:0], s, handlers, reconciles, [...]byte{0, 1, 2, 3})
	p.other = p.encode(p.other[:0], s, handlers, reconciles, [...]byte{0, 2, 1, 3})
	if slices.Compare(p.other, p.key) < 0 {
		return p.other
	}
	return p.key
}

// names are what parameters are called.
type names [4]byte

func (p *projection) encode(k []byte, s *protocol.State, handlers int, reconciles bool, called names) []byte {
	rec, late, messages := s.Record(), s.Late(), s.Messages()
	p.runs = p.runs[:0]
	for h := protocol.Slot(1); h <= protocol.Slot(handlers); h++ {
		if s.Run(h).At != protocol.AtIdle {
			p.runs = append(p.runs, appendRun(nil, s, h, called))
		}
	}
	slices.SortFunc(p.runs, slices.Compare)
	k = append(k, byte(rec.State), rec.Version, byte(rec.Lease), byte(rec.Window), called[rec.Parameters], byte(rec.Reply.Says), rec.Reply.Charge)
	for _, r := range p.runs {
		k = append(append(k, byte(len(r))), r...)
	}
	k = append(k, 0xff)
	if sweeps := protocol.Slot(handlers + 1); reconciles && s.Run(sweeps).At != protocol.AtIdle {
		k = appendRun(k, s, sweeps, called)
	}
	k = appendOwned(append(k, 0xff), protocol.Gone, late, messages, called)
	for _, c := range s.Ledger() {
		k = append(k, c.Key, called[c.Parameters], flag(c.Known))
	}
	k = append(k, 0xff)
	k = append(k, s.Refused()...)
	k = append(k, 0xff)
	told := len(k)
	for _, t := range s.Told() {
		k = append(k, called[t.Parameters], byte(t.Reply.Says), t.Reply.Charge)
	}
	sortThrees(k[told:])
	return append(k, flag(s.Asking()))
}

// sortThrees sorts elements of three bytes.
func sortThrees(b []byte) {
	for i := 3; i < len(b); i += 3 {
		for j := i; j > 0 && slices.Compare(b[j:j+3], b[j-3:j]) < 0; j -= 3 {
			for n := range 3 {
				b[j+n], b[j-3+n] = b[j-3+n], b[j+n]
			}
		}
	}
}

// appendRun encodes what is in a slot, and what there is of that run elsewhere.
func appendRun(b []byte, s *protocol.State, h protocol.Slot, called names) []byte {
	r := s.Run(h)
	b = append(b, byte(r.At), byte(r.Step), called[r.Parameters], r.Version, byte(r.Answer.Says), r.Answer.Charge, flag(r.May), flag(s.Record().Owner == h))
	return appendOwned(b, h, s.Late(), s.Messages(), called)
}

// appendOwned encodes the late writes and the messages of a run, or of those
// that are over, in an order that does not depend on what it is called.
func appendOwned(b []byte, h protocol.Slot, late []protocol.Write, messages []protocol.Message, called names) []byte {
	var all [][]byte
	for _, w := range late {
		if w.Owner == h {
			all = append(all, []byte{1, byte(w.Step), w.Version, called[w.Parameters], byte(w.Reply.Says), w.Reply.Charge})
		}
	}
	for _, m := range messages {
		if m.By == h {
			all = append(all, []byte{2, m.Version, m.Key, flag(m.Copy), called[m.Parameters]})
		}
	}
	slices.SortFunc(all, slices.Compare)
	for _, one := range all {
		b = append(b, one...)
	}
	return b
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
