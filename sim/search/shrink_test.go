package search

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// fallen returns what a campaign in the scenario mixed finds of a design, nil
// if nothing falls in it.
func fallen(t *testing.T, name string, target invariant.Name) *Violation {
	t.Helper()
	var all []Subject
	for _, s := range subjects(t, name) {
		if s.Scenario.Name == "mixed" {
			all = append(all, s)
		}
	}
	r, err := Campaign(context.Background(), Options{Subjects: all, Runs: 2_000, Seed: 1, Open: openMemory, Target: target})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation != nil && r.Violation.Invariant != target {
		return nil
	}
	return r.Violation
}

// What is found among three clients, four orders and two servers comes down
// to those that it takes: no deviation and no part of the scenario that is
// left can go by itself.
func TestShrunkenIsMinimal(t *testing.T) {
	compared := 0
	var longest time.Duration
	for _, d := range designs.All() {
		if d.Expect == string(Held) || testing.Short() && d.Name > "d" {
			continue
		}
		target, err := invariant.Parse(d.Expect)
		if err != nil {
			t.Fatal(err)
		}
		v := fallen(t, d.Name, target)
		if v == nil {
			continue
		}
		compared++
		minimal(t, v)
		began := time.Now()
		if _, err := Minimum(context.Background(), v, openMemory, minimumRuns); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		longest = max(longest, took)
		minimal(t, v)
		t.Logf("%s: found with %d, left %d without %v, in %v", d.Name, v.Found, len(v.Plan.Deviations), v.Plan.Absent, took)
	}
	t.Logf("%d designs, at most %v", compared, longest)
	if compared < 5 {
		t.Errorf("only %d designs fall in the scenario mixed", compared)
	}
}

// minimal holds that the plan of a violation replays, from its text, and that
// nothing of it can go.
func minimal(t *testing.T, v *Violation) {
	t.Helper()
	p, err := plan.Parse(v.Plan.String())
	if err != nil {
		t.Fatal(err)
	}
	falls := func(q *plan.Plan) bool {
		r, err := Run(*v.Subject, q, openMemory)
		if err != nil {
			t.Fatal(err)
		}
		if q == p && r.Result.Hash != p.Hash {
			t.Errorf("%s: trace %016x, want that of the plan:\n%s", p.Design, r.Result.Hash, p)
		}
		return slices.ContainsFunc(r.Violations, func(f invariant.Violation) bool { return f.Invariant == v.Invariant })
	}
	if !falls(p) {
		t.Errorf("%v does not fall:\n%s", v.Invariant, p)
	}
	for i := range p.Deviations {
		if falls(p.Without(i)) {
			t.Errorf("it falls without %q as well:\n%s", p.Deviations[i], p)
		}
	}
	scenario, err := v.Subject.Scenario.Without(p.Absent...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(scenario.Absent, p.Absent) {
		t.Errorf("it names what need not be named:\n%s", p)
	}
	for _, part := range scenario.Parts() {
		less, err := scenario.Without(part)
		if err != nil {
			continue
		}
		q := *p
		q.Absent = less.Absent
		q.Deviations = slices.DeleteFunc(slices.Clone(p.Deviations), part.NamedBy)
		if falls(&q) {
			t.Errorf("it falls without %s as well:\n%s", part, p)
		}
	}
}

// Where a fault may as well befall the client whose order is charged twice,
// the other clients go.
func TestMinimumNarrows(t *testing.T) {
	v := fallen(t, "charge-then-save", invariant.SingleCharge)
	if v == nil {
		t.Fatal("nothing falls")
	}
	if _, err := Minimum(context.Background(), v, openMemory, 0); err != nil {
		t.Fatal(err)
	}
	clients := 0
	scenario, _ := v.Subject.Scenario.Without(v.Plan.Absent...)
	for _, part := range scenario.Parts() {
		if part.Process.Kind() == plan.Client {
			clients++
		}
	}
	if clients != 1 || len(v.Plan.Deviations) != 1 {
		t.Errorf("%d clients are left:\n%s", clients, v.Plan)
	}
}
