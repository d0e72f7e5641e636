package search

import (
	"context"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim"
)

func TestBreakingDebug(t *testing.T) {
	for _, b := range impl.Assumptions {
		all := subjects(t, "reference")
		for i := range all {
			all[i].Break = []impl.Assumption{b}
			all[i].Classes = sim.Within(b)
		}
		r, err := Campaign(context.Background(), Options{Subjects: all, Runs: 100000, Seed: 1, Open: openMemory})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s %s, %d runs", b, r.Verdict, r.Reason, r.Runs)
		for c, n := range r.Chosen {
			if n > 0 && r.Effective[c] == 0 {
				t.Log("never took effect", c, n)
			}
		}
		if r.Violation != nil {
			t.Logf("%s at %v: %s\nothers %v\n%s", r.Violation.Invariant, r.Violation.At, r.Violation.Sentence, r.Violation.Others, r.Violation.Plan)
		}
	}
}
