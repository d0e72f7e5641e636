package designs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// planFile is where the smallest plan of a design is kept.
func planFile(d impl.Design) string { return filepath.Join("testdata", "plans", d.Name+".plan") }

// Each wrong design has a smallest plan, in a file: its invariant falls, not
// without any of its lines, and the very same plan holds on the reference. To
// look for plans that are missing, and prove how small they are:
//
//	CHARGEONCE_REWRITE=1 go test -run SmallestPlans -timeout 60m ./impl/designs
func TestSmallestPlans(t *testing.T) {
	for _, d := range designs.All() {
		if d.Expect == designs.Held {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			text, err := os.ReadFile(planFile(d))
			if os.IsNotExist(err) && os.Getenv("CHARGEONCE_REWRITE") != "" {
				text = []byte(smallestPlan(t, d))
				err = os.WriteFile(planFile(d), text, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			replaysAsStated(t, d, p)
			holdsOnTheReference(t, p)
		})
	}
}

// subjectOf is the world of a plan for a design.
func subjectOf(t *testing.T, d impl.Design, p *plan.Plan) search.Subject {
	t.Helper()
	for _, s := range subjects(t, d, []string{p.Scenario}) {
		if s.Profile.Name == p.Profile {
			s.Break, s.Classes = p.Break, sim.Within(p.Break...)
			return s
		}
	}
	t.Fatalf("%s has no provider profile %q", d.Name, p.Profile)
	return search.Subject{}
}

func replaysAsStated(t *testing.T, d impl.Design, p *plan.Plan) {
	s := subjectOf(t, d, p)
	r, err := search.Run(s, p, openMemory)
	if err != nil {
		t.Fatal(err)
	}
	if p.Design != d.Name || p.Expect != d.Expect || len(p.Deviations) > most {
		t.Errorf("a plan of %d deviations for %s that expects %s; want at most %d for %s and %s", len(p.Deviations), p.Design, p.Expect, most, d.Name, d.Expect)
	}
	if !fell(r, d.Expect) || r.Result.Hash != p.Hash || len(r.Unmet) > 0 {
		t.Errorf("%v %v, trace %016x, unmet %v; want %s and %016x", r.Verdict, r.Violations, r.Result.Hash, r.Unmet, d.Expect, p.Hash)
	}
	for i := range p.Deviations {
		part, err := search.Run(s, p.Without(i), openMemory)
		if err != nil {
			t.Fatal(err)
		}
		if fell(part, d.Expect) {
			t.Errorf("%s falls without %q as well", d.Expect, p.Deviations[i])
		}
	}
}

func fell(r *search.Replay, name string) bool {
	for _, v := range r.Violations {
		if v.Invariant.String() == name {
			return true
		}
	}
	return false
}

// holdsOnTheReference replays a plan on the reference. One that breaks an
// assumption may break the reference too, and is not asked.
func holdsOnTheReference(t *testing.T, p *plan.Plan) {
	if len(p.Break) > 0 {
		return
	}
	name := "reference"
	if p.Expect == "BoundedRefunds" || strings.HasPrefix(p.Design, "compensate") {
		name = "journal-and-compensate"
	}
	d, err := designs.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := search.Run(subjectOf(t, d, p), p, openMemory)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Violations) > 0 || r.Result.Finding != nil {
		t.Errorf("%s falls too: %v %v", name, r.Violations, r.Result.Finding)
	}
}

// smallestPlan searches all plans with fewer and fewer restrictions on what
// is proven, and says in a comment what was.
func smallestPlan(t *testing.T, d impl.Design) string {
	want, err := invariant.Parse(d.Expect)
	if err != nil {
		t.Fatal(err)
	}
	worlds := subjects(t, d, d.Scenarios)
	for k := range 3 {
		for _, s := range worlds {
			p, err := search.Exhaust(t.Context(), search.ExhaustiveOptions{Subject: s, Deviations: k, Target: want, Open: openMemory, Budget: 3_000_000})
			if err != nil {
				t.Fatal(err)
			}
			if p.Violation != nil {
				return fmt.Sprintf("# smallest: no plan of fewer deviations breaks it in its scenarios, of any kind within its assumptions\n%s", p.Violation.Plan)
			}
		}
	}
	var smallest *search.Violation
	proven := false
	for seed := uint64(1); seed <= 12 && (smallest == nil || len(smallest.Plan.Deviations) > 3); seed++ {
		r, err := search.Campaign(t.Context(), search.Options{Subjects: worlds, Runs: 200_000, Seed: seed, Open: openMemory, Target: want})
		if err != nil {
			t.Fatal(err)
		}
		v := r.Violation
		if v == nil || v.Invariant != want {
			continue
		}
		sure, err := search.Minimum(t.Context(), v, openMemory, 2_000_000)
		if err != nil {
			t.Fatal(err)
		}
		if smallest == nil || len(v.Plan.Deviations) < len(smallest.Plan.Deviations) {
			smallest, proven = v, sure
		}
	}
	if smallest == nil {
		t.Fatalf("%v never fell", want)
	}
	what := "small: found at random, and no line can go"
	if len(smallest.Plan.Deviations) == 1 { // replaysAsStated shows that without it nothing falls
		what = "smallest in its weather: without the one deviation it holds; without weather no plan of two breaks it"
	} else if len(smallest.Plan.Deviations) == 3 {
		what = "smallest: no plan of fewer deviations breaks it in its scenarios, of any kind within its assumptions"
	} else if proven {
		what = "smallest of its kinds: no plan of fewer deviations of the fault classes in it breaks it"
	}
	return fmt.Sprintf("# %s\n%s", what, smallest.Plan)
}
