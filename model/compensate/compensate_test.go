package compensate

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// gallery is the world of the design journal-and-compensate.
func gallery() Config {
	return Config{Handlers: 1, Reconcilers: 1, Attempts: 2, Faults: 2, Declines: true, RefundsOnce: true, Ages: true, GivesUp: true}
}

// reach returns every reachable state.
func reach(c *Config) []State {
	all := []State{Initial(c)}
	seen := map[State]bool{all[0]: true}
	for i := 0; i < len(all); i++ {
		Next(c, all[i], func(_ Action, s State) {
			if !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		})
	}
	return all
}

// TestEveryActionHappens would fail for an action that cannot happen, which no
// invariant would ever miss.
func TestEveryActionHappens(t *testing.T) {
	held, bookless, early, doubling, lossy := gallery(), gallery(), gallery(), gallery(), gallery()
	held.RefundsOnce = false
	bookless.NoAudit = true
	early.ReplyBeforeSave = true
	doubling.BreakA6 = true
	lossy.BreakA3 = true
	var happens [kindCount]bool
	for _, c := range []Config{gallery(), held, bookless, early, doubling, lossy} {
		for _, s := range reach(&c) {
			Next(&c, s, func(a Action, _ State) {
				happens[a.Kind] = true
				if got := ActionOf(a.Code()); got != a {
					t.Fatalf("%v comes back as %v", a, got)
				}
			})
		}
	}
	for k := range kindCount {
		if !happens[k] {
			t.Errorf("%v never happens", k)
		}
	}
}

// TestEverySituationShows in the world of the gallery.
func TestEverySituationShows(t *testing.T) {
	c := gallery()
	states := reach(&c)
	for _, situation := range Situations {
		if !slices.ContainsFunc(states, func(s State) bool { return situation.Shows(&c, s) }) {
			t.Errorf("%s: %s Not so", situation.Name, situation.Doc)
		}
	}
}

// TestAtMostTwoCharges: sending again at once stops after one more, so a third
// send needs the others to be dead and not found.
func TestAtMostTwoCharges(t *testing.T) {
	c := gallery()
	c.Attempts, c.Faults = 4, 3
	most := func() (most uint8) {
		for _, s := range reach(&c) {
			most = max(most, s.Made)
		}
		return most
	}
	if n := most(); n != 2 {
		t.Errorf("%d charges, want 2", n)
	}
	if c.EagerForEver = true; most() < 3 {
		t.Error("whoever sends again for ever makes two charges, too: nothing stops here")
	}
}

// TestRefundsFollowTheLedger: what a run means to give back was charged.
func TestRefundsFollowTheLedger(t *testing.T) {
	c := gallery()
	for _, s := range reach(&c) {
		for h := Slot(1); h <= c.slots(); h++ {
			r := s.Run(h)
			if busy := r.auditing() && r.At != AtClose; busy != (r.Todo != 0) || r.Todo>>(s.Made+1) != 0 || r.Todo.Has(0) {
				t.Fatalf("run %d is at %v with %v of %d charges", h, r.At, r.Todo.Charges(), s.Made)
			}
		}
	}
}

// TestLateWritesHaveOneForm: the order in which they were made is not part of
// the state.
func TestLateWritesHaveOneForm(t *testing.T) {
	all := []Write{{Step: StepClaim, Owner: 1}, {Step: StepComplete, Owner: 2, Reply: Answer{Paid, 2}}, {Step: StepComplete, Owner: 2, Reply: declined}, {Step: StepAudit}}
	var want State
	want.setLate(all)
	if got := want.Late(); len(got) != len(all) {
		t.Fatalf("%d writes are %v", len(all), got)
	}
	rapid.Check(t, func(t *rapid.T) {
		var s State
		for _, w := range rapid.Permutation(all).Draw(t, "order") {
			s.addLate(w)
			s.addLate(w)
		}
		if s != want {
			t.Errorf("%v and %v", s.Late(), want.Late())
		}
	})
}

func TestTooLargeAConfigurationPanics(t *testing.T) {
	for name, overflow := range map[string]func(s *State){
		"late writes": func(s *State) {
			for h := range Slot(maxLate + 1) {
				s.addLate(Write{Step: StepClaim, Owner: h})
			}
		},
		"charges": func(s *State) {
			for range maxCharges + 1 {
				s.charged()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "too large") {
					t.Errorf("panic %q", text)
				}
			}()
			overflow(new(State))
		})
	}
}

func TestDefectsAreFields(t *testing.T) {
	fields := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		fields[f.Name] = f.Type.Kind() == reflect.Bool
	}
	for _, d := range Defects {
		if !fields[d.Name] || d.Doc == "" {
			t.Errorf("%+v is no field of Config", d)
		}
	}
}

func TestValidateReportsEveryProblem(t *testing.T) {
	err := (&Config{Handlers: 3, Reconcilers: 2, Attempts: -1, Faults: 5}).Validate()
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, name := range []string{"Reconcilers", "Attempts", "Faults"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if c := gallery(); c.Validate() != nil {
		t.Error(c.Validate())
	}
}

func TestNames(t *testing.T) {
	for a, want := range map[Action]string{
		{SendCharge, 1}: "Charge(1)", {LookAtAudit, 2}: "Audit(2)", {Kind: LandStray}: "LandStray", {Kind: kindCount}: "Kind(53)",
	} {
		if got := a.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Answer{Paid, 2}).String(); got != "paid 2" {
		t.Errorf("the answer is %q", got)
	}
	if got := Place(99).String(); got != "place(99)" {
		t.Errorf("a place that there is not is %q", got)
	}
	for _, name := range append(slices.Clone(kindNames[:]), append(placeNames, stepNames...)...) {
		if name == "" {
			t.Error("something has no name")
		}
	}
}

func BenchmarkNext(b *testing.B) {
	c := gallery()
	states := reach(&c)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Next(&c, states[i%len(states)], func(Action, State) {})
	}
}
