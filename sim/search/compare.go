package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/kernel"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// CompareOptions say what strategies are compared on.
type CompareOptions struct {
	Designs    []impl.Design // each is expected to break an invariant
	Strategies []Strategy
	// Worlds returns the subjects of a design: run i of a trial takes subject i
	// modulo their number.
	Worlds  func(impl.Design) ([]Subject, error)
	Trials  int // for each design and strategy, each from a seed of its own
	Runs    int // of a trial at most
	Seed    uint64
	Workers int // trials at a time; 0: one for each processor
	Open    OpenStore
	// Progress is called after each trial, by one goroutine at a time; may be
	// nil.
	Progress func(Trials)
}

// Trials is how far a comparison is.
type Trials struct {
	Done, Of int
	Elapsed  time.Duration // wall time
}

// Score says how soon a strategy breaks a design. Schedules are counted until
// the first that violates the invariant which the design is expected to
// break; other invariants do not count.
type Score struct {
	Design, Strategy string
	Invariant        invariant.Name
	Trials           int
	Misses           int   // trials in which no schedule did
	First            []int // by trial: the number of the first schedule that did, from 1; 0 for a miss
}

// Quantile returns how many schedules are enough in that share of the trials,
// the misses among them; ok is false if the bound on schedules was not enough.
func (s *Score) Quantile(share float64) (schedules int, ok bool) {
	hits := slices.DeleteFunc(slices.Clone(s.First), func(n int) bool { return n == 0 })
	slices.Sort(hits)
	i := int(math.Ceil(share*float64(len(s.First)))) - 1
	if i = max(i, 0); i >= len(hits) {
		return 0, false
	}
	return hits[i], true
}

// Total is a strategy over all designs.
type Total struct {
	Strategy string
	Trials   int
	Misses   int
	// Mean is the geometric mean of the schedules to the first violation over
	// all trials, a miss counted as if the last schedule had been it: too low
	// for a strategy that misses. Each design has the same weight, however
	// hard it is to break.
	Mean float64
}

// Totals adds scores up, the best strategy first: the one with the fewest
// misses, and of equal ones the one with the lowest mean.
func Totals(scores []Score, runs int) (all []Total) {
	for _, s := range scores {
		i := slices.IndexFunc(all, func(t Total) bool { return t.Strategy == s.Strategy })
		if i < 0 {
			i = len(all)
			all = append(all, Total{Strategy: s.Strategy})
		}
		t := &all[i]
		t.Trials += s.Trials
		t.Misses += s.Misses
		for _, n := range s.First {
			if n == 0 {
				n = runs
			}
			t.Mean += math.Log(float64(n)) // exponentiated below
		}
	}
	for i := range all {
		all[i].Mean = math.Exp(all[i].Mean / float64(all[i].Trials))
	}
	slices.SortStableFunc(all, func(a, b Total) int {
		return cmp.Or(cmp.Compare(a.Misses, b.Misses), cmp.Compare(a.Mean, b.Mean))
	})
	return all
}

// Compare measures strategies: how many schedules each takes to break each
// design. It calls each with the scores of a design, one for each strategy in
// their order, design after design. It returns the context's error if that
// ends first, and a *sim.Finding if code under test breaks the rules of the
// simulator. The scores depend on the options alone, not on the number of
// workers.
func Compare(ctx context.Context, opt CompareOptions, each func([]Score) error) error {
	if opt.Trials < 1 || opt.Runs < 1 {
		return errors.New("search: want at least one trial of at least one run")
	}
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	began := time.Now()
	done, of := 0, len(opt.Designs)*len(opt.Strategies)*opt.Trials
	for i := range opt.Designs {
		m := &match{opt: &opt, progress: func() {
			if done++; opt.Progress != nil {
				opt.Progress(Trials{Done: done, Of: of, Elapsed: time.Since(began)})
			}
		}}
		scores, err := m.play(ctx, opt.Designs[i])
		if err != nil {
			return err
		}
		if err := each(scores); err != nil {
			return err
		}
	}
	return nil
}

// match is all strategies against one design.
type match struct {
	opt      *CompareOptions
	progress func()
	subjects []Subject
	target   invariant.Name
	mu       sync.Mutex // guards next, scores, failed and progress
	next     int        // trial, of all strategies
	scores   []Score
	failed   error
}

func (m *match) play(ctx context.Context, d impl.Design) (scores []Score, err error) {
	if m.target, err = invariant.Parse(d.Expect); err != nil {
		return nil, fmt.Errorf("search: the design %s is expected to break nothing: %w", d.Name, err)
	}
	if m.subjects, err = m.opt.Worlds(d); err != nil {
		return nil, err
	}
	for _, s := range m.opt.Strategies {
		m.scores = append(m.scores, Score{
			Design: d.Name, Strategy: s.Name, Invariant: m.target, Trials: m.opt.Trials, First: make([]int, m.opt.Trials),
		})
	}
	var crew sync.WaitGroup
	errs := make([]error, min(m.opt.Workers, len(m.scores)*m.opt.Trials))
	for i := range errs {
		kernel.Elsewhere(func() { crew.Go(func() { errs[i] = m.work(ctx) }) })
	}
	crew.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i := range m.scores {
		for _, n := range m.scores[i].First {
			if n == 0 {
				m.scores[i].Misses++
			}
		}
	}
	return m.scores, nil
}

// take returns the next trial and the strategy that makes it; ok is false if
// there is none.
func (m *match) take() (strategy, trial int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed != nil || m.next == len(m.scores)*m.opt.Trials {
		return 0, 0, false
	}
	m.next++
	return (m.next - 1) / m.opt.Trials, (m.next - 1) % m.opt.Trials, true
}

// work makes trials until there are no more.
func (m *match) work(ctx context.Context) error {
	registry, empty, shut, err := m.opt.Open()
	if err != nil {
		return err
	}
	defer shut()
	t := &trial{match: m, crew: make([]*arena, len(m.subjects)), sources: make([]Source, len(m.subjects))}
	defer t.close()
	t.fresh = func(at int) (err error) {
		t.crew[at], err = newArena(m.subjects[at], registry, empty)
		return err
	}
	for {
		strategy, number, ok := m.take()
		if !ok {
			return nil
		}
		first, err := t.run(ctx, &m.opt.Strategies[strategy], plan.Mix(plan.Mix(m.opt.Seed)^uint64(number)))
		m.mu.Lock()
		if err != nil {
			m.failed = err
			m.mu.Unlock()
			return err
		}
		m.scores[strategy].First[number] = first
		m.progress()
		m.mu.Unlock()
	}
}

// trial is what a worker needs to make one trial after the other.
type trial struct {
	*match
	crew    []*arena
	sources []Source
	fresh   func(at int) error // makes an arena anew
}

func (t *trial) close() {
	for _, a := range t.crew {
		if a != nil {
			a.world.Close()
		}
	}
}

// run makes runs until the target falls, and returns the number of the run in
// which it does, 0 if it never does.
func (t *trial) run(ctx context.Context, s *Strategy, seed uint64) (first int, err error) {
	for i := range t.sources {
		t.sources[i] = s.New()
	}
	for i := range t.opt.Runs {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		fell, err := t.one(i, seed)
		if err != nil {
			return 0, err
		}
		if fell {
			return i + 1, nil
		}
	}
	return 0, nil
}

// one makes run i of a trial and reports whether the target fell.
func (t *trial) one(i int, seed uint64) (fell bool, err error) {
	at := i % len(t.subjects)
	for try := 1; ; try++ {
		if t.crew[at] == nil || try > 1 {
			if err := t.fresh(at); err != nil {
				return false, err
			}
		}
		res, _ := t.crew[at].draw(t.sources[at], seed, uint64(i), how{})
		if res.Finding == nil {
			return t.crew[at].broke(t.target), nil
		}
		if !doubtful(res) || try == goroutineTries {
			return false, fmt.Errorf("the design %s: %w", t.subjects[at].Design.Name, res.Finding)
		}
	}
}
