package search

import (
	"os"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

func TestDebug(t *testing.T) {
	b, err := os.ReadFile(os.Getenv("PLAN"))
	if err != nil {
		t.Skip()
	}
	p, err := plan.Parse(string(b))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := designs.ByName(p.Design)
	pr, _ := provider.ByName(p.Profile)
	sc, _ := sim.ScenarioByName(p.Scenario)
	r, empty, _, _ := openMemory()
	a, err := newArena(Subject{Design: d, Scenario: sc, Profile: pr, Classes: sim.Within(p.Break...), Break: p.Break}, r, empty)
	if err != nil {
		t.Fatal(err)
	}
	res := a.replay(p.Weather, p.Deviations, how{record: true, trace: true})
	timeline.Write(os.Stdout, &timeline.Run{Lines: a.world.Lines(), Events: a.events, Deviations: res.Deviations, Violation: -1})
	for _, v := range a.checker.Violations() {
		t.Log(v.Invariant, v.Sentence)
	}
}
