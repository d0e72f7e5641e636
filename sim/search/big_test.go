package search

import (
	"context"
	"testing"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

func TestBigDebug(t *testing.T) {
	r, err := Campaign(context.Background(), Options{Subjects: subjects(t, "reference"), Runs: 200000, Seed: 1, Open: openMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Verdict, r.Reason, r.Runs, r.RunsPerSecond(), r.HandedOver)
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		t.Log(c, r.Chosen[c], r.Effective[c])
	}
	for s := range sim.SituationCount {
		t.Log(s, r.Situations[s])
	}
	if r.Violation != nil {
		t.Logf("%s at %v: %s\nothers %v\n%s", r.Violation.Invariant, r.Violation.At, r.Violation.Sentence, r.Violation.Others, r.Violation.Plan)
	}
}
