package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

func parts(t *testing.T, list string) (all []plan.Part) {
	t.Helper()
	for _, name := range strings.Fields(list) {
		p, err := plan.ParsePart(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// without runs the scenario mixed without faults and without these parts.
func without(t *testing.T, list string) *stage {
	t.Helper()
	cfg := world(t, "reference", "mixed")
	var err error
	if cfg.Scenario, err = cfg.Scenario.Without(parts(t, list)...); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, cfg)
	s.replay(t, 0, nil)
	return s
}

// heard are the events of an operation that clients see.
func (s *stage) heard(operation string) (all []history.Event) {
	for _, e := range s.events {
		if e.Operation == operation && (e.Kind == history.KindCall || e.Kind == history.KindReturn) {
			e.Charge, e.Body = "", 0 // the provider numbers all charges, and a reply names its own
			all = append(all, e)
		}
	}
	return all
}

// What is left out does nothing, and what is left does the same at the same
// time and under the same name as in the whole.
func TestWithoutLeavesTheRestAsItIs(t *testing.T) {
	whole, less := without(t, ""), without(t, "client-1 client-2 order-3")
	for _, e := range less.events {
		if e.Process == "client-1" || e.Process == "client-2" || e.Operation != "" && e.Operation != "order-4" {
			t.Errorf("%v of %s by %s happens all the same", e.Kind, e.Operation, e.Process)
		}
	}
	alone := without(t, "client-1 client-2")
	for _, order := range []string{"order-3", "order-4"} {
		if want, got := whole.heard(order), alone.heard(order); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: alone clients see\n%+v\nand among others\n%+v", order, got, want)
		}
	}
}

// A server that is left out is asked nothing: its turn is the next one's.
func TestWithoutAServer(t *testing.T) {
	for gone, want := range map[string]string{"server-1": "server-2", "server-2": "server-1"} {
		asked := map[string]bool{}
		for _, l := range without(t, gone).Lines() {
			if l.Mark == sim.MarkDeliver && l.Who.Kind() == plan.Server {
				asked[l.Who.String()] = true
			}
		}
		if !asked[want] || len(asked) != 1 {
			t.Errorf("without %s there were asked %v", gone, asked)
		}
	}
}

func TestWithoutIsChecked(t *testing.T) {
	for list, want := range map[string]string{
		"client-4":                   "no client-4",
		"server-3":                   "no server-3",
		"order-5":                    "no order-5",
		"client-1 client-2 client-3": "no client is left",
		"client-3 order-1 order-2":   "no client is left",
		"server-1 server-2":          "no server is left",
	} {
		s := scenario(t, "mixed")
		if _, err := s.Without(parts(t, list)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v, want %q", list, err, want)
		}
	}
}

// An order that nobody would pay is not named, and cannot be left out.
func TestPartsAreWhatSomebodyNeeds(t *testing.T) {
	s, err := scenario(t, "mixed").Without(parts(t, "order-4 client-3 order-2")...)
	if err != nil {
		t.Fatal(err)
	}
	if want := parts(t, "client-3 order-2"); !slices.Equal(s.Absent, want) {
		t.Errorf("left out are %v, want %v", s.Absent, want)
	}
	if got, want := s.Parts(), parts(t, "client-2 client-1 order-1 server-2 server-1"); !slices.Equal(got, want) {
		t.Errorf("its parts are %v, want %v", got, want)
	}
}
