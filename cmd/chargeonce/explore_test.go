package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/tla"
)

func TestExploreHeld(t *testing.T) {
	directory := here(t)
	r := call(t, "", "explore", "-config", "unstored")
	if r.code != exitHeld || r.errors != "" {
		t.Errorf("exit code %d, %q", r.code, r.errors)
	}
	golden(t, directory, "explore-held.txt", r.out)
}

// What falls, falls in so few actions for any number of workers, and is shown
// action by action.
func TestExploreDefect(t *testing.T) {
	directory := here(t)
	for _, tt := range []struct {
		args, file string
		code       exitCode
	}{
		{"-defect NoGuard -invariant SingleCharge", "explore-violated.txt", exitSafety},
		{"-defect no-resolve", "explore-lasso.txt", exitLiveness},
		{"-sequential -defect UnknownMeansFailed", "explore-sequential.txt", exitSafety},
		{"-defect GuardOrEqual", "explore-window.txt", exitSafety},
		{"-config retention-no-tombstone -defect ForgetsHop -invariant SingleCharge", "explore-retention.txt", exitSafety},
		{"-defect refund-own-choice -invariant BoundedRefunds", "explore-compensate.txt", exitSafety},
	} {
		for _, workers := range []string{"1", "3"} {
			r := call(t, "", strings.Fields("explore -workers "+workers+" "+tt.args)...)
			if r.code != tt.code || r.errors != "" {
				t.Errorf("%s: exit code %d, %q", tt.args, r.code, r.errors)
			}
			golden(t, directory, tt.file, r.out)
		}
	}
}

// Each defect is shown in every world in which the manifest has it, in as many
// states as there.
func TestExploreFindsEveryDefect(t *testing.T) {
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		t.Fatal(err)
	}
	worlds, err := readWorlds()
	if err != nil {
		t.Fatal(err)
	}
	shown := make(map[string]bool)
	for _, e := range m.Specifications {
		twin, ok := tla.TwinOf(e.Module)
		if !ok || e.Base == "" || e.Kind == tla.KindReachable {
			continue
		}
		broken, err := brokenIn(e)
		if err != nil {
			continue // a bound, and no defect
		}
		d := broken.Name
		shown[twin.Module+d] = true
		args := []string{"explore", "-json", "-defect", d}
		if first, _ := worlds.firstFor(d); first != e.Base { // it shows elsewhere, too
			args = append(args, "-config", e.Base)
		}
		for property, states := range e.Falls {
			o := last(t, call(t, "", append(args, "-invariant", property)...).out)
			if o["config"] != e.Base || o["property"] != property || o["length"] != float64(states-1) || len(o["trace"].([]any)) != states {
				t.Errorf("%s in %v: %v falls in %v actions; the manifest: %s in %s in %d states", d, o["config"], o["property"], o["length"], property, e.Base, states)
			}
		}
		if len(e.Falls) == 0 {
			if e.Property != "" {
				args = append(args, "-invariant", e.Property)
			}
			o := last(t, call(t, "", args...).out)
			if want := map[bool]string{true: "held", false: "violated"}[e.Outcome == tla.Holds]; o["verdict"] != want || o["config"] != e.Base {
				t.Errorf("%s in %v: %v; the manifest: %s in %s", d, o["config"], o["verdict"], want, e.Base)
			}
		}
	}
	for _, twin := range tla.Twins() {
		for _, d := range twin.Defects {
			if !shown[twin.Module+d.Name] {
				t.Errorf("the manifest does not show %s of %s", d.Name, twin.Module)
			}
		}
	}
}

func TestExploreJSON(t *testing.T) {
	r := call(t, "", "explore", "-config", "keyless-no-lookup", "-json")
	o := last(t, r.out)
	if r.code != exitHeld || o["verdict"] != "held" || o["complete"] != true || o["length"] != 0.0 || o["property"] != "" || o["defect"] != "" {
		t.Errorf("exit code %d, %v", r.code, o)
	}
	if e := manifestEntry(t, "keyless-no-lookup"); o["distinct"] != float64(e.Distinct) || o["generated"] != float64(e.Generated) || o["depth"] != float64(e.Depth) || o["bytes_per_state"].(float64) <= 0 {
		t.Errorf("%v", o)
	}
	if reached, unreached := fmt.Sprint(o["reached"]), fmt.Sprint(o["unreached"]); !strings.Contains(reached, "Reviewed") || !strings.Contains(unreached, "LookedUp") {
		t.Errorf("reached %s, unreached %s", reached, unreached)
	}
	// A defect of another world changes nothing here, and it says so.
	r = call(t, "", "explore", "-config", "unstored", "-defect", "NoMark")
	if r.code != exitHeld || !strings.Contains(strings.Join(strings.Fields(r.out), " "), "NoMark is known to show in keyless") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
}

// A wrong design of the gallery stands for the defect that it has.
func TestExploreDesign(t *testing.T) {
	design := last(t, call(t, "", "explore", "-json", "-defect", "unfenced-completion", "-invariant", "FencedWrites").out)
	defect := last(t, call(t, "", "explore", "-json", "-config", "keyed", "-defect", "NoFence", "-invariant", "FencedWrites").out)
	if design["defect"] != "NoFence" || design["config"] != "keyed" || design["length"] != defect["length"] {
		t.Errorf("the design: %v in %v, %v actions; its defect: %v actions", design["defect"], design["config"], design["length"], defect["length"])
	}
	for name, want := range map[string]string{
		"one-scope": "nothing like the design one-scope: it has one operation",
		"reference": "the design reference has no defect; its world is -config keyed",
	} {
		if r := call(t, "", "explore", "-defect", name); r.code != exitUsage || !strings.Contains(r.errors, want) {
			t.Errorf("%s: exit code %d, %q", name, r.code, r.errors)
		}
	}
}

// manifestEntry is what the manifest says of a cfg file.
func manifestEntry(t *testing.T, config string) tla.Entry {
	t.Helper()
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := m.Entry(config)
	if !ok {
		t.Fatalf("the manifest has no %s", config)
	}
	return e
}

// The protocol is what the sequential specification says, to whoever looks from
// outside.
func TestExploreSequential(t *testing.T) {
	for _, config := range []string{"unstored", "keyless-no-lookup"} {
		r := call(t, "", "explore", "-json", "-sequential", "-config", config)
		if o := last(t, r.out); r.code != exitHeld || o["verdict"] != "held" || fmt.Sprint(o["judged"]) != "[Sequential]" || len(o["reached"].([]any)) == 0 {
			t.Errorf("exit code %d, %v", r.code, o)
		}
	}
}

func TestExploreUndecided(t *testing.T) {
	r := call(t, "", "explore", "-max-memory", "1", "-json")
	if o := last(t, r.out); r.code != exitUndecided || o["verdict"] != "undecided" || o["complete"] != false || !strings.Contains(o["reason"].(string), "-max-memory") {
		t.Errorf("exit code %d, %v", r.code, o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r = callWith(ctx, "", "explore")
	if r.code != exitUndecided || !strings.Contains(r.out, "undecided: stopped before every state") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
}

func TestExploreRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"-config keyd":                       "did you mean keyed",
		"-config no-guard":                   "there is no config",
		"-config keyless -defect Forgetful":  "the model of keyless has no defect",
		"-defect NoGaurd":                    "did you mean NoGuard",
		"-defect xyzzy":                      "BreakA6",
		"-invariant SingelCharge":            "did you mean SingleCharge",
		"-config live-asking -invariant Xyz": "Resolves, NotWedged",
		"-sequential -config window-keyed":   "has nothing",
		"-sequential -invariant StableReply": "Sequential",
		"-symmetry -config window-keyed":     "has none",
		"-symmetry -config live-asking":      "what is live",
		"-symmetry -sequential":              "has none",
		"-max-memory -1":                     "from 0",
		"-workers x":                         "whole number",
		"keyed":                              "too much",
	} {
		r := call(t, "", append([]string{"explore"}, strings.Fields(args)...)...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, r.code, r.errors, want)
		}
	}
}

func TestChanges(t *testing.T) {
	before := []tla.Fact{{Of: "record", Is: "a"}, {Of: "run 1", Is: "b"}, {Of: "on its way", Is: "c"}, {Of: "on its way", Is: "d"}, {Of: "left", Is: "e"}}
	after := []tla.Fact{{Of: "record", Is: "f"}, {Of: "on its way", Is: "d"}, {Of: "on its way", Is: "g"}, {Of: "left", Is: "e"}}
	want := []tla.Fact{{Of: "record", Is: "f"}, {Of: "on its way", Is: "g"}, {Of: "run 1", Is: "is over"}, {Of: "on its way", Is: "no more: c"}}
	if got := changes(before, after); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := changes(after, after); got != nil {
		t.Errorf("nothing changed: %v", got)
	}
}
