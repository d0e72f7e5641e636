package explore

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// ErrModel is returned when a model or its options cannot be searched: a
// function is missing, a state is not plain memory, symmetry is asked for
// together with liveness. The text says which.
var ErrModel = errors.New("explore: unusable model")

// ErrImpure is returned when the model gave other steps for a state than it
// gave before.
var ErrImpure = errors.New("explore: the model is not a function of the state")

// Options say how to search. The zero value is ready to use.
type Options struct {
	// Workers is how many goroutines search. 0: as many as GOMAXPROCS. The
	// result does not depend on it.
	Workers int

	// Exact keeps every state and compares states instead of fingerprints.
	// It costs the size of a state and 8 bytes for each state. Liveness
	// properties imply it.
	Exact bool

	// Symmetry searches representatives only ([Model.Canonical]). Distinct
	// then counts representatives. It is refused together with liveness
	// properties, which it does not preserve: a cycle of representatives
	// need not be a cycle of states.
	Symmetry bool

	// Deadlock makes a state without any step a violation of the property
	// named [Deadlock].
	Deadlock bool

	// MaxBytes bounds the set of states, the states that wait and the graph;
	// the search stops before it would pass it. The buffers of one round (a
	// few MB) may come on top, and Go's collector may keep garbage beside
	// it. 0: no bound.
	MaxBytes uint64

	// Progress, if not nil, is called now and then between rounds, by the
	// goroutine that called Explore.
	Progress func(Progress)

	// ProgressEvery is the least time between two calls of Progress. 0: one
	// second.
	ProgressEvery time.Duration
}

// Deadlock is the name under which a state without steps is reported.
const Deadlock = "deadlock"

// Progress is how far a search is. Elapsed and Rate are wall time: for eyes
// only.
type Progress struct {
	Depth     int // as in Result
	Distinct  uint64
	Generated uint64
	Queue     uint64 // states found and not yet expanded
	Elapsed   time.Duration
	Rate      float64 // distinct states a second since the last call
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// check reports everything that is wrong with the model and the options.
func check[S comparable](m *Model[S], o Options) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if m.Initial == nil {
		refuse("Initial is nil")
	}
	if m.Next == nil {
		refuse("Next is nil")
	}
	if problem := plainMemory[S](); problem != "" {
		refuse("%s", problem)
	}
	if o.Workers < 0 {
		refuse("Workers is %d", o.Workers)
	}
	if o.Symmetry && m.Canonical == nil {
		refuse("Symmetry needs Canonical")
	}
	if len(m.Fairness) > maxFairness {
		refuse("%d fairness conditions, at most %d", len(m.Fairness), maxFairness)
	}
	for i, f := range m.Fairness {
		if f.Strength > Strong || len(f.Actions) == 0 {
			refuse("fairness condition %d has no actions or no known strength", i)
		}
	}
	names := map[string]bool{Deadlock: true}
	for i, p := range m.Properties {
		if p.kind == kindNone || names[p.name] || p.name == "" {
			refuse("property %d (%q) has no kind, no name or another's name", i, p.name)
		}
		names[p.name] = true
		if p.kind == kindLiveness && o.Symmetry {
			refuse("property %q is a liveness property, which symmetry does not preserve", p.name)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrModel, errors.Join(errs...))
}
