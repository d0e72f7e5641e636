package search

import (
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

// drawn is a chooser whose choices were drawn beforehand: at the n-th site
// that offers something, the m-th thing that it offers.
type drawn struct {
	picks map[int]int
	asked int
}

func (d *drawn) Choose(_ plan.Site, menu []plan.Choice) plan.Choice {
	d.asked++
	pick, ok := d.picks[d.asked]
	if !ok {
		return plan.Choice{}
	}
	c := menu[pick%len(menu)]
	if c.Bound == plan.BoundBy {
		c.By = time.Duration(pick+1) * time.Millisecond
	}
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
	d := &drawn{picks: map[int]int{}}
	for range rapid.IntRange(0, 6).Draw(t, "deviations") {
		d.picks[rapid.IntRange(1, 120).Draw(t, "site")] = rapid.IntRange(0, 40).Draw(t, "choice")
	}
	return d
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

// The same property must fail for each wrong design, and rapid must be able
// to make the failure small: at most four deviations.
func TestDrawnPlansBreakEveryWrongDesign(t *testing.T) {
	for _, design := range designs.All() {
		if design.Expect == "held" {
			continue
		}
		t.Run(design.Name, func(t *testing.T) { breaksDrawn(t, design) })
	}
}

func breaksDrawn(t *testing.T, design impl.Design) {
	want, err := invariant.Parse(design.Expect)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := provider.ByName(design.Profiles[0])
	if err != nil {
		t.Fatal(err)
	}
	registry, empty, _, _ := openMemory()
	arenas := map[string]*arena{}
	for _, name := range design.Scenarios {
		s, err := sim.ScenarioByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if arenas[name], err = newArena(Subject{Design: design, Scenario: s, Profile: profile, Classes: sim.Within()}, registry, empty); err != nil {
			t.Fatal(err)
		}
		defer arenas[name].world.Close()
	}
	smallest := -1
	fell := rapidFails(t, func(t *rapid.T) {
		a := arenas[rapid.SampledFrom(design.Scenarios).Draw(t, "scenario")]
		res := a.run(drawChoices(t), how{})
		if a.broke(want) {
			smallest = len(res.Deviations) // the last failure that rapid shows is the smallest
			t.Fatalf("%v fell", want)
		}
	})
	if !fell {
		t.Fatalf("%v never fell", want)
	}
	if smallest > 4 {
		t.Errorf("rapid shrinks to %d deviations, want at most 4", smallest)
	}
}

// rapidFails runs a property that is expected to fail, and reports whether it
// did.
func rapidFails(t *testing.T, property func(*rapid.T)) (failed bool) {
	t.Helper()
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
