package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

const tracedPlan = `chargeonce plan v1
design reference
scenario two-replicas-one-key
profile keyed
weather 0
crash server-1 after charge of client-1/order-1/try-1
`

func TestTrace(t *testing.T) {
	r := call(t, tracedPlan, "trace", "-")
	if r.code != exitHeld || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	for _, want := range []string{
		"order-1, key page-7f3a\n", "10ms  Claim(1, p) ", "by run 1\n                                             server-1/1's charge: captured\n", "Crash(1)", "LeaseEnds", "LookUp(6) to complete",
		"no more: run 1 at complete for p on v1 with paid 1\n", "record succeeded v2 of run 6 for p, reply paid 1\n", "verdict     held: each step is of the model, in 26 actions\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the trace does not say %q:\n%s", want, r.out)
		}
	}
	if again := call(t, tracedPlan, "trace", "-"); again != r {
		t.Error("two traces differ")
	}
}

func TestTraceJSON(t *testing.T) {
	all := objects(t, call(t, tracedPlan, "trace", "-ndjson", "-").out)
	if len(all) != 27 || all[26]["verdict"] != "held" || all[26]["actions"] != 26.0 {
		t.Fatalf("%d lines, the last is %v", len(all), all[len(all)-1])
	}
	first := all[0]
	if first["operation"] != "order-1" || first["name"] != "Claim" || first["slot"] != 1.0 || first["at_ns"] != 10e6 ||
		first["state"] != "record claimed v1 of run 1 for p, lease runs; run 1 at charge for p on v1, may send" {
		t.Errorf("%v", first)
	}
}

// A design that is not the protocol is followed up to the step that is none of
// the model's.
func TestTraceOfAnotherDesign(t *testing.T) {
	for _, args := range [][]string{{"trace", "-design", "charge-then-save", "-"}, {"trace", "-ndjson", "-design", "charge-then-save", "-"}} {
		r := call(t, tracedPlan, args...)
		if r.code != exitSafety || !strings.Contains(r.out, "server-2/1 ends and answers in-progress") || !strings.Contains(r.out, "in the model it is not") {
			t.Errorf("%v: exit code %d:\n%s", args, r.code, r.out)
		}
	}
}

func TestTraceRefuses(t *testing.T) {
	inNewDirectory(t)
	for want, args := range map[string][]string{
		"breaks [A2]":      {"trace", "-"},
		"want PLANFILE":    {"trace"},
		"no design is":     {"trace", "-design", "referense", "-"},
		"too much: want o": {"trace", "a", "b"},
	} {
		r := call(t, strings.Replace(tracedPlan, "weather", "break A2\nweather", 1), args...)
		if r.code != exitUsage || !strings.Contains(r.errors, want) || r.out != "" {
			t.Errorf("%v: exit code %d, standard error %q, want %q", args, r.code, r.errors, want)
		}
	}
}

// tlcTools skips a test where TLC cannot run, except in CI.
func tlcTools(t *testing.T) tla.Tools {
	t.Helper()
	tools, err := tla.FindTools()
	if errors.Is(err, tla.ErrNoTools) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// TestTraceForTLC lets TLC read what the verb writes.
func TestTraceForTLC(t *testing.T) {
	tools := tlcTools(t)
	dir := filepath.Join(t.TempDir(), "new")
	if r := call(t, tracedPlan, "trace", "-tla", dir, "-"); r.code != exitHeld || !strings.Contains(r.out, "are in") {
		t.Fatalf("exit code %d, %s, %s", r.code, r.errors, r.out)
	}
	report, err := tools.Run(context.Background(), tla.Job{Dir: dir, Module: tla.TraceModule, Config: tla.TraceModule + ".cfg"})
	if err != nil || report.Outcome != tla.Holds || report.Distinct != 27 {
		t.Errorf("%+v, %v", report, err)
	}
}

// behavioursOf records behaviours of the reference with one profile: of random runs in
// all scenarios with all faults within the assumptions, those that are long
// enough to tell something.
func behavioursOf(t *testing.T, profile provider.Profile, enough int) (protocol.Config, [][]protocol.Action) {
	t.Helper()
	d, err := designs.ByName("reference")
	if err != nil {
		t.Fatal(err)
	}
	var subjects []search.Subject
	for _, s := range sim.Scenarios {
		subjects = append(subjects, search.Subject{Design: d, Scenario: s, Profile: profile, Classes: sim.Within()})
	}
	open, shut, err := openStores("memory", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer shut()
	var model protocol.Config
	var all [][]protocol.Action
	err = search.FollowAll(search.Options{Subjects: subjects, Runs: 2000, Seed: 3, Open: open}, func(_ int, f *search.Followed) bool {
		if f.Divergence != nil {
			t.Fatalf("%v\n%s", f.Divergence.Sentence(), f.Plan)
		}
		model = f.Model
		for _, actions := range f.Behaviours() {
			if _, _, err := tla.Counted(model, [][]protocol.Action{actions}); err != nil || len(actions) < 12 || len(actions) > 60 {
				continue
			}
			if all = append(all, actions); len(all) == enough {
				return false
			}
		}
		return true
	})
	if err != nil || len(all) != enough {
		t.Fatalf("%d behaviours, want %d: %v", len(all), enough, err)
	}
	return model, all
}

// ask lets TLC check behaviours.
func ask(t *testing.T, tools tla.Tools, c *protocol.Config, all []tla.Behaviour, deadlocks string) tla.Report {
	t.Helper()
	dir := t.TempDir()
	module, cfg := tla.TraceFiles(c, all)
	specification, err := tla.Files.ReadFile("ChargeOnce.tla")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Trace.tla": module, "Trace.cfg": strings.Replace(cfg, "CHECK_DEADLOCK TRUE", "CHECK_DEADLOCK "+deadlocks, 1), "ChargeOnce.tla": string(specification),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	report, err := tools.Run(context.Background(), tla.Job{Dir: dir, Module: tla.TraceModule, Config: "Trace.cfg"})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestTLCAcceptsWhatTheReferenceDid hands recorded behaviours to TLC: the
// specification has every one of them, to the end.
func TestTLCAcceptsWhatTheReferenceDid(t *testing.T) {
	tools := tlcTools(t)
	for _, profile := range provider.Profiles {
		if testing.Short() && profile.Name != "keyed" {
			continue
		}
		t.Run(profile.Name, func(t *testing.T) {
			model, actions := behavioursOf(t, profile, 20)
			c, behaviours, err := tla.Counted(model, actions)
			if err != nil {
				t.Fatal(err)
			}
			states := 0
			for _, b := range behaviours {
				states += len(b)
			}
			if report := ask(t, tools, &c, behaviours, "TRUE"); report.Outcome != tla.Holds || report.Distinct != states {
				t.Errorf("TLC says %v after %d of %d states: %v", report.Outcome, report.Distinct, states, last1(report.Trace))
			}
		})
	}
}

func last1(trace []tla.TraceState) string {
	if len(trace) == 0 {
		return ""
	}
	return trace[len(trace)-1].Text
}

// TestTLCRejectsWhatNobodyDid alters one state of each recorded behaviour. The
// specification has none of them: TLC comes as far as the state before it in
// each, and no further.
func TestTLCRejectsWhatNobodyDid(t *testing.T) {
	tools := tlcTools(t)
	for _, name := range []string{"keyed", "keyless-lookup"} {
		t.Run(name, func(t *testing.T) {
			profile, err := provider.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			model, actions := behavioursOf(t, profile, 20)
			c, behaviours, err := tla.Counted(model, actions)
			if err != nil {
				t.Fatal(err)
			}
			reached := 0
			for i := range behaviours {
				at := alter(t, &c, behaviours, i)
				reached += at
			}
			if report := ask(t, tools, &c, behaviours, "FALSE"); report.Outcome != tla.Holds || report.Distinct != reached {
				t.Errorf("TLC says %v after %d states, want %d: it takes a state that was altered", report.Outcome, report.Distinct, reached)
			}
			if report := ask(t, tools, &c, behaviours[:1], "TRUE"); report.Outcome != tla.Deadlock {
				t.Errorf("TLC says %v, want a deadlock", report.Outcome)
			}
		})
	}
}

// alter puts a state from another behaviour into one, somewhere in its middle,
// that the state before it cannot lead to; it returns its index.
func alter(t *testing.T, c *protocol.Config, all []tla.Behaviour, i int) int {
	t.Helper()
	b := slices.Clone(all[i])
	other := all[(i+1)%len(all)]
	at := len(b)/2 + i%3
	for _, s := range other[2:] {
		possible := false
		protocol.Next(c, b[at-1], func(_ protocol.Action, next protocol.State) { possible = possible || next == s })
		if !possible && s != b[at-1] {
			b[at] = s
			all[i] = b
			return at
		}
	}
	t.Fatal(fmt.Sprint("nothing to alter in behaviour ", i))
	return 0
}

// What a plan leaves out of its scenario is left out here, too.
func TestTraceWithoutAServer(t *testing.T) {
	r := call(t, strings.Replace(tracedPlan, "profile keyed\nweather 0\ncrash server-1 after charge of client-1/order-1/try-1\n", "without client-2\nprofile keyed\nweather 0\n", 1), "trace", "-")
	if r.code != exitHeld || strings.Contains(r.out, "Claim(2") || !strings.Contains(r.out, "in 5 actions") {
		t.Errorf("exit code %d, %s:\n%s", r.code, r.errors, r.out)
	}
}
