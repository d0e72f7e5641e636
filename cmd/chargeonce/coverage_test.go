package main

import (
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// floors are what random runs must go through of a world, at least. They only
// go up: a change that lowers one makes the simulator see less of the protocol.
var floors = []struct {
	config              string
	states, transitions float64
}{
	{"keyed", 770, 1600},
	{"reconciled", 860, 1680},
	{"keyless", 350, 660},
}

func TestCoverageDoesNotFall(t *testing.T) {
	for _, f := range floors {
		if testing.Short() && f.config != "keyed" {
			continue
		}
		r := call(t, "", "coverage", "-cfg", f.config, "-runs", "10000", "-json")
		if r.code != exitHeld || r.errors != "" {
			t.Fatalf("%s: exit code %d, standard error %q, %s", f.config, r.code, r.errors, r.out)
		}
		all := objects(t, r.out)
		o := all[len(all)-1]
		if o["states_reached"].(float64) < f.states || o["transitions_reached"].(float64) < f.transitions {
			t.Errorf("%s: %v states and %v transitions, want %v and %v at least", f.config, o["states_reached"], o["transitions_reached"], f.states, f.transitions)
		}
		// Each action that has missed transitions is explained.
		for _, missed := range o["missed"].([]any) {
			if m := missed.(map[string]any); m["why"] == "" {
				t.Errorf("%s: nothing says why %v is missed in %v of %v cases", f.config, m["action"], m["missed"], m["all"])
			}
		}
	}
}

// No explanation is of an action that no world has.
func TestEveryExplanationIsOfAnAction(t *testing.T) {
	var has [protocol.KindCount]bool
	for _, name := range []string{"keyed", "reconciled", "keyless", "keyless-no-lookup"} {
		w, err := newCoveredWorld(name)
		if err != nil {
			t.Fatal(err)
		}
		for kind, n := range refine.NewSpace(w.model).Transitions() {
			has[kind] = has[kind] || n.All > 0
		}
	}
	for kind := range whyMissed {
		if !has[kind] {
			t.Errorf("%v is explained, and none of these worlds has it", kind)
		}
	}
}

func TestCoverage(t *testing.T) {
	r := call(t, "", "coverage", "-runs", "300", "-missed")
	if r.code != exitHeld {
		t.Fatalf("exit code %d, %s", r.code, r.errors)
	}
	for _, want := range []string{"world       keyed: handlers: 2", "states      ", " of 4,217 (", "  HorizonEnds: it comes 9 s after", "\n  TimeOut, TimeOutEarly, LandApproved", "\nCrash\n  record claimed", "\nverdict     held: "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if again := call(t, "", "coverage", "-runs", "300", "-missed"); again != r {
		t.Error("two reports differ")
	}
	lines := objects(t, call(t, "", "coverage", "-runs", "300", "-missed", "-json").out)
	o := lines[len(lines)-1]
	if missed := o["transitions"].(float64) - o["transitions_reached"].(float64); float64(len(lines)-1) != missed || missed == 0 {
		t.Errorf("%d transitions are listed, and %v were missed", len(lines)-1, missed)
	}
}

func TestCoverageRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		`no cfg "keyedd"`:            {"coverage", "-cfg", "keyedd"},
		`no cfg "no-guard"`:          {"coverage", "-cfg", "no-guard"},
		"no simulated provider":      {"coverage", "-cfg", "foreign"},
		"whole number, 1 or more":    {"coverage", "-runs", "0"},
		`"x" is too much`:            {"coverage", "x"},
		"there is no flag -run; did": {"coverage", "-run", "3"},
	} {
		if r := call(t, "", args...); r.code != exitUsage || !strings.Contains(r.errors, want) || r.out != "" {
			t.Errorf("%v: exit code %d, standard error %q, want %q", args, r.code, r.errors, want)
		}
	}
}
