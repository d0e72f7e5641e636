package search

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// small is a design in one scenario, with a few classes.
func small(t testing.TB, design, scenario string, classes ...plan.Class) Subject {
	t.Helper()
	for _, s := range subjects(t, design) {
		if s.Scenario.Name == scenario {
			s.Classes = [plan.ClassCount]bool{}
			for _, c := range classes {
				s.Classes[c] = true
			}
			return s
		}
	}
	t.Fatalf("there is no scenario %s", scenario)
	return Subject{}
}

func exhaust(t testing.TB, opt ExhaustiveOptions) *Proof {
	t.Helper()
	opt.Open = openMemory
	p, err := Exhaust(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// census notes the plans that a search runs.
type census struct {
	mu    sync.Mutex
	s     *Subject
	times map[string]int
}

func newCensus(s *Subject) *census { return &census{s: s, times: map[string]int{}} }

func (c *census) seen(d []plan.Deviation, _ *arena) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[c.s.Plan(0, d).String()]++
}

// everySet runs all sets of at most k deviations out of all that any run of
// fewer deviations offers, and returns those whose deviations were all met.
func everySet(t *testing.T, s Subject, k int) map[string]bool {
	t.Helper()
	registry, empty, _, _ := openMemory()
	a, err := newArena(s, registry, empty)
	if err != nil {
		t.Fatal(err)
	}
	defer a.world.Close()
	var offered []plan.Deviation
	known, met := map[plan.Deviation]bool{}, map[string]bool{}
	ran := map[string]bool{}
	// run makes the run of a set and learns what it offers.
	run := func(set []plan.Deviation) {
		name := s.Plan(0, set).String()
		if ran[name] {
			return
		}
		ran[name] = true
		v := &visitor{}
		v.Reset(set)
		a.run(v, how{})
		if len(v.Unmet()) == 0 {
			met[name] = true
		}
		for _, d := range v.offered {
			if !known[d] {
				known[d] = true
				offered = append(offered, d)
			}
		}
	}
	var sets func(set []plan.Deviation, from, size int)
	sets = func(set []plan.Deviation, from, size int) {
		if size == 0 {
			run(slices.Clone(set))
			return
		}
		for i := from; i < len(offered); i++ { // it may grow meanwhile
			if slices.ContainsFunc(set, func(d plan.Deviation) bool { return d.Site == offered[i].Site }) {
				continue
			}
			sets(append(set, offered[i]), i+1, size-1)
		}
	}
	for size := range k + 1 {
		for before := -1; before != len(ran); { // until nothing new is offered
			before = len(ran)
			sets(nil, 0, size)
		}
	}
	return met
}

// visitor follows a set of deviations and notes everything that is offered.
type visitor struct {
	plan.Fixed
	offered []plan.Deviation
}

func (v *visitor) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	for _, c := range menu {
		if c.Bound != plan.BoundBy {
			v.offered = append(v.offered, plan.Deviation{Site: site, Choice: c})
		}
	}
	return v.Fixed.Choose(site, menu)
}

// The enumeration is complete and free of duplicates: it runs exactly those
// sets of deviations whose sites are all met, each once.
func TestExhaustIsBruteForce(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		k        int
		classes  []plan.Class
	}{
		{"one-payment", 2, []plan.Class{plan.ClassDrop, plan.ClassCrash}},
		{"one-payment", 2, []plan.Class{plan.ClassHold, plan.ClassDecline}}, // with a choice that is not tried
		{"one-payment", 3, []plan.Class{plan.ClassDrop}},
		{"two-replicas-one-key", 2, []plan.Class{plan.ClassDuplicate, plan.ClassSkew}},
	} {
		s := small(t, "reference", tt.scenario, tt.classes...)
		t.Run(fmt.Sprintf("%s/%s/%d", tt.scenario, s.classNames(), tt.k), func(t *testing.T) {
			want := everySet(t, s, tt.k)
			c := newCensus(&s)
			p := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: tt.k, seen: c.seen, whole: true})
			if p.Verdict != Held || !p.Complete {
				t.Fatalf("%s %s", p.Verdict, p.Reason)
			}
			for name, n := range c.times {
				if n != 1 || !want[name] {
					t.Errorf("this plan was run %d times, and that its sites are all met is %v:\n%s", n, want[name], name)
				}
			}
			for name := range want {
				if c.times[name] == 0 {
					t.Errorf("this plan was not run:\n%s", name)
				}
			}
			planned := 0
			for _, l := range p.Layers {
				planned += l.Plans
			}
			if p.Plans != len(want) || planned != len(want) {
				t.Errorf("it says that it ran %d of %d plans, and there are %d", p.Plans, planned, len(want))
			}
		})
	}
}

// What a search comes to does not depend on the number of its workers.
func TestExhaustWorkers(t *testing.T) {
	for _, tt := range []struct {
		design  string
		classes []plan.Class
	}{
		{"reference", []plan.Class{plan.ClassDrop, plan.ClassCrash, plan.ClassHold}},
		{"charge-then-save", []plan.Class{plan.ClassCrash, plan.ClassHold}},
		{"key-per-attempt", []plan.Class{plan.ClassPause, plan.ClassHold}},
	} {
		t.Run(tt.design, func(t *testing.T) {
			var first *Proof
			for _, workers := range []int{1, 2, 3} {
				p := exhaust(t, ExhaustiveOptions{Subject: small(t, tt.design, "retry-other-replica", tt.classes...), Deviations: 2, Workers: workers})
				p.Elapsed = 0
				for i := range p.Layers {
					p.Layers[i].Elapsed = 0
				}
				if first == nil {
					first = p
				}
				if p.Verdict != first.Verdict || p.Plans != first.Plans || !reflect.DeepEqual(p.Layers, first.Layers) || p.Next != first.Next {
					t.Errorf("%d workers: %s, %d plans, %+v, %+v; want %s, %d, %+v, %+v", workers, p.Verdict, p.Plans, p.Layers, p.Next,
						first.Verdict, first.Plans, first.Layers, first.Next)
				}
				if p.Violation != nil && p.Violation.Plan.String() != first.Violation.Plan.String() {
					t.Errorf("%d workers find\n%s, and one finds\n%s", workers, p.Violation.Plan, first.Violation.Plan)
				}
			}
			if first.Violation == nil != (tt.design == "reference") {
				t.Errorf("%s", first.Verdict)
			}
		})
	}
}

// Whichever unit was stopped first, the one with the smallest number counts,
// and of the others only those before it.
func TestLayerTellsOfTheFirstUnit(t *testing.T) {
	l := newLayer(context.Background(), &ExhaustiveOptions{}, Cursor{Layer: 2, Unit: 1, Of: 100, Done: 10, Next: 1000}, 0)
	first, second := &stop{reason: "first"}, &stop{reason: "second"}
	l.units = map[int]*unit{1: {done: 3, next: 30, over: true}, 2: {done: 2, stop: first}, 4: {done: 40, stop: second}, 3: {done: 20, over: true}}
	if l.found() != first || l.summary().Done != 15 {
		t.Errorf("found %v, %d plans", l.found(), l.summary().Done)
	}
	delete(l.units, 2)
	if l.found() != second || l.summary().Done != 10+3+20+40 {
		t.Errorf("found %v, %d plans", l.found(), l.summary().Done)
	}
	if got, want := l.cursor(), (Cursor{Layer: 2, Unit: 2, Plans: 3, Of: 100, Done: 13, Next: 1030}); got != want {
		t.Errorf("the cursor is %+v, want %+v", got, want)
	}
}

// A search that is stopped again and again, and resumed each time, comes to
// the same as one that is not.
func TestExhaustResumes(t *testing.T) {
	s := small(t, "reference", "one-payment", plan.ClassDrop, plan.ClassHold, plan.ClassCrash)
	whole := newCensus(&s)
	want := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 2, Workers: 1, seen: whole.seen})
	parts := newCensus(&s)
	var at *Cursor
	for calls := 1; ; calls++ {
		p := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 2, Workers: 1, Budget: 97, Resume: at, seen: parts.seen})
		if p.Verdict == Held {
			if p.Plans != want.Plans || p.Pruned != want.Pruned || p.Pruned == 0 || p.Next != want.Next || calls < 10 {
				t.Errorf("after %d calls it ran %d plans and is at %+v; in one go %d, %+v", calls, p.Plans, p.Next, want.Plans, want.Next)
			}
			break
		}
		if p.Verdict != Undecided || p.Complete || !strings.Contains(p.Reason, "stopped after") {
			t.Fatalf("call %d: %s %q", calls, p.Verdict, p.Reason)
		}
		if at != nil && p.Next == *at {
			t.Fatalf("call %d does not get on from %+v", calls, p.Next)
		}
		at = &p.Next
	}
	if !reflect.DeepEqual(parts.times, whole.times) {
		t.Errorf("in parts it ran %d plans, in one go %d, or one of them twice", len(parts.times), len(whole.times))
	}
	deeper := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 3, Workers: 1, Budget: 1, Resume: &want.Next})
	if len(deeper.Layers) != 1 || deeper.Layers[0].Deviations != 3 || deeper.Layers[0].Plans != want.Next.Of || deeper.Plans != want.Plans+1 {
		t.Errorf("one layer more begins with %+v, %d plans", deeper.Layers, deeper.Plans)
	}
}

// The budget is the number of plans, neither more nor fewer.
func TestExhaustBudget(t *testing.T) {
	s := small(t, "reference", "one-payment", plan.ClassDrop, plan.ClassCrash)
	all := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 2})
	for _, workers := range []int{1, 2} {
		for _, budget := range []int{1, 7, all.Plans - 1, all.Plans} {
			c := newCensus(&s)
			p := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 2, Budget: budget, Workers: workers, seen: c.seen})
			want := Undecided
			if budget == all.Plans {
				want = Held
			}
			if p.Verdict != want || p.Plans != budget || len(c.times) != budget {
				t.Errorf("a budget of %d: %s, %d plans, really %d", budget, p.Verdict, p.Plans, len(c.times))
			}
		}
	}
}

func TestExhaustStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := small(t, "reference", "one-payment", plan.ClassDrop, plan.ClassCrash, plan.ClassHold)
	told := 0
	p, err := Exhaust(ctx, ExhaustiveOptions{Subject: s, Deviations: 3, Open: openMemory, Workers: 1, Progress: func(l Layer, c Cursor) {
		told++
		if l.Deviations != 3 || l.Done <= 0 || l.Done >= l.Plans || c.Layer != 3 || c.Of != l.Plans {
			t.Errorf("told %+v, %+v", l, c)
		}
		cancel()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Verdict != Undecided || p.Held() != 2 || told == 0 {
		t.Errorf("%s, held up to %d, told %d times", p.Verdict, p.Held(), told)
	}
}

// A plan that violates is a smallest one, and what is smaller was all run.
func TestExhaustFindsTheSmallest(t *testing.T) {
	s := small(t, "charge-then-save", "one-payment", plan.ClassCrash, plan.ClassHold)
	p := exhaust(t, ExhaustiveOptions{Subject: s, Deviations: 3, Target: invariant.SingleCharge})
	if p.Violation == nil || len(p.Violation.Plan.Deviations) != 1 || p.Violation.Invariant != invariant.SingleCharge || p.Held() != 0 {
		t.Fatalf("%+v", p)
	}
	if got := p.Sentence(&s); !strings.Contains(got, "at most 0 deviations out of hold, crash,") || !strings.HasSuffix(got, "violates SingleCharge") {
		t.Error(got)
	}
}

// Only a hold can be by a duration: choices relies on it.
func TestOnlyHoldsAreByADuration(t *testing.T) {
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if slices.Contains(c.Bounds(), plan.BoundBy) != (c == plan.ClassHold) {
			t.Errorf("%s: bounds %v", c, c.Bounds())
		}
	}
}

// Another design, scenario or set of classes is another search.
func TestRoot(t *testing.T) {
	seen := map[uint64]string{}
	for _, s := range []Subject{
		small(t, "reference", "one-payment", plan.ClassDrop), small(t, "reference", "one-payment", plan.ClassCrash),
		small(t, "reference", "decline", plan.ClassDrop), small(t, "check-then-insert", "one-payment", plan.ClassDrop),
	} {
		name := s.Design.Name + " " + s.Scenario.Name + " " + s.classNames()
		for range 2 {
			root, err := Root(s, openMemory)
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[root]; ok && other != name {
				t.Errorf("%s and %s have one root", name, other)
			}
			seen[root] = name
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d roots for 4 subjects", len(seen))
	}
}
