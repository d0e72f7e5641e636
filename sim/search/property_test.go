package search

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// drawn is a chooser whose choices were drawn beforehand: after so many sites
// that offer something, a fault class of those that the next one offers, and
// one of its choices.
type drawn struct {
	picks []drawnChoice
}

type drawnChoice struct{ skip, class, variant int }

func (d *drawn) Choose(_ plan.Site, menu []plan.Choice) plan.Choice {
	if len(d.picks) == 0 {
		return plan.Choice{}
	}
	p := &d.picks[0]
	if p.skip--; p.skip >= 0 {
		return plan.Choice{}
	}
	var starts []int
	for i := range menu {
		if i == 0 || menu[i].Class != menu[i-1].Class {
			starts = append(starts, i)
		}
	}
	first := starts[p.class%len(starts)]
	n := 1
	for first+n < len(menu) && menu[first+n].Class == menu[first].Class {
		n++
	}
	c := menu[first+p.variant%n]
	if c.Bound == plan.BoundBy {
		c.By = time.Duration(p.variant+1) * 10 * time.Millisecond
	}
	d.picks = d.picks[1:]
	return c
}

// drawWorkload draws a small scenario: who pays what when, and which orders
// share a key.
func drawWorkload(t *rapid.T) sim.Scenario {
	s := sim.Scenario{Name: "drawn", Servers: rapid.IntRange(1, 3).Draw(t, "servers"), Chaos: 2 * time.Second}
	if rapid.Bool().Draw(t, "impatient") {
		s.Impatience = 25 * time.Millisecond
	}
	clients := rapid.IntRange(1, 3).Draw(t, "clients")
	for i := range rapid.IntRange(1, 3).Draw(t, "orders") {
		s.Orders = append(s.Orders, sim.Order{
			Tenant: rapid.SampledFrom([]string{"acme", "globex"}).Draw(t, "tenant"),
			Amount: rapid.Int64Range(1, 3).Draw(t, "amount") * 100, Currency: "EUR",
			Source: rapid.SampledFrom([]string{"card_1", "card_declined"}).Draw(t, "source"),
			Key:    fmt.Sprintf("page-%d", i), // an order that several clients pay has one key, whoever is first
		})
	}
	for range clients {
		var program []sim.Pay
		for range rapid.IntRange(1, 2).Draw(t, "pays") {
			program = append(program, sim.Pay{
				Order: rapid.IntRange(1, len(s.Orders)).Draw(t, "order"),
				At:    time.Duration(rapid.IntRange(0, 6).Draw(t, "at")) * 100 * time.Millisecond,
			})
		}
		s.Clients = append(s.Clients, program)
	}
	return s
}

func drawChoices(t *rapid.T) *drawn {
	return &drawn{rapid.SliceOfN(rapid.Custom(func(t *rapid.T) drawnChoice {
		return drawnChoice{rapid.IntRange(0, 40).Draw(t, "skip"), rapid.IntRange(0, 15).Draw(t, "class"), rapid.IntRange(0, 20).Draw(t, "variant")}
	}), 0, 5).Draw(t, "choices")}
}

// Any workload, any plan within the assumptions: every invariant holds, and
// the sequential specification agrees.
func TestReferenceHoldsForDrawnWorkloadsAndPlans(t *testing.T) {
	for _, name := range []string{"reference", "journal-and-wait", "journal-and-compensate"} {
		t.Run(name, func(t *testing.T) {
			design, err := designs.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			registry, empty, _, _ := openMemory()
			rapid.Check(t, func(t *rapid.T) {
				profile, err := provider.ByName(rapid.SampledFrom(design.Profiles).Draw(t, "profile"))
				if err != nil {
					t.Fatal(err)
				}
				a, err := newArena(Subject{Design: design, Scenario: drawWorkload(t), Profile: profile, Classes: sim.Within()}, registry, empty)
				if err != nil {
					t.Fatal(err)
				}
				defer a.world.Close()
				res := a.run(drawChoices(t), how{record: true, weather: uint64(rapid.IntRange(0, 3).Draw(t, "weather"))})
				if res.Finding != nil {
					t.Fatal(res.Finding)
				}
				if v := a.worst(); v != nil {
					t.Fatalf("%v: %s", v.Invariant, v.Sentence)
				}
				if d := a.disagreement(); d != "" {
					t.Fatal(d)
				}
			})
		})
	}
}

// drawnDesigns are the wrong designs that most plans drawn at large will
// break. The gallery's own test finds the others, whose faults must fit to the
// millisecond, with a strategy.
var drawnDesigns = []string{
	"charge-then-save", "check-then-insert", "key-per-attempt", "local-lock", "no-fingerprint", "no-retry",
	"retry-without-key", "short-retention", "timeout-means-failed",
}

// The same property must fail for each wrong design, and rapid must be able
// to make the failure small: at most four deviations.
func TestDrawnPlansBreakWrongDesigns(t *testing.T) {
	for _, name := range drawnDesigns {
		t.Run(name, func(t *testing.T) {
			design, err := designs.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			breaksDrawn(t, design)
		})
	}
}

// patience is how often rapid is asked, 100 plans each.
const patience = 100

func breaksDrawn(t *testing.T, design impl.Design) {
	want, err := invariant.Parse(design.Expect)
	if err != nil {
		t.Fatal(err)
	}
	registry, empty, _, _ := openMemory()
	var arenas []*arena
	for _, s := range worlds(t, design) {
		a, err := newArena(s, registry, empty)
		if err != nil {
			t.Fatal(err)
		}
		defer a.world.Close()
		arenas = append(arenas, a)
	}
	smallest := -1
	property := func(t *rapid.T) {
		a := arenas[rapid.IntRange(0, len(arenas)-1).Draw(t, "world")]
		res := a.run(drawChoices(t), how{})
		if a.broke(want) {
			smallest = len(res.Deviations) // the last failure that rapid shows is the smallest
			t.Fatalf("%v fell", want)
		}
	}
	for range patience {
		if rapidFails(t, property) {
			if smallest > 4 {
				t.Errorf("rapid shrinks to %d deviations, want at most 4", smallest)
			}
			return
		}
	}
	t.Fatalf("%v never fell", want)
}

// rapidFails runs a property that is expected to fail, and reports whether it
// did.
func rapidFails(t *testing.T, property func(*rapid.T)) (failed bool) {
	t.Helper()
	// A failure that is wanted is no file to keep.
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	defer flag.Set("rapid.nofailfile", "false")
	inner := &expectFailure{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != errStopped {
				panic(r)
			}
		}()
		rapid.Check(inner, property)
	}()
	return inner.failed
}

// expectFailure is a test that is meant to fail: it notes that it did, and
// says nothing.
type expectFailure struct {
	testing.TB
	failed bool
}

var errStopped = fmt.Errorf("stopped")

func (e *expectFailure) Helper()                   {}
func (e *expectFailure) Log(...any)                {}
func (e *expectFailure) Logf(string, ...any)       {}
func (e *expectFailure) Error(...any)              { e.failed = true }
func (e *expectFailure) Errorf(string, ...any)     { e.failed = true }
func (e *expectFailure) Fail()                     { e.failed = true }
func (e *expectFailure) Failed() bool              { return e.failed }
func (e *expectFailure) Fatal(...any)              { e.FailNow() }
func (e *expectFailure) Fatalf(_ string, _ ...any) { e.FailNow() }
func (e *expectFailure) FailNow() {
	e.failed = true
	panic(errStopped)
}
