package explore

// Action is the label of a step: a small number that the model chooses, such
// as an action of the specification together with the process that takes it.
// [Model.ActionName] gives its name.
type Action uint16

// Start is the label of the first state of a trace, which no step led to. A
// model must not use it.
const Start Action = 1<<16 - 1

// Step is one way on from a state.
type Step[S comparable] struct {
	Action Action
	Next   S
}

// Model is a finite state machine. Its functions are called from several
// goroutines at once and must be pure: the same state gives the same steps in
// the same order.
//
// A state is plain memory: a number, or an array or struct of numbers and
// booleans, without pointers, strings, floats, blank fields and padding
// between the fields. Explore refuses other types. The smaller, the faster.
type Model[S comparable] struct {
	// Initial returns the states in which a behaviour may begin.
	Initial func() []S

	// Next appends to steps every step from s, and returns it. A step back
	// to s is a step like any other for the counts and for the deadlock
	// check, and nothing for all the rest.
	Next func(steps []Step[S], s S) []Step[S]

	// ActionName names a label. Nil: labels are shown as numbers.
	ActionName func(Action) string

	// Constraint bounds the search as a state constraint of TLC does: a
	// state where it is false counts as generated and is judged by Always,
	// but is neither distinct nor expanded. Nil: no bound.
	Constraint func(S) bool

	// Canonical returns the representative of the states that equal s but
	// for the names of interchangeable things. It is used if
	// [Options.Symmetry] asks for it. Initial, Next, Constraint and the
	// properties must not tell such states apart.
	Canonical func(S) S

	// Fairness is what behaviours may be relied on to do. It matters to
	// liveness properties only. At most 63 conditions.
	Fairness []Fairness

	// Properties are judged together, in one search. Their names differ.
	Properties []Property[S]
}

// Strength is how much of a chance an action needs before it must be taken.
type Strength uint8

const (
	// Weak: an action that is enabled for ever is taken in the end.
	Weak Strength = iota
	// Strong: an action that is enabled again and again is taken in the end.
	Strong
)

// Fairness is one fairness condition, WF or SF of TLA+: the actions are meant
// as one, so taking any of them satisfies it. As in TLA+, only a step that
// changes the state counts, both as enabled and as taken.
type Fairness struct {
	Strength Strength
	Actions  []Action
}

// Property is something to be judged. The functions of this package make them.
type Property[S comparable] struct {
	name     string
	kind     kind
	holds    func(S) bool            // always, sometimes
	step     func(S, Action, S) bool // always, of steps
	liveness liveness[S]
}

type kind uint8

const (
	kindNone kind = iota
	kindAlways
	kindAlwaysStep
	kindSometimes
	kindLiveness
)

// Name returns the name that the property was made with.
func (p Property[S]) Name() string { return p.name }

// Always is held if holds is true in every reachable state: an invariant.
func Always[S comparable](name string, holds func(S) bool) Property[S] {
	return Property[S]{name: name, kind: kindAlways, holds: holds}
}

// AlwaysStep is held if holds is true of every step that changes the state:
// the action property [][holds]_vars of TLA+.
func AlwaysStep[S comparable](name string, holds func(from S, a Action, to S) bool) Property[S] {
	return Property[S]{name: name, kind: kindAlwaysStep, step: holds}
}

// Sometimes is met if some reachable state shows it. A model in which
// something interesting never happens satisfies every Always: a search that
// met no state of a Sometimes is [Vacuous] and not [Held].
func Sometimes[S comparable](name string, shows func(S) bool) Property[S] {
	return Property[S]{name: name, kind: kindSometimes, holds: shows}
}

// liveness describes the lassos that violate a property: a path from an
// initial state to one where from is true, and on, never where avoid is true,
// into a fair cycle that has a state where visit is true.
type liveness[S comparable] struct {
	from  func(S) bool // nil: anywhere
	first bool         // from must be an initial state
	avoid func(S) bool // nil: nowhere
	visit func(S) bool // nil: any
}

// LeadsTo is held if in every fair behaviour each state where p is true is
// followed by, or is itself, one where q is true: p ~> q.
func LeadsTo[S comparable](name string, p, q func(S) bool) Property[S] {
	return Property[S]{name: name, kind: kindLiveness, liveness: liveness[S]{from: p, avoid: q}}
}

// Eventually is held if every fair behaviour has a state where q is true: <>q.
func Eventually[S comparable](name string, q func(S) bool) Property[S] {
	return Property[S]{name: name, kind: kindLiveness, liveness: liveness[S]{first: true, avoid: q}}
}

// InfinitelyOften is held if in every fair behaviour q is true again and
// again: []<>q.
func InfinitelyOften[S comparable](name string, q func(S) bool) Property[S] {
	return Property[S]{name: name, kind: kindLiveness, liveness: liveness[S]{avoid: q}}
}

// EventuallyForever is held if in every fair behaviour q is true from some
// state on: <>[]q.
func EventuallyForever[S comparable](name string, q func(S) bool) Property[S] {
	return Property[S]{name: name, kind: kindLiveness, liveness: liveness[S]{visit: func(s S) bool { return !q(s) }}}
}
