package search

import (
	"time"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// PCT is random choice in the manner of probabilistic concurrency testing
// (Burckhardt and others, 2010), with latencies for priorities: a run draws a
// rank for each process and link, messages of a higher rank take twice as
// long as those of the rank below, and at d−1 points of the run, d from 3 to
// 6, something changes: a link falls to the slowest rank, or what the site
// offers goes wrong. Few changes at the right places are what most bugs take;
// how likely a run is to have them does not depend on how long it is.
type PCT struct {
	seed    uint64
	slowest time.Duration
	changes [5]uint64 // numbers of the questions, 0 for none
	asked   uint64
	last    [5]uint16 // links that have fallen to the slowest rank
	fallen  int
	lengths lengths
}

// ranks is how many latencies there are; those of the lower half are none.
const ranks = 8

// Reset draws a run's ranks and its points of change.
func (p *PCT) Reset(seed, run uint64, lifetime time.Duration) (weather uint64) {
	*p = PCT{seed: seedOf(seed, run), lengths: lengths(lifetime)}
	next := stream(p.seed)
	p.slowest = p.lengths.draw(next.word())
	among := uint64(16) << next.below(5) // how long the run is, nobody knows yet
	for i := range 2 + next.below(4) {
		p.changes[i] = 1 + next.below(among)
	}
	return next.weather()
}

// Choose returns the site's choice.
func (p *PCT) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	p.asked++
	link := uint16(site.Who())<<8 | uint16(site.Peer())
	for _, at := range p.changes {
		if at != p.asked {
			continue
		}
		h := plan.Mix(p.seed ^ plan.Mix(at))
		if site.What() != plan.WhatMessage || h&1 == 0 {
			return pick(menu, &everyClass, p.lengths, h)
		}
		p.last[p.fallen] = link
		p.fallen++
	}
	if site.What() != plan.WhatMessage {
		return plan.Choice{}
	}
	c, ok := holdBy(menu)
	if !ok {
		return plan.Choice{}
	}
	if c.By = p.latency(site.Who(), link); c.By < time.Millisecond {
		return plan.Choice{}
	}
	return c
}

// latency is how long a message takes: by the rank of its sender or of its
// link, whichever is slower.
func (p *PCT) latency(from plan.Process, link uint16) time.Duration {
	for _, l := range p.last[:p.fallen] {
		if l == link {
			return time.Duration(p.lengths)
		}
	}
	rank := max(plan.Mix(p.seed^plan.Mix(uint64(from)))%ranks, plan.Mix(p.seed^plan.Mix(uint64(link)))%ranks)
	if rank < ranks/2 {
		return 0
	}
	return p.slowest >> (ranks - 1 - rank)
}
