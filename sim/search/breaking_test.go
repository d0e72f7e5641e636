package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// survives are the classes that break an assumption and do not break the
// reference. A stale read never leads to a write that is not a
// compare-and-swap on what was read, nor to a send outside the run's own
// lease, so it costs time and nothing else.
var survives = map[plan.Class]bool{plan.ClassStaleRead: true}

// Each class that breaks an assumption has a plan that shows what falls. To
// look for new ones: CHARGEONCE_REWRITE=1 go test -run Assumption ./sim/search
func TestEveryBrokenAssumptionBreaksTheReference(t *testing.T) {
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if c.Breaks() == "" || survives[c] {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			name := filepath.Join("testdata", "breaking", c.String()+".plan")
			text, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) && os.Getenv("CHARGEONCE_REWRITE") != "" {
				text = []byte(findBreaking(t, c))
				if err = os.MkdirAll(filepath.Dir(name), 0o777); err == nil {
					err = os.WriteFile(name, text, 0o666)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			uses := false
			for _, d := range p.Deviations {
				uses = uses || d.Choice.Class == c
			}
			if !uses {
				t.Errorf("%s does not use the class", name)
			}
			r, err := Run(planSubject(t, p), p, openMemory)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != Violated || r.Violations[0].Invariant.String() != p.Expect || r.Result.Effective[c] == 0 {
				t.Errorf("%v %v, took effect %d times; want %s to fall", r.Verdict, r.Violations, r.Result.Effective[c], p.Expect)
			}
			if r.Result.Hash != p.Hash {
				t.Errorf("trace %016x, want %016x", r.Result.Hash, p.Hash)
			}
			for i := range p.Deviations {
				part, err := Run(planSubject(t, p), p.Without(i), openMemory)
				if err != nil {
					t.Fatal(err)
				}
				if len(part.Violations) > 0 && part.Violations[0].Invariant.String() == p.Expect {
					t.Errorf("%s falls without %q as well", p.Expect, p.Deviations[i])
				}
			}
		})
	}
}

func planSubject(t testing.TB, p *plan.Plan) Subject {
	t.Helper()
	d, err := designs.ByName(p.Design)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.ScenarioByName(p.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := provider.ByName(p.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return Subject{Design: d, Scenario: s, Profile: profile, Classes: sim.Within(p.Break...), Break: p.Break}
}

// breakingSubjects are the reference's worlds with one breaking class on.
func breakingSubjects(t testing.TB, c plan.Class) []Subject {
	all := subjects(t, "reference")
	for i := range all {
		all[i].Break = []impl.Assumption{c.Breaks()}
		all[i].Classes = sim.Within()
		all[i].Classes[c] = true
	}
	return all
}

func findBreaking(t *testing.T, c plan.Class) string {
	r, err := Campaign(context.Background(), Options{Subjects: breakingSubjects(t, c), Runs: 200_000, Seed: 1, Open: openMemory})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil {
		t.Fatalf("nothing falls in %d runs", r.Runs)
	}
	if _, err := Minimum(context.Background(), r.Violation, openMemory, 500_000); err != nil {
		t.Fatal(err)
	}
	return r.Violation.Plan.String()
}

func TestReferenceSurvivesStaleReads(t *testing.T) {
	runs := 20_000
	if testing.Short() {
		runs = 2_000
	}
	r, err := Campaign(context.Background(), Options{
		Subjects: breakingSubjects(t, plan.ClassStaleRead), Runs: runs, Seed: 1, Open: openMemory, Asked: []plan.Class{plan.ClassStaleRead},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Held {
		t.Fatalf("%v: %s %v", r.Verdict, r.Reason, r.Violation)
	}
}
