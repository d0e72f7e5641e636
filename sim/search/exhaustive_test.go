package search

import (
	"context"
	"testing"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

func TestExhaustDebug(t *testing.T) {
	for _, set := range [][]plan.Class{
		{plan.ClassDrop, plan.ClassCrash},
		{plan.ClassDrop, plan.ClassCrash, plan.ClassHold},
		{plan.ClassDrop, plan.ClassCrash, plan.ClassHoldUntil},
		{plan.ClassDrop, plan.ClassDuplicate, plan.ClassCrash, plan.ClassHold, plan.ClassPause},
		nil,
	} {
		for _, s := range subjects(t, "reference")[:2] {
			s.Classes = [plan.ClassCount]bool{}
			for _, c := range set {
				s.Classes[c] = true
			}
			if set == nil {
				s.Classes = sim.Within()
			}
			p, err := Exhaust(context.Background(), ExhaustiveOptions{Subject: s, Deviations: 2, Open: openMemory, Budget: 150000})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(set, s.Scenario.Name, p.Verdict, p.Reason, p.Layers, p.Sentence(&s))
		}
	}
}
