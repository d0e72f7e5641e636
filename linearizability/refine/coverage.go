package refine

import (
	"slices"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// Space is everything that a world of the model can do, and what of it runs of
// the system did. Two states of it are one if they have the same outline
// ([protocol.Outline]): the world is small and counts attempts and faults, and a
// run of the system has more of both.
type Space struct {
	model       protocol.Config
	states      map[protocol.State]int32 // by outline
	reached     []bool                   // of each state
	transitions map[Transition]bool
	example     []protocol.State // of each state
	elsewhere   int
}

// Transition is a step of a Space. Its states are numbers of the Space.
type Transition struct {
	From, To int32
	Kind     protocol.Kind
}

// NewSpace visits every state of a world, and every step.
func NewSpace(model protocol.Config) *Space {
	s := &Space{model: model, states: map[protocol.State]int32{}, transitions: map[Transition]bool{}}
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
	outline := protocol.Outline(&s.model, state)
	n, known := s.states[outline]
	if !known {
		n = int32(len(s.reached))
		s.states[outline] = n
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
	a, known := s.states[protocol.Outline(in, t.From)]
	if !known {
		s.elsewhere++
		return
	}
	b, known := s.states[protocol.Outline(in, t.To)]
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
