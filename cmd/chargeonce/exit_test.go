package main

import (
	"testing"

	"github.com/chargeonce/chargeonce/sim/search"
)

func TestExitOf(t *testing.T) {
	for _, tt := range []struct {
		verdict search.Verdict
		broken  []string
		want    exitCode
	}{
		{search.Held, nil, exitHeld},
		{search.Violated, []string{"SingleCharge"}, exitSafety},
		{search.Violated, []string{"Resolves"}, exitLiveness},
		{search.Violated, []string{"Resolves", "NotWedged"}, exitLiveness},
		{search.Violated, []string{"Resolves", "SingleCharge"}, exitSafety},
		{search.Violated, []string{"WellFormed"}, exitSafety},
		{search.Violated, []string{"panic"}, exitSafety},
		{search.Violated, nil, exitSafety},
		{search.Undecided, nil, exitUndecided},
		{search.Vacuous, nil, exitVacuous},
		{search.Nondeterministic, []string{"SingleCharge"}, exitNondeterministic},
		{"", nil, exitUndecided},
	} {
		if got := exitOf(tt.verdict, tt.broken); got != tt.want {
			t.Errorf("%q with %v: exit code %d, want %d", tt.verdict, tt.broken, got, tt.want)
		}
	}
}
