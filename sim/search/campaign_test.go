package search

import (
	"context"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/provider"
)

func openMemory() (impl.Registry, func() error, func() error, error) {
	r := memory.New()
	return r, func() error { r.Reset(); return nil }, func() error { return nil }, nil
}

func subjects(t testing.TB, name string) []Subject {
	d, err := designs.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	profiles := d.Profiles
	if len(profiles) == 0 {
		profiles = []string{"keyed"}
	}
	var all []Subject
	for _, p := range profiles {
		profile, err := provider.ByName(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sim.Scenarios {
			all = append(all, Subject{Design: d, Scenario: s, Profile: profile, Classes: sim.Within()})
		}
	}
	return all
}

func TestCampaigns(t *testing.T) {
	for _, d := range designs.All() {
		r, err := Campaign(context.Background(), Options{Subjects: subjects(t, d.Name), Runs: 20000, Seed: 1, Open: openMemory})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: expect %s: %s %s, %d runs, %.0f/s", d.Name, d.Expect, r.Verdict, r.Reason, r.Runs, r.RunsPerSecond())
		if r.Violation != nil {
			t.Logf("%s at %v: %s\nothers %v\n%s", r.Violation.Invariant, r.Violation.At, r.Violation.Sentence, r.Violation.Others, r.Violation.Plan)
		}
		if r.Finding != nil {
			t.Logf("%v\n%s\n%s", r.Finding, r.Finding.Detail, r.FindingAt)
		}
	}
}
