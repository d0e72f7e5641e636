package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// TestTheReferenceRefinesTheModel holds every run against the protocol model:
// all scenarios, all profiles, all faults within the assumptions.
func TestTheReferenceRefinesTheModel(t *testing.T) {
	for _, c := range []struct {
		design string
		runs   int
	}{{"reference", 100_000}, {"journal-and-wait", 20_000}} {
		if testing.Short() {
			c.runs /= 10
		}
		r, err := Campaign(t.Context(), Options{Subjects: subjects(t, c.design), Runs: c.runs, Seed: 7, Open: openMemory, Linearize: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Held || r.Runs != c.runs || r.Refined != c.runs {
			t.Fatalf("%s: %v after %d runs, %d of them against the model: %s %+v", c.design, r.Verdict, r.Runs, r.Refined, r.Reason, r.Violation)
		}
		if r.Unjudged*200 > c.runs {
			t.Errorf("%s: %d operations in %d runs outgrew the model, which is too many to say anything", c.design, r.Unjudged, c.runs)
		}
	}
}

// TestTheReferenceRefinesTheModelForClientsThatGiveUp has the reference behind
// clients that ask once: what they leave open is settled when nobody can ask any
// more. They break Resolves, which is theirs.
func TestTheReferenceRefinesTheModelForClientsThatGiveUp(t *testing.T) {
	d, err := designs.ByName("no-retry")
	if err != nil {
		t.Fatal(err)
	}
	d.Refines, d.Scenarios, d.Profiles = true, nil, nil
	for _, p := range provider.Profiles {
		d.Profiles = append(d.Profiles, p.Name)
	}
	const runs = 5000
	r, err := Campaign(t.Context(), Options{Subjects: worlds(t, d), Runs: runs, Seed: 1, Open: openMemory, Linearize: 1, Target: invariant.Refines})
	if err != nil {
		t.Fatal(err)
	}
	if r.Runs != runs || r.Refined != runs || r.Violation == nil || r.Violation.Invariant.Kind() != invariant.Liveness {
		t.Errorf("%v after %d runs, %d of them against the model: %s %+v", r.Verdict, r.Runs, r.Refined, r.Reason, r.Violation)
	}
	if r.Situations[sim.Settled] == 0 {
		t.Error("nothing was settled")
	}
}

// TestWhatIsHeldAgainstTheModel says in which runs Refines is judged.
func TestWhatIsHeldAgainstTheModel(t *testing.T) {
	of := func(name string, broken ...impl.Assumption) Subject {
		s := subjects(t, name)[0]
		s.Break, s.Classes = broken, sim.Within(broken...)
		return s
	}
	for _, c := range []struct {
		why     string
		subject Subject
		refined int
	}{
		{"every 4th run of a design that claims to follow the protocol", of("reference"), 25},
		{"none where an assumption may break", of("reference", impl.A2), 0},
		{"none of a design that claims nothing", of("unfenced-completion"), 0},
	} {
		r, err := Campaign(t.Context(), Options{Subjects: []Subject{c.subject}, Runs: 100, Seed: 1, Open: openMemory, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Runs == 100 && r.Refined != c.refined || r.Refined > c.refined {
			t.Errorf("%d runs of %d were held against the model, want %d: %s", r.Refined, r.Runs, c.refined, c.why)
		}
	}
}

// TestADivergenceIsTold replays a plan in which a design that claims to follow
// the protocol does not.
func TestADivergenceIsTold(t *testing.T) {
	d, err := designs.ByName("first-send-unguarded")
	if err != nil {
		t.Fatal(err)
	}
	d.Refines = true
	r, err := Campaign(t.Context(), Options{Subjects: worlds(t, d), Runs: 1000, Seed: 1, Open: openMemory, Target: invariant.Refines, Linearize: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation == nil || r.Violation.Invariant != invariant.Refines || r.Violation.Plan.Expect != "Refines" {
		t.Fatalf("%v: %+v", r.Verdict, r.Violation)
	}
	for _, part := range []string{"calls charge", "the model is at [record ", "and after Charge("} {
		if !strings.Contains(r.Violation.Sentence, part) {
			t.Errorf("%q does not say %q", r.Violation.Sentence, part)
		}
	}
	s := *r.Violation.Subject
	s.Design.Refines = false // the plan asks for it
	again, err := Run(s, r.Violation.Plan, openMemory)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(again.Violations, func(v invariant.Violation) bool {
		return v.Invariant == invariant.Refines && v.Sentence == r.Violation.Sentence
	}) {
		t.Errorf("its plan gives %v", again.Violations)
	}
}

// alterations are ways to spoil one step of a run that refines the model. Each
// reports whether there was something to spoil in the step.
var alterations = []struct {
	name  string
	spoil func(s *history.Steps, step *history.Step) bool
}{
	{"a write is refused that was applied", func(s *history.Steps, step *history.Step) bool {
		call := called(s, step)
		ok := call != nil && step.Result == history.ResultApplied && heard(s, step) && call.Verb == history.VerbUpdate && !call.Tombstone
		if ok {
			step.Result = history.ResultConflict
		}
		return ok
	}},
	{"a write is fenced by another version", func(s *history.Steps, step *history.Step) bool {
		call := called(s, step)
		ok := call != nil && step.Kind == history.StepCall && call.Verb == history.VerbUpdate && !call.Tombstone
		if ok {
			call.Version++
		}
		return ok
	}},
	{"a write leaves another state", func(s *history.Steps, step *history.Step) bool {
		call := called(s, step)
		ok := call != nil && step.Result == history.ResultApplied && (call.Verb == history.VerbInsert || call.Verb == history.VerbUpdate) && !call.Tombstone
		if ok {
			step.State = step.State%history.StateReview + 1
		}
		return ok
	}},
	{"a write saves another charge", func(s *history.Steps, step *history.Step) bool {
		call := called(s, step)
		ok := call != nil && step.Kind == history.StepCall && call.Outcome == history.OutcomePaid && !call.Tombstone
		if ok {
			call.Charge += "0"
		}
		return ok
	}},
	{"a charge moves no money", func(s *history.Steps, step *history.Step) bool {
		ok := step.Result == history.ResultCaptured
		if ok {
			step.Result = history.ResultAbsorbed
		}
		return ok
	}},
	{"a charge moves money again", func(s *history.Steps, step *history.Step) bool {
		ok := step.Result == history.ResultAbsorbed
		if ok {
			step.Result = history.ResultCaptured
		}
		return ok
	}},
	{"a charge is sent when the lease is over", func(s *history.Steps, step *history.Step) bool {
		call := called(s, step)
		ok := call != nil && step.Kind == history.StepCall && call.Verb == history.VerbCharge
		if ok {
			step.At += 2 * sim.ServiceConfig(provider.Profiles[0]).Lease
		}
		return ok
	}},
	{"a look-up shows more", func(s *history.Steps, step *history.Step) bool {
		ok := step.Result == history.ResultFound && heard(s, step)
		if ok {
			step.Found++
		}
		return ok
	}},
	{"an answer is another", func(s *history.Steps, step *history.Step) bool {
		ok := step.Kind == history.StepEnd && !s.Runs[step.Run].Reconciler
		switch {
		case !ok:
		case step.Outcome == history.OutcomePaid:
			step.Outcome = history.OutcomeDeclined
		default:
			step.Outcome = history.OutcomePaid
		}
		return ok
	}},
}

func called(s *history.Steps, step *history.Step) *history.Call {
	if step.Call == history.Nowhere {
		return nil
	}
	return &s.Calls[step.Call]
}

func heard(s *history.Steps, step *history.Step) bool {
	at := s.Calls[step.Call].Answered
	return at != history.Nowhere && &s.Steps[at] == step
}

func clone(s *history.Steps) *history.Steps {
	return &history.Steps{
		Operations: slices.Clone(s.Operations), Runs: slices.Clone(s.Runs), Calls: slices.Clone(s.Calls), Steps: slices.Clone(s.Steps),
	}
}

// TestASpoiledStepDiverges spoils one step of each run in turn. Every one of
// the spoiled runs must be found out.
func TestASpoiledStepDiverges(t *testing.T) {
	all := subjects(t, "reference")
	spoiled := make([]int, len(alterations))
	for n, s := range all {
		registry, empty, shut, err := openMemory()
		if err != nil {
			t.Fatal(err)
		}
		a, err := newArena(s, registry, empty)
		if err != nil {
			t.Fatal(err)
		}
		source := Strategies[0].New()
		for run := range uint64(20) {
			a.draw(source, uint64(n), run, how{})
			if a.unjudged > 0 || len(a.diverged) > 0 {
				continue
			}
			for i, alter := range alterations {
				for at := range a.steps.Steps {
					steps := clone(&a.steps)
					if !alter.spoil(steps, &steps.Steps[at]) {
						continue
					}
					spoiled[i]++
					if a.model.Check(steps).Divergence == nil {
						t.Errorf("%s, %s, run %d: nobody notices at step %d that %s", s.Profile.Name, s.Scenario.Name, run, at, alter.name)
					}
				}
			}
		}
		a.world.Close()
		_ = shut()
	}
	for i, alter := range alterations {
		if spoiled[i] == 0 {
			t.Errorf("no run shows whether it is noticed that %s", alter.name)
		}
	}
}
