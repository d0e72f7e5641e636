package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Strategy is a way to write plans at random.
type Strategy struct {
	Name string
	Doc  string // one line: what it draws
	New  func() Source
}

// Source writes the plans of one run after the other: between two calls of
// Reset its choices are one run's plan. The plan must follow from the values
// given to Reset, from the sites that the run comes by and, for a Learner,
// from what it learned before; from nothing else.
type Source interface {
	sim.Chooser
	// Reset draws a run of a campaign from its seed and the run's number, and
	// returns its weather. The lifetime is MessageLifetime.
	Reset(seed, run uint64, lifetime time.Duration) (weather uint64)
}

// Learner is a source whose later plans depend on what earlier runs met, so
// that its runs are not independent draws. It learns of one subject, within a
// lineage of lineageSize runs of the campaign, which one worker makes from
// the first to the last: what it learns does not depend on the number of
// workers.
type Learner interface {
	Source
	// Learn is told what the run of the last Reset came to. It keeps nothing
	// of it but copies.
	Learn(*Experience)
}

// Experience is what a run met.
type Experience struct {
	Weather uint64
	Result  *sim.Result
	Moves   []uint64 // the protocol's moves that the run made, each once
}

// seedOf is what a run is drawn from.
func seedOf(seed, run uint64) uint64 { return plan.Mix(plan.Mix(seed) ^ run) }

// Strategies lists the strategies, the default first.
var Strategies = []Strategy{
	{"swarm", "each run draws which faults are on, how many there are, and which processes and links are slow", func() Source { return &Swarm{} }},
	{"uniform", "each site has the same chance, each thing that it offers too", func() Source { return &Uniform{} }},
	{"pct", "latency ranks of processes and links, with faults and new ranks at 2 to 5 points of the run", func() Source { return &PCT{} }},
	{"guided", "swarm, and changes of the plans that met a new situation or a new move of the protocol", func() Source { return NewGuided() }},
	{"bytes", "what go test -fuzz FuzzPlan writes, before it has learned anything", func() Source { return &randomScript{} }},
}

// StrategyByName returns a strategy; the error lists the names.
func StrategyByName(name string) (Strategy, error) {
	i := slices.IndexFunc(Strategies, func(s Strategy) bool { return s.Name == name })
	if i >= 0 {
		return Strategies[i], nil
	}
	var names []string
	for _, s := range Strategies {
		names = append(names, s.Name)
	}
	return Strategy{}, fmt.Errorf("no strategy is called %q; the strategies are %s", name, strings.Join(names, ", "))
}

// Independent reports whether the runs of a strategy are independent draws.
func (s *Strategy) Independent() bool {
	_, learns := s.New().(Learner)
	return !learns
}

// stream is a sequence of random words.
type stream uint64

func (s *stream) word() uint64 {
	*s = stream(plan.Mix(uint64(*s)))
	return uint64(*s)
}

// below draws from 0 to n-1.
func (s *stream) below(n uint64) uint64 { return s.word() % n }

// weather draws fixed delays for half of the runs and random ones for the
// other half.
func (s *stream) weather() uint64 {
	if s.word()&1 == 0 {
		return 0
	}
	return s.word() | 1
}

// pick draws one of the menu's choices whose classes are on, each with the
// same chance: a class that can go wrong in more ways is drawn more often. A
// class that breaks an assumption, which somebody asked for, is drawn in half
// of the cases. It returns the benign choice if no class is on.
func pick(menu []plan.Choice, on *[plan.ClassCount]bool, l lengths, h uint64) plan.Choice {
	h = plan.Mix(h)
	if last := menu[len(menu)-1].Class; last.Breaks() != "" && on[last] && h>>32&1 == 0 {
		for menu[0].Class != last { // what breaks an assumption stands last
			menu = menu[1:]
		}
	}
	n := uint64(0)
	for i := range menu {
		if on[menu[i].Class] {
			n++
		}
	}
	if n == 0 {
		return plan.Choice{}
	}
	h = plan.Mix(h)
	at := h % n
	for i := range menu {
		if !on[menu[i].Class] {
			continue
		}
		if at == 0 {
			return l.complete(menu[i], h)
		}
		at--
	}
	return plan.Choice{}
}

// everyClass switches all classes on, for pick.
var everyClass = func() (on [plan.ClassCount]bool) {
	for c := range on {
		on[c] = true
	}
	return on
}()

// lengths draws how long a message is held; it is the longest, MessageLifetime.
type lengths time.Duration

// complete gives a hold by a duration its duration.
func (l lengths) complete(c plan.Choice, h uint64) plan.Choice {
	if c.Bound == plan.BoundBy {
		c.By = l.draw(plan.Mix(h))
	}
	return c
}

// draw draws log-uniformly from 1 ms to the longest, in 16 steps an octave,
// by integers alone so that every machine draws the same.
func (l lengths) draw(h uint64) time.Duration {
	octaves := uint64(1)
	for d := time.Millisecond; d*2 <= time.Duration(l); d *= 2 {
		octaves++
	}
	d := time.Millisecond << (h % octaves)
	return min(d+d*time.Duration(h>>32%16)/16, time.Duration(l))
}

// holdBy returns the menu's hold by a duration, without one yet. It stands
// near the front.
func holdBy(menu []plan.Choice) (c plan.Choice, ok bool) {
	for i := range menu {
		if menu[i].Bound == plan.BoundBy {
			return menu[i], true
		}
		if menu[i].Class > plan.ClassHold {
			break
		}
	}
	return c, false
}
