package sim_test

import (
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Every situation that the world counts is met by some run, and no run of a
// short campaign ends with a finding, or at its bound unless the design is wrong.
func TestEverySituationIsMet(t *testing.T) {
	var met [sim.SituationCount]int
	var chosen, effective sim.Counts
	for _, broken := range append([]impl.Assumption{""}, impl.Assumptions...) {
		all, runs := worlds(t), uint64(60)
		if broken != "" {
			all, runs = worlds(t, broken), 10
		}
		for _, cfg := range all {
			s := newStage(t, cfg)
			for n := range runs {
				c, weather := swarm(&cfg, n)
				res := s.Run(c, sim.Options{Weather: weather})
				if res.Finding != nil || res.Limit && broken == "" && cfg.Design.Expect == "held" {
					t.Fatalf("%s in run %d: finding %v, at its limit: %v\n%v", title(&cfg), n, res.Finding, res.Limit, res.Deviations)
				}
				for i, n := range res.Situations {
					met[i] += n
				}
				for c := range res.Chosen {
					chosen[c] += res.Chosen[c]
					effective[c] += res.Effective[c]
				}
			}
		}
	}
	for i, n := range met {
		if n == 0 {
			t.Errorf("nothing met the situation %s", sim.Situation(i))
		}
	}
	for c := range chosen {
		if c > 0 && (chosen[c] == 0 || effective[c] == 0) {
			t.Errorf("the class %s was chosen %d times and took effect %d times", plan.Class(c), chosen[c], effective[c])
		}
	}
}

func TestSituationsAreNamed(t *testing.T) {
	seen := map[string]bool{}
	for i := range sim.SituationCount {
		if name := i.String(); name == "" || seen[name] {
			t.Errorf("situation %d is called %q", i, name)
		}
		seen[i.String()] = true
	}
	if sim.SituationCount.String() == "" {
		t.Error("a number outside of the vocabulary prints nothing")
	}
}
