package search

import (
	"math"

	"github.com/chargeonce/chargeonce/sim"
)

// Risk is what a campaign that found nothing leaves open. It speaks of more
// runs of the same subjects drawn in the same way. It says nothing of faults
// that were off, of worlds that were not simulated, of anybody's production,
// or of how likely a fault is there: the rates are those of the strategy's
// draws.
type Risk struct {
	Runs int
	// ViolationRate bounds the share of violating runs among all that the
	// strategy may draw, with confidence 95 %: were it higher, a campaign of
	// so many runs would have met one in at least 95 of 100 cases. For many
	// runs it is 3/Runs, the rule of three.
	ViolationRate float64
	// NewSituation estimates the chance that the next run meets a situation
	// that no run met: the number of situations that exactly one run met, by
	// the number of runs (Good, 1953, after Turing). Where several would come
	// together it is too high rather than too low.
	NewSituation float64
	// NewSet estimates in the same way the chance that the next run meets a
	// set of situations which is not exactly that of any run before.
	NewSet float64
	// Sets is how many such sets were met.
	Sets int
}

// Confidence is that of Risk's bound on violations.
const Confidence = 0.95

// met is the set of the situations that a run met, a bit for each.
type met uint64

func metBy(r *sim.Result) (m met) {
	for s, n := range r.Situations {
		if n > 0 {
			m |= 1 << s
		}
	}
	return m
}

// newRisk computes the risk after runs without a violation, of which so many
// met exactly the situations of a set.
func newRisk(runs int, sets map[met]int) *Risk {
	r := &Risk{Runs: runs, ViolationRate: violationBound(runs), Sets: len(sets)}
	var met [sim.SituationCount]int // runs that met a situation
	onlyOne := 0
	for set, n := range sets {
		if n == 1 {
			onlyOne++
		}
		for s := range met {
			if set&(1<<s) != 0 {
				met[s] += n
			}
		}
	}
	r.NewSet = float64(onlyOne) / float64(runs)
	for _, n := range met {
		if n == 1 {
			r.NewSituation += 1 / float64(runs)
		}
	}
	return r
}

// violationBound is the rate p at which (1-p)^runs = 1-Confidence.
func violationBound(runs int) float64 { return -math.Expm1(math.Log(1-Confidence) / float64(runs)) }
