package sim_test

import (
	"fmt"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

type printer struct{}

func (printer) Event(e *history.Event) {
	fmt.Printf("   %9v %v %s %s try %d %v %d %s state %v v%d owner %s run %s key %s charge %s\n", e.At, e.Kind, e.Process, e.Operation, e.Attempt, e.Outcome, e.Status, e.Charge, e.State, e.Version, e.Owner, e.Run, e.Key, e.Charge)
}

func TestSmoke(t *testing.T) {
	store := memory.New()
	for _, d := range designs.All() {
		name := "keyed"
		if len(d.Profiles) > 0 {
			name = d.Profiles[0]
		}
		pr, _ := provider.ByName(name)
		for _, s := range sim.Scenarios {
			w, err := sim.New(sim.Config{Design: d, Scenario: s, Profile: pr, Classes: sim.Within(), Store: store, Empty: func() error { store.Reset(); return nil }})
			if err != nil {
				t.Fatal(err)
			}
			var f plan.Fixed
			f.Reset(nil)
			opt := sim.Options{}
			if d.Name == "reference" && s.Name == "one-payment" {
				opt.Sink = printer{}
			}
			res := w.Run(&f, opt)
			fmt.Println(d.Name, s.Name, res.Sites, res.Events, res.Virtual, res.Situations, res.Finding, res.Limit, len(w.Lines()))
		}
	}
}
