package search

import (
	"slices"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// OpenStore opens a registry for one worker, how to empty it, and how to
// close it.
type OpenStore func() (registry impl.Registry, empty func() error, shut func() error, err error)

// Subject is what a search is about: a design in a world.
type Subject struct {
	Design   impl.Design
	Scenario sim.Scenario
	Profile  provider.Profile
	Classes  [plan.ClassCount]bool
	Break    []impl.Assumption
}

// Plan returns the subject's plan with these choices.
func (s *Subject) Plan(weather uint64, deviations []plan.Deviation) *plan.Plan {
	p := &plan.Plan{
		Design: s.Design.Name, Scenario: s.Scenario.Name, Absent: slices.Clone(s.Scenario.Absent), Profile: s.Profile.Name, Break: s.Break,
		Weather: weather, Deviations: append([]plan.Deviation(nil), deviations...),
	}
	p.Sort()
	return p
}

// Selection names scenarios and provider profiles. An empty list stands for
// those of a design: the scenarios in which its defect shows, or all if it
// names none; the profiles that it is meant for, or the first of all.
type Selection struct {
	Scenarios []string
	Profiles  []string
}

// Worlds returns the subjects of a design: each of the profiles with each of
// the scenarios, in their order, with all faults that break no assumption but
// those which the design's deployment does not keep. The error is about a name
// that there is not.
func Worlds(d impl.Design, of Selection) (all []Subject, err error) {
	if len(of.Scenarios) == 0 {
		of.Scenarios = d.Scenarios
	}
	if len(of.Scenarios) == 0 {
		for _, s := range sim.Scenarios {
			of.Scenarios = append(of.Scenarios, s.Name)
		}
	}
	if len(of.Profiles) == 0 {
		of.Profiles = d.Profiles
	}
	if len(of.Profiles) == 0 {
		of.Profiles = []string{provider.Profiles[0].Name}
	}
	for _, p := range of.Profiles {
		profile, err := provider.ByName(p)
		if err != nil {
			return nil, err
		}
		for _, name := range of.Scenarios {
			scenario, err := sim.ScenarioByName(name)
			if err != nil {
				return nil, err
			}
			all = append(all, Subject{Design: d, Scenario: scenario, Profile: profile, Classes: sim.Within(d.Breaks...), Break: d.Breaks})
		}
	}
	return all, nil
}

// without is the subject with less of its scenario. Its error is one of
// [sim.Scenario.Without].
func (s Subject) without(parts ...plan.Part) (Subject, error) {
	var err error
	s.Scenario, err = s.Scenario.Without(parts...)
	return s, err
}

// arena is a world with its judge, used by one worker for one run after the
// other.
type arena struct {
	subject Subject
	cfg     sim.Config
	world   *sim.World
	header  history.Header
	checker *invariant.Checker
	linear  linearizability.Checker
	fixed   plan.Fixed
	events  []history.Event // when recording
	record  bool
	moves   *moves // for a learner; nil for the others

	// Where the design claims to follow the protocol:
	model      *refine.Checker // nil if it does not, or an assumption may break
	steps      history.Steps
	diverged   []invariant.Violation // of the last run: none or one
	held       bool                  // the last run was held against it
	divergence *refine.Divergence    // of the last run, nil if it refines the model
	unjudged   int                   // of the last run, see refine.Result
}

func newArena(s Subject, registry impl.Registry, empty func() error) (*arena, error) {
	cfg := sim.Config{
		Design: s.Design, Scenario: s.Scenario, Profile: s.Profile, Classes: s.Classes, Break: s.Break,
		Store: registry, Empty: empty,
	}
	w, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	h := w.Header()
	a := &arena{subject: s, cfg: cfg, world: w, header: h, checker: invariant.New(h)}
	if s.Design.Refines && len(s.Break) == 0 {
		a.model = refine.New(Refinement(&a.cfg))
	}
	return a, nil
}

// Event makes an arena the sink of its world.
func (a *arena) Event(e *history.Event) {
	a.checker.Event(e)
	if a.moves != nil {
		a.moves.Event(e)
	}
	if a.record {
		a.events = append(a.events, *e)
	}
}

// how says what a run is to keep.
type how struct {
	weather uint64
	record  bool // the history's events
	trace   bool // the lines of the trace
	skip    bool // the protocol model is not asked
	past    bool // what was seen of the run
}

// run makes one run and judges it by the invariants.
func (a *arena) run(c sim.Chooser, h how) *sim.Result {
	a.checker.Reset(a.header)
	a.events, a.record = a.events[:0], h.record
	if a.moves != nil {
		a.moves.reset()
	}
	a.diverged, a.divergence, a.unjudged, a.held = a.diverged[:0], nil, 0, false
	opt := sim.Options{Weather: h.weather, Sink: a, Trace: h.trace, Past: h.past}
	if a.model == nil || h.skip {
		return a.world.Run(c, opt)
	}
	opt.Steps = &a.steps
	res := a.world.Run(c, opt)
	if res.Finding == nil {
		a.hold()
	}
	return res
}

// draw makes the run that a source draws, and lets it learn from it unless
// the run counts for nothing.
func (a *arena) draw(s Source, seed, run uint64, h how) (*sim.Result, uint64) {
	h.weather = s.Reset(seed, run, sim.ServiceConfig(a.subject.Profile).MessageLifetime)
	learner, learns := s.(Learner)
	if learns && a.moves == nil {
		a.moves = newMoves()
	}
	res := a.run(s, h)
	if learns && !doubtful(res) {
		learner.Learn(&Experience{Weather: h.weather, Result: res, Moves: a.moves.made})
	}
	return res, h.weather
}

// doubtful reports whether a run must be made again in a fresh world: a
// goroutine began, and nobody knows yet whose it is.
func doubtful(res *sim.Result) bool {
	return res.Finding != nil && res.Finding.Kind == sim.GoroutineFinding
}

// replay makes the run of a list of deviations, again in a fresh world while
// it is doubtful.
func (a *arena) replay(weather uint64, deviations []plan.Deviation, h how) *sim.Result {
	h.weather = weather
	for try := 1; ; try++ {
		a.fixed.Reset(deviations)
		res := a.run(&a.fixed, h)
		if !doubtful(res) || try == goroutineTries {
			return res
		}
		w, err := sim.New(a.cfg)
		if err != nil {
			return res
		}
		a.world = w
	}
}

// Gravity is the order in which violations are told: money and what people
// are told of it first.
var Gravity = []invariant.Name{
	invariant.SingleCharge, invariant.BoundedRefunds, invariant.FingerprintBound, invariant.ScopeIsolation,
	invariant.TruthfulReply, invariant.StableReply, invariant.Linearizable, invariant.SafeRetention, invariant.TerminalIsFinal,
	invariant.WindowGuarded, invariant.StableProviderKey, invariant.FencedWrites, invariant.SentJournaled, invariant.Refines,
	invariant.NotWedged, invariant.Resolves,
}

// worst returns the gravest violation of the last run, nil if there is none.
func (a *arena) worst() *invariant.Violation {
	if len(a.violations()) == 0 {
		return nil
	}
	for _, name := range Gravity {
		if v := a.violation(name); v != nil {
			return v
		}
	}
	return nil
}

// violation returns the last run's violation of an invariant, nil if it holds.
func (a *arena) violation(name invariant.Name) *invariant.Violation {
	all := a.violations()
	for i := range all {
		if all[i].Invariant == name {
			return &all[i]
		}
	}
	return nil
}

// broke reports whether the last run violated an invariant.
func (a *arena) broke(name invariant.Name) bool { return a.violation(name) != nil }
