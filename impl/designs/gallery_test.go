package designs_test

import (
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
)

func openMemory() (impl.Registry, func() error, func() error, error) {
	r := memory.New()
	return r, func() error { r.Reset(); return nil }, func() error { return nil }, nil
}

// subjects returns a design in the scenarios of these names, or in all, under
// each of its profiles, with the faults that its deployment allows.
func subjects(t *testing.T, d impl.Design, scenarios []string) []search.Subject {
	t.Helper()
	d.Scenarios = scenarios
	all, err := search.Worlds(d, search.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every wrong design breaks the invariant that it says, by at most four
// deviations; the right ones break none.
func TestGalleryInTheSimulator(t *testing.T) {
	for _, d := range designs.All() {
		t.Run(d.Name, func(t *testing.T) {
			if d.Expect == designs.Held {
				holds(t, d)
			} else {
				falls(t, d)
			}
		})
	}
}

func holds(t *testing.T, d impl.Design) {
	r, err := search.Campaign(t.Context(), search.Options{Subjects: subjects(t, d, nil), Runs: 4000, Seed: 1, Open: openMemory})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != search.Held {
		t.Errorf("%s %s: %+v", r.Verdict, r.Reason, r.Violation)
	}
}

// The right designs hold whatever single thing goes wrong, in every scenario
// and with every provider that they are meant for.
func TestOneFaultBreaksNoRightDesign(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs some 75,000 plans")
	}
	for _, d := range designs.All() {
		if d.Expect != designs.Held {
			continue
		}
		plans := 0
		for _, s := range subjects(t, d, nil) {
			p, err := search.Exhaust(t.Context(), search.ExhaustiveOptions{Subject: s, Deviations: 1, Open: openMemory})
			if err != nil {
				t.Fatal(err)
			}
			if plans += p.Plans; p.Verdict != search.Held {
				t.Errorf("%s in %s with %s: %s %+v", d.Name, s.Scenario.Name, s.Profile.Name, p.Verdict, p.Violation)
			}
		}
		t.Logf("%s: %d plans", d.Name, plans)
	}
}

// Where a second refund gives back twice, one charge too many and one refund
// that is late are enough to show an audit that repeats it too early: random
// plans seldom have just these two, so all pairs are run.
func TestRefundsAreBoundedByEveryProvider(t *testing.T) {
	d, err := designs.ByName("journal-and-compensate")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects(t, d, []string{"one-payment"}) {
		s.Classes = [plan.ClassCount]bool{plan.ClassHold: true, plan.ClassDrop: true, plan.ClassDuplicate: true, plan.ClassLag: true}
		p, err := search.Exhaust(t.Context(), search.ExhaustiveOptions{Subject: s, Deviations: 2, Open: openMemory})
		if err != nil {
			t.Fatal(err)
		}
		if p.Verdict != search.Held {
			t.Errorf("%s: %s %+v", s.Profile.Name, p.Verdict, p.Violation)
		}
	}
}

// most is how many deviations a plan may have that shows a defect.
const most = 4

// falls searches with one seed after the other until it has a plan that is
// small: what shrinking comes to depends on where it begins.
func falls(t *testing.T, d impl.Design) {
	want, err := invariant.Parse(d.Expect)
	if err != nil {
		t.Fatal(err)
	}
	var smallest *search.Violation
	for seed := range uint64(12) {
		r, err := search.Campaign(t.Context(), search.Options{
			Subjects: subjects(t, d, d.Scenarios), Runs: 200_000, Seed: seed + 1, Open: openMemory, Target: want,
		})
		if err != nil {
			t.Fatal(err)
		}
		v := r.Violation
		switch {
		case r.Verdict == search.Held:
			continue // rare: another seed
		case r.Verdict != search.Violated || v == nil:
			t.Fatalf("%s after %d runs: %s %v\n%v", r.Verdict, r.Runs, r.Reason, r.Finding, r.FindingAt)
		case v.Invariant != want:
			t.Fatalf("%v never fell in %d runs; %v did: %s\n%s", want, r.Runs, v.Invariant, v.Sentence, v.Plan)
		case smallest == nil || len(v.Plan.Deviations) < len(smallest.Plan.Deviations):
			smallest = v
		}
		if smallest != nil && len(smallest.Plan.Deviations) <= most {
			t.Logf("%v in run %d of seed %d: %s; others %v\n%s", want, v.Run, seed+1, v.Sentence, v.Others, v.Plan)
			return
		}
	}
	if smallest == nil {
		t.Fatalf("%v never fell", want)
	}
	t.Errorf("the smallest plan that was found has %d deviations, want at most %d\n%s", len(smallest.Plan.Deviations), most, smallest.Plan)
}

// Where nothing goes wrong in one payment, nothing shows: a design of the
// gallery is one that passes its demonstration.
func TestGalleryPaysOnceInABenignRun(t *testing.T) {
	for _, d := range designs.All() {
		for _, s := range subjects(t, d, []string{"one-payment"}) {
			t.Run(d.Name+"/"+s.Profile.Name, func(t *testing.T) {
				r, err := search.Run(s, s.Plan(0, nil), openMemory)
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != search.Held {
					t.Errorf("%s %s: %v", r.Verdict, r.Reason, r.Violations)
				}
				if r.Result.Situations[sim.Declined] > 0 {
					t.Error("the payment was declined")
				}
			})
		}
	}
}

// A twin that decides everything as the reference does makes the same run of
// every plan, for clients that go on asking and for those that do not.
func TestTwinIsTheReference(t *testing.T) {
	for _, client := range []string{"reference", "no-retry"} {
		first, err := designs.ByName(client)
		if err != nil {
			t.Fatal(err)
		}
		second := designs.Twin()
		second.Client = first.Client
		for _, p := range provider.Profiles {
			for _, s := range sim.Scenarios {
				compare(t, world(t, first, s, p), world(t, second, s, p), search.Subject{Design: first, Scenario: s, Profile: p})
			}
		}
	}
}

// compare makes the same random runs in two worlds.
func compare(t *testing.T, first, second *sim.World, s search.Subject) {
	t.Helper()
	var swarm search.Swarm
	var fixed plan.Fixed
	for run := range uint64(300) {
		weather := swarm.Reset(1, run, sim.ServiceConfig(s.Profile).MessageLifetime)
		a := first.Run(&swarm, sim.Options{Weather: weather})
		fixed.Reset(slices.Clone(a.Deviations))
		b := second.Run(&fixed, sim.Options{Weather: weather})
		if a.Hash != b.Hash || a.Situations != b.Situations {
			t.Fatalf("the twin differs in\n%s", s.Plan(weather, a.Deviations))
		}
	}
}

func world(t *testing.T, d impl.Design, s sim.Scenario, p provider.Profile) *sim.World {
	t.Helper()
	store, empty, _, _ := openMemory()
	w, err := sim.New(sim.Config{Design: d, Scenario: s, Profile: p, Classes: sim.Within(), Store: store, Empty: empty})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}
