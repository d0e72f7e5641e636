package search

import (
	"time"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Guided keeps the plans that met a situation, or made a move of the
// protocol, which none before them did, and changes them: it drops, replaces
// and adds choices, or joins two plans. Every other run is a swarm's. Its
// runs are not independent: no estimate that takes independent draws is due.
type Guided struct {
	swarm  Swarm
	corpus []kept
	seen   map[uint64]bool // moves and situations

	seed      uint64
	lengths   lengths
	fresh     bool // this run is the swarm's
	base      []plan.Deviation
	add       uint32 // a site without a choice gets one if its hash is below
	replace   uint64 // one choice in so many is replaced; 0 is none
	situation [sim.SituationCount]bool
}

// kept is a plan of the corpus.
type kept struct {
	weather    uint64
	deviations []plan.Deviation
}

// lineageSize is how many runs of a campaign a learner learns from before
// another begins with nothing.
const lineageSize = 4096

// NewGuided returns a source that has learned nothing.
func NewGuided() *Guided { return &Guided{seen: map[uint64]bool{}} }

// Reset draws a run.
func (g *Guided) Reset(seed, run uint64, lifetime time.Duration) (weather uint64) {
	weather = g.swarm.Reset(seed, run, lifetime)
	g.seed, g.lengths = plan.Mix(seedOf(seed, run)^1), lengths(lifetime)
	next := stream(g.seed)
	if g.fresh = len(g.corpus) == 0 || next.below(2) == 0; g.fresh {
		return weather
	}
	one := g.draw(&next)
	g.base = append(g.base[:0], one.deviations...)
	g.add, g.replace = perRun(1), 0
	switch next.below(4) {
	case 0: // fewer
		for i := len(g.base) - 1; i >= 0; i-- {
			if next.below(4) == 0 {
				g.base = append(g.base[:i], g.base[i+1:]...)
			}
		}
	case 1: // others
		g.replace = 3
	case 2: // those of two
		other := g.draw(&next)
		for _, d := range other.deviations {
			if next.below(2) == 0 {
				g.base = append(g.base, d)
			}
		}
		g.add = 0
	case 3: // more
		g.add = perRun(2)
	}
	return one.weather
}

// draw takes a plan of the corpus, a late one rather than an early one: what
// it met is rarer.
func (g *Guided) draw(next *stream) *kept {
	n := uint64(len(g.corpus))
	return &g.corpus[max(next.below(n), next.below(n))]
}

// Choose returns the site's choice.
func (g *Guided) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	if g.fresh {
		return g.swarm.Choose(site, menu)
	}
	h := plan.Mix(g.seed ^ plan.Mix(uint64(site)))
	for i := range g.base {
		if g.base[i].Site != site {
			continue
		}
		if g.replace > 0 && h%g.replace == 0 {
			return pick(menu, &everyClass, g.lengths, h)
		}
		return g.base[i].Choice
	}
	if uint32(h) < g.add {
		return pick(menu, &everyClass, g.lengths, h)
	}
	return plan.Choice{}
}

// Learn keeps the plan of the run if the run met something new.
func (g *Guided) Learn(e *Experience) {
	news := false
	for s, n := range e.Result.Situations {
		if n > 0 && !g.situation[s] {
			g.situation[s], news = true, true
		}
	}
	for _, m := range e.Moves {
		if !g.seen[m] {
			g.seen[m], news = true, true
		}
	}
	if news {
		g.corpus = append(g.corpus, kept{e.Weather, append([]plan.Deviation(nil), e.Result.Deviations...)})
	}
}
