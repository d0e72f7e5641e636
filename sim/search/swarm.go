package search

import (
	"math"
	"time"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Swarm is random choice in the manner of swarm testing (Groce and others,
// 2012): each run draws which fault classes are on and how much goes wrong at
// all, so that runs differ in kind and not only in detail. In a quarter of the
// runs some processes and links are slow throughout, each by a time of its
// own. A choice is a hash of the run's seed and the site.
type Swarm struct {
	seed      uint64
	threshold uint32 // a site deviates if its hash is below
	on        [plan.ClassCount]bool
	slow      slowness
	lengths   lengths
}

// sitesPerRun is about how many questions a small run asks: with it a drawn
// number of faults becomes a probability.
const sitesPerRun = 60

// perRun turns how many faults a run is to have into a threshold for the hash
// of a site.
func perRun(faults float64) uint32 { return uint32(faults / sitesPerRun * math.MaxUint32) }

// Reset draws a run's swarm.
func (s *Swarm) Reset(seed, run uint64, lifetime time.Duration) (weather uint64) {
	s.seed, s.lengths = seedOf(seed, run), lengths(lifetime)
	next := stream(s.seed)
	s.threshold = perRun([]float64{8, 12}[next.below(2)])
	// One class in four, in two, or, in half of the runs, all; those that
	// break an assumption, which somebody asked for, always.
	one := []uint64{1, 1, 2, 4}[next.below(4)]
	for c := range s.on {
		s.on[c] = next.below(one) == 0 || plan.Class(c).Breaks() != ""
	}
	weather = next.weather()
	s.slow = slowness{}
	if next.below(4) == 0 {
		s.slow = slowness{seed: next.word(), one: 4}
	}
	return weather
}

// Choose returns the site's choice.
func (s *Swarm) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	h := plan.Mix(s.seed ^ plan.Mix(uint64(site)))
	if uint32(h) < s.threshold {
		if c := pick(menu, &s.on, s.lengths, h); c.Class != plan.ClassNone {
			return c
		}
	}
	if s.slow.one == 0 || !s.on[plan.ClassHold] {
		return plan.Choice{}
	}
	return s.slow.hold(site, menu, s.lengths)
}

// slowness makes processes and links slow for a whole run, one in so many of
// them. The zero value makes none.
type slowness struct {
	seed uint64
	one  uint64
}

// hold keeps a message back as long as its sender, or its link, is slow.
func (s *slowness) hold(site plan.Site, menu []plan.Choice, l lengths) plan.Choice {
	if site.What() != plan.WhatMessage {
		return plan.Choice{}
	}
	c, ok := holdBy(menu)
	if !ok {
		return plan.Choice{}
	}
	for _, of := range [2]uint64{uint64(site.Who()), uint64(site.Who())<<8 | uint64(site.Peer())} {
		if h := plan.Mix(s.seed ^ plan.Mix(of)); h%s.one == 0 {
			c.By = max(c.By, l.draw(plan.Mix(h)))
		}
	}
	if c.By == 0 {
		return plan.Choice{}
	}
	return c
}
