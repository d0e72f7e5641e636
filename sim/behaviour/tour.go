package behaviour

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// Report is what came of all transitions of a world.
type Report struct {
	States      int // that the model reaches
	Transitions int // between them
	Played      int // the code does what the model does
	Idle        int // only time goes on, or a message is lost: the code is not asked
	// Impossible counts by reasons what no clocks within the assumptions lead
	// to. The reasons contradict each other, for a deployment in which the
	// fewest do.
	Impossible map[string]int
	Beyond     int // begin in states that are reached by what is impossible
}

// String returns the numbers, one a line.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d states, %d transitions\n", r.States, r.Transitions)
	fmt.Fprintf(&b, "%6d played\n%6d idle\n", r.Played, r.Idle)
	reasons := slices.SortedFunc(maps.Keys(r.Impossible), func(a, b string) int {
		return cmp.Or(r.Impossible[b]-r.Impossible[a], strings.Compare(a, b))
	})
	for _, why := range reasons {
		fmt.Fprintf(&b, "%6d impossible: %s\n", r.Impossible[why], why)
	}
	fmt.Fprintf(&b, "%6d beyond\n", r.Beyond)
	return b.String()
}

// node is a state of the model, and how it is reached.
type node struct {
	state protocol.State
	from  int // the node before it, or none
	by    protocol.Action
	steps int
}

// tour visits all states of a world.
type tour struct {
	world  *World
	stage  *stage
	report Report
	nodes  []node // reached by behaviours that the code follows, in their order
	known  map[protocol.State]bool
	beyond []protocol.State // reached otherwise
}

// Tour plays every transition of the model's world on the code, each after a
// shortest behaviour that leads to its state. It returns a [*Divergence] where
// the code does not follow, with what was counted before, and [ErrWorld] for a
// world that cannot be visited.
func Tour(w World) (Report, error) {
	if err := w.Validate(); err != nil {
		return Report{}, err
	}
	return w.visit(w.deployments())
}

// visit tours the world in these deployments.
func (w *World) visit(offers []impl.Config) (Report, error) {
	t, err := newTour(w, offers)
	if err != nil {
		return Report{}, err
	}
	if err := t.visitAll(); err != nil {
		return t.report, err
	}
	t.countBeyond()
	return t.report, nil
}

func newTour(w *World, offers []impl.Config) (*tour, error) {
	s, err := newStage(w, offers)
	if err != nil {
		return nil, err
	}
	begin := node{state: protocol.Initial(&w.Model), from: none}
	return &tour{
		world: w, stage: s, report: Report{Impossible: map[string]int{}},
		nodes: []node{begin}, known: map[protocol.State]bool{begin.state: true},
	}, nil
}

// visitAll plays all transitions, in the order in which they are reached.
func (t *tour) visitAll() (err error) {
	for i := 0; i < len(t.nodes) && err == nil; i++ {
		protocol.Next(&t.world.Model, t.nodes[i].state, func(a protocol.Action, to protocol.State) {
			if err == nil {
				err = t.visit(node{to, i, a, t.nodes[i].steps + 1})
			}
		})
	}
	return err
}

// visit plays one transition, as late and as early as can be: so that clocks
// come as close to every bound as they may, from both sides.
func (t *tour) visit(n node) error {
	t.report.Transitions++
	all := t.script(n)
	why, ok := t.stage.schedule.find(all)
	if why == otherFacts {
		return &Divergence{all.String(), why.String()}
	}
	if !ok {
		t.report.Impossible[why.String()]++
		t.beyond = append(t.beyond, n.state)
		return nil
	}
	for _, e := range []end{latest, earliest} {
		t.stage.schedule.solve(e)
		if err := t.stage.play(all, e); err != nil {
			return err
		}
	}
	if idle(n.by.Kind) {
		t.report.Idle++
	} else {
		t.report.Played++
	}
	if !t.known[n.state] {
		t.known[n.state] = true
		t.nodes = append(t.nodes, n)
	}
	return nil
}

// countBeyond counts what begins in states that the code was not led to.
func (t *tour) countBeyond() {
	t.report.States = len(t.nodes)
	for i := 0; i < len(t.beyond); i++ {
		s := t.beyond[i]
		if t.known[s] {
			continue
		}
		t.known[s] = true
		t.report.States++
		protocol.Next(&t.world.Model, s, func(_ protocol.Action, to protocol.State) {
			t.report.Transitions++
			t.report.Beyond++
			t.beyond = append(t.beyond, to)
		})
	}
}

// script is the behaviour that ends with a node.
func (t *tour) script(last node) script {
	all := make(script, last.steps)
	for n := last; n.from != none; n = t.nodes[n.from] {
		s := &all[n.steps-1]
		s.Action, s.from, s.to, s.slot = n.by, t.nodes[n.from].state, n.state, n.by.Slot
		if s.Kind == protocol.Sweep {
			s.slot = t.world.reconciler()
		}
	}
	c := cast{slots: map[protocol.Slot]int{}}
	for i := range all {
		c.identify(&all[i])
	}
	return all
}

// idle reports whether nothing is asked of the code in an action: a fact comes
// true, or something happens under way.
func idle(k protocol.Kind) bool {
	switch k {
	case protocol.Lose, protocol.Duplicate, protocol.LeaseEnds, protocol.LeaseEndsEarly, protocol.SendsDie,
		protocol.WindowCloses, protocol.Forget, protocol.HorizonEnds:
		return true
	default:
		return false
	}
}
