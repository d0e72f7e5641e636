package search

import (
	"time"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Uniform gives each site of each run the same chance to deviate, and each
// thing that it offers too. It is what the other strategies are measured by.
type Uniform struct {
	seed    uint64
	lengths lengths
}

// uniformFaults is about how many faults a small run has.
const uniformFaults = 8

// Reset draws a run.
func (u *Uniform) Reset(seed, run uint64, lifetime time.Duration) (weather uint64) {
	u.seed, u.lengths = seedOf(seed, run), lengths(lifetime)
	next := stream(u.seed)
	return next.weather()
}

// Choose returns the site's choice.
func (u *Uniform) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	h := plan.Mix(u.seed ^ plan.Mix(uint64(site)))
	if uint32(h) >= perRun(uniformFaults) {
		return plan.Choice{}
	}
	h = plan.Mix(h)
	return u.lengths.complete(menu[h%uint64(len(menu))], h)
}
