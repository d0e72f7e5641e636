package search

import (
	"math"
	"time"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Swarm is random choice in the manner of swarm testing (Groce and others,
// 2012): each run draws which fault classes are on and how much goes wrong at
// all, so that runs differ in kind and not only in detail. Its choice at a
// site is a hash of the run's seed and the site.
type Swarm struct {
	seed      uint64
	threshold uint32 // a site deviates if its hash is below
	on        [plan.ClassCount]bool
	lifetime  time.Duration
}

// sitesPerRun is about how many questions a small run asks: with it a drawn
// number of faults becomes a probability.
const sitesPerRun = 60

// Reset draws a run's swarm and returns the run's weather.
func (s *Swarm) Reset(seed, run uint64, lifetime time.Duration) (weather uint64) {
	s.seed = plan.Mix(plan.Mix(seed) ^ run)
	s.lifetime = lifetime
	draw := s.seed
	next := func() uint64 { draw = plan.Mix(draw); return draw }
	faults := []float64{0.5, 1, 2, 3, 5, 8}[next()%6]
	s.threshold = uint32(faults / sitesPerRun * math.MaxUint32)
	// One class in eight, in four, in two, or all; those that break an
	// assumption, which somebody asked for, always.
	one := uint64(1) << (next() % 4)
	for c := range s.on {
		s.on[c] = next()%one == 0 || plan.Class(c).Breaks() != ""
	}
	if next()&1 == 0 {
		return 0
	}
	return next() | 1
}

// Choose returns the site's choice.
func (s *Swarm) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	h := plan.Mix(s.seed ^ plan.Mix(uint64(site)))
	if uint32(h) >= s.threshold {
		return plan.Choice{}
	}
	h = plan.Mix(h)
	var starts [plan.ClassCount]int // where the menu's classes that are on begin
	classes, last := 0, plan.ClassNone
	for i := range menu {
		if c := menu[i].Class; c != last {
			last = c
			if s.on[c] {
				starts[classes] = i
				classes++
			}
		}
	}
	if classes == 0 {
		return plan.Choice{}
	}
	first := starts[h%uint64(classes)]
	if last.Breaks() != "" && s.on[last] && h>>32&1 == 0 {
		first = starts[classes-1] // what breaks an assumption stands last
	}
	h = plan.Mix(h)
	n := 1
	for first+n < len(menu) && menu[first+n].Class == menu[first].Class {
		n++
	}
	choice := menu[first+int(h%uint64(n))]
	if choice.Bound == plan.BoundBy {
		choice.By = s.duration(plan.Mix(h))
	}
	return choice
}

// duration draws log-uniformly from 1 ms to the lifetime, in 16 steps an
// octave, by integers alone so that every machine draws the same.
func (s *Swarm) duration(h uint64) time.Duration {
	octaves := uint64(1)
	for d := time.Millisecond; d*2 <= s.lifetime; d *= 2 {
		octaves++
	}
	d := time.Millisecond << (h % octaves)
	return min(d+d*time.Duration(h>>32%16)/16, s.lifetime)
}
