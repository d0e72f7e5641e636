package history_test

import (
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/model/history"
)

func TestNames(t *testing.T) {
	for k := history.KindNone + 1; k < history.KindCount; k++ {
		if back, err := history.ParseKind(k.String()); err != nil || back != k {
			t.Errorf("kind %v parses to %v, %v", k, back, err)
		}
	}
	for o := history.OutcomeNone + 1; o < history.OutcomeCount; o++ {
		if back, err := history.ParseOutcome(o.String()); err != nil || back != o {
			t.Errorf("outcome %v parses to %v, %v", o, back, err)
		}
	}
	for s := history.StateNone + 1; s < history.StateCount; s++ {
		if back, err := history.ParseState(s.String()); err != nil || back != s {
			t.Errorf("state %v parses to %v, %v", s, back, err)
		}
	}
	if _, err := history.ParseKind("none"); err == nil {
		t.Error(`kind "none" was parsed`)
	}
	if _, err := history.ParseOutcome("Paid"); err == nil {
		t.Error(`outcome "Paid" was parsed`)
	}
	if got := history.KindCount.String(); got != "kind(15)" {
		t.Errorf("a kind too many is called %s", got)
	}
}

// No status fits two outcomes, or an altered outcome could pass for another.
func TestStatusesAreDisjoint(t *testing.T) {
	var all []int
	for o := range history.OutcomeCount {
		for _, status := range o.Statuses() {
			if !o.Fits(status) {
				t.Errorf("%d does not fit %v", status, o)
			}
			all = append(all, status)
		}
	}
	slices.Sort(all)
	if len(all) != 14 || len(slices.Compact(all)) != 14 {
		t.Errorf("the statuses are %v", all)
	}
	if history.OutcomeCount.Fits(200) || history.OutcomeNone.Fits(0) {
		t.Error("a status fits what is no outcome")
	}
}
