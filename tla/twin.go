package tla

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/model/explore"
)

// Twin is the model in Go of a module: the same actions, the same properties
// and the same constants under the same names, so that a search counts what
// TLC counts.
type Twin struct {
	Module string
	// Defects are the constants that break a rule or drop an assumption.
	Defects []Term
	// Properties are the module's invariants, action properties and what is
	// live. TypeOK is not among them: Go's types say it.
	Properties []Term
	// Situations must be reachable somewhere. A cfg file denies one under its
	// name, which begins with Never.
	Situations []Term
	// Symmetric says that a search may take one state for all that differ only
	// in which handler is which: [explore.Options.Symmetry]. It then counts
	// fewer than TLC, and refuses to judge what is live.
	Symmetric bool

	world func(Config) (World, error)
}

// Term is a name of a module and what it means, in a phrase or a sentence.
type Term struct{ Name, Doc string }

// Twins are all that there are.
func Twins() []Twin {
	return []Twin{chargeOnce.twin(), windowParts.twin(), retentionParts.twin(), compensateParts.twin()}
}

// TwinOf returns the twin of a module, and false if it has none.
func TwinOf(module string) (Twin, bool) {
	for _, t := range Twins() {
		if t.Module == module {
			return t, true
		}
	}
	return Twin{}, false
}

// World returns what the cfg file describes: the constants, and what is asked.
// It returns an error if the twin does not know a constant, its value or a
// property.
func (t Twin) World(c Config) (World, error) { return t.world(c) }

// Doc returns what a property says; empty if there is none of that name.
func (t Twin) Doc(property string) string {
	for _, p := range t.Properties {
		if p.Name == property {
			return p.Doc
		}
	}
	return ""
}

// World is a twin with constants.
type World interface {
	// Bounds says in a line how large it is.
	Bounds() string
	// Judged are the names of the properties that the cfg file asks about.
	Judged() []string
	// Explore searches, and returns the errors of [explore.Explore].
	Explore(context.Context, Question) (Found, error)

	// falls returns the length of the shortest counterexample, in states, to
	// each invariant and action property that falls.
	falls(context.Context) (map[string]int, error)
}

// Question is what is asked of a world.
type Question struct {
	Judge   []string // the properties, by name; some of Judged, or empty: all
	LookFor []string // situations, by name: whether they are reached
	Options explore.Options
}

// Found is an [explore.Result] whose states are told in words.
type Found struct {
	Verdict  explore.Verdict
	Property string  // violated: its name
	Trace    []Visit // violated: a shortest way to see it
	Loop     int     // the index in Trace from which it repeats for ever; -1: it does not
	Stopped  string  // incomplete: why

	Reached   []Reached // situations that were looked for
	Unreached []string  // the others; with Incomplete they may still be

	Distinct, Generated  uint64
	Depth                int
	Complete, Exact      bool
	CollisionProbability float64
	BytesPerState        float64
}

// Length is the number of actions in the trace.
func (f *Found) Length() int { return max(0, len(f.Trace)-1) }

// String tells the trace, an action with its state a line.
func (f *Found) String() string {
	var b strings.Builder
	for i, v := range f.Trace {
		fmt.Fprintf(&b, "%3d  %-24s %v\n", i+1, v.Action, v)
	}
	return b.String()
}

// Reached is a situation and the least number of actions to it.
type Reached struct {
	Name   string
	Length int
}

// Visit is a state of a trace and the action that led to it.
type Visit struct {
	Action string // empty for the first
	Facts  []Fact // what there is to say of the state, in a fixed order
}

// String tells the state in one line.
func (v Visit) String() string {
	var all []string
	for _, f := range v.Facts {
		all = append(all, f.Of+" "+f.Is)
	}
	return strings.Join(all, "; ")
}

// Fact is of what, and what is so. A state may have several of one thing.
type Fact struct{ Of, Is string }

// parts are what a twin is made of: C is the package's configuration and S its
// state.
type parts[C any, S comparable] struct {
	module     string
	defects    []Term
	set        func(c *C, constant, value string) error // as the cfg file writes it
	validate   func(*C) error
	initial    func(*C) []S
	next       func(c *C, steps []explore.Step[S], s S) []explore.Step[S]
	actionName func(explore.Action) string
	invariants []law[C, S]
	steps      []stepLaw[C, S]
	goals      []goal[C, S]
	situations []law[C, S]   // under the names of their denials
	canonical  func(*C, S) S // nil: nothing is interchangeable
	fairness   func(*C) []explore.Fairness
	bounds     func(*C) string
	facts      func(*C, S) []Fact
}

// law is something that a state shows or does not.
type law[C any, S comparable] struct {
	Name, Doc string
	Hold      func(*C, S) bool
}

// stepLaw is something that holds of every step.
type stepLaw[C any, S comparable] struct {
	Name, Doc string
	Hold      func(c *C, from, to S) bool
}

// goal is what every fair behaviour comes to; live makes the property of that
// name.
type goal[C any, S comparable] struct {
	Name, Doc string
	live      func(c *C, name string) explore.Property[S]
}

// each makes something of each.
func each[A, B any](all []A, make func(A) B) (made []B) {
	for _, a := range all {
		made = append(made, make(a))
	}
	return made
}

// one makes parts.initial of a package that has one state to begin with.
func one[C any, S comparable](initial func(*C) S) func(*C) []S {
	return func(c *C) []S { return []S{initial(c)} }
}

// coded is an action of a package below model.
type coded interface{ Code() uint16 }

// nextOf makes parts.next of a package's Next.
func nextOf[C any, S comparable, A coded](next func(*C, S, func(A, S))) func(*C, []explore.Step[S], S) []explore.Step[S] {
	return func(c *C, steps []explore.Step[S], s S) []explore.Step[S] {
		next(c, s, func(a A, to S) { steps = append(steps, explore.Step[S]{Action: explore.Action(a.Code()), Next: to}) })
		return steps
	}
}

// fairnessOf makes parts.fairness of the sets of actions that are weakly fair.
func fairnessOf[C any, A coded](fair func(*C) [][]A) func(*C) []explore.Fairness {
	return func(c *C) []explore.Fairness {
		return each(fair(c), func(set []A) explore.Fairness {
			return explore.Fairness{Strength: explore.Weak, Actions: each(set, func(a A) explore.Action { return explore.Action(a.Code()) })}
		})
	}
}

func (p *parts[C, S]) twin() Twin {
	t := Twin{Module: p.module, Defects: p.defects, Symmetric: p.canonical != nil, world: func(c Config) (World, error) { return p.world(c) }}
	for _, l := range p.invariants {
		t.Properties = append(t.Properties, Term{l.Name, l.Doc})
	}
	for _, l := range p.steps {
		t.Properties = append(t.Properties, Term{l.Name, l.Doc})
	}
	for _, g := range p.goals {
		t.Properties = append(t.Properties, Term{g.Name, g.Doc})
	}
	for _, l := range p.situations {
		t.Situations = append(t.Situations, Term{l.Name, l.Doc})
	}
	return t
}

// world is the World of a twin.
type world[C any, S comparable] struct {
	*parts[C, S]
	config *C
	judged []explore.Property[S]
	fair   bool
}

func (p *parts[C, S]) world(c Config) (*world[C, S], error) {
	w := &world[C, S]{parts: p, config: new(C), fair: c.Specification == "FairSpec"}
	for _, name := range c.Names {
		if err := p.set(w.config, name, c.Constants[name]); err != nil {
			return nil, err
		}
	}
	if err := p.validate(w.config); err != nil {
		return nil, err
	}
	for _, name := range append(c.Invariants[:len(c.Invariants):len(c.Invariants)], c.Properties...) {
		if name == "TypeOK" {
			continue
		}
		judged, ok := w.property(name)
		if !ok {
			return nil, fmt.Errorf("tla: the Go model of %s has no property %s", p.module, name)
		}
		w.judged = append(w.judged, judged)
	}
	return w, nil
}

// property returns what an INVARIANT line (an invariant, or the denial of a
// situation) or a PROPERTY line asks.
func (w *world[C, S]) property(name string) (explore.Property[S], bool) {
	for _, l := range w.invariants {
		if l.Name == name {
			return explore.Always(name, func(s S) bool { return l.Hold(w.config, s) }), true
		}
	}
	for _, l := range w.situations {
		if l.Name == name {
			return explore.Always(name, func(s S) bool { return !l.Hold(w.config, s) }), true
		}
	}
	for _, l := range w.steps {
		if l.Name == name {
			return w.step(l), true
		}
	}
	for _, g := range w.goals {
		if g.Name == name {
			return g.live(w.config, name), true
		}
	}
	return explore.Property[S]{}, false
}

func (w *world[C, S]) step(l stepLaw[C, S]) explore.Property[S] {
	return explore.AlwaysStep(l.Name, func(from S, _ explore.Action, to S) bool { return l.Hold(w.config, from, to) })
}

// Bounds is that of World.
func (w *world[C, S]) Bounds() string { return w.bounds(w.config) }

// Judged is that of World.
func (w *world[C, S]) Judged() (names []string) {
	for _, p := range w.judged {
		names = append(names, p.Name())
	}
	return names
}

func (w *world[C, S]) model() explore.Model[S] {
	m := explore.Model[S]{
		Initial:    func() []S { return w.initial(w.config) },
		Next:       func(steps []explore.Step[S], s S) []explore.Step[S] { return w.next(w.config, steps, s) },
		ActionName: w.actionName,
	}
	if w.canonical != nil {
		m.Canonical = func(s S) S { return w.canonical(w.config, s) }
	}
	if w.fair {
		m.Fairness = w.fairness(w.config)
	}
	return m
}

// Explore is that of World.
func (w *world[C, S]) Explore(ctx context.Context, q Question) (Found, error) {
	m := w.model()
	for _, p := range w.judged {
		if len(q.Judge) == 0 || slices.Contains(q.Judge, p.Name()) {
			m.Properties = append(m.Properties, p)
		}
	}
	for _, l := range w.situations {
		if slices.Contains(q.LookFor, l.Name) {
			m.Properties = append(m.Properties, explore.Sometimes(lookedFor(l.Name), func(s S) bool { return l.Hold(w.config, s) }))
		}
	}
	r, err := explore.Explore(ctx, m, q.Options)
	if err != nil {
		return Found{}, err
	}
	return w.found(&r), nil
}

// lookedFor is the name under which a situation is looked for, which differs
// from its denial's: a cfg file may ask that, too.
func lookedFor(situation string) string { return "reached " + situation }

func (w *world[C, S]) found(r *explore.Result[S]) Found {
	f := Found{
		Verdict: r.Verdict, Property: r.Property, Loop: r.Trace.Loop, Stopped: r.Stopped,
		Distinct: r.Distinct, Generated: r.Generated, Depth: r.Depth, Complete: r.Complete, Exact: r.Exact,
		CollisionProbability: r.CollisionProbability, BytesPerState: r.BytesPerState,
	}
	for i, v := range r.Trace.States {
		visit := Visit{Facts: w.facts(w.config, v.State)}
		if i > 0 {
			visit.Action = w.actionName(v.Action)
		}
		f.Trace = append(f.Trace, visit)
	}
	if r.Property == "" {
		f.Loop = -1
	}
	for _, l := range w.situations {
		for _, witness := range r.Witnesses {
			if witness.Property == lookedFor(l.Name) {
				f.Reached = append(f.Reached, Reached{l.Name, witness.Trace.Length()})
			}
		}
		if slices.Contains(r.Unmet, lookedFor(l.Name)) {
			f.Unreached = append(f.Unreached, l.Name)
		}
	}
	return f
}

func (w *world[C, S]) falls(ctx context.Context) (map[string]int, error) {
	m := w.model()
	for _, l := range w.invariants {
		m.Properties = append(m.Properties, explore.Sometimes(l.Name, func(s S) bool { return !l.Hold(w.config, s) }))
	}
	r, err := explore.Explore(ctx, m, explore.Options{})
	if err != nil {
		return nil, err
	}
	falls := make(map[string]int)
	for _, witness := range r.Witnesses {
		falls[witness.Property] = len(witness.Trace.States)
	}
	for _, l := range w.steps {
		m.Properties = []explore.Property[S]{w.step(l)}
		r, err := explore.Explore(ctx, m, explore.Options{})
		if err != nil {
			return nil, err
		}
		if r.Verdict == explore.Violated {
			falls[l.Name] = len(r.Trace.States)
		}
	}
	return falls, nil
}
