package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/sim/search"
)

// smallSearch is a search of one world that takes some thousand runs.
var smallSearch = []string{"search", "-scenario", "one-payment", "-profile", "keyed", "-faults", "drop,crash,pause"}

// atThisRate is of the machine and the moment.
var atThisRate = regexp.MustCompile(`at\s+this\s+rate\s+[0-9hms.]+`)

func with(args []string, more ...string) []string {
	return append(append([]string{}, args...), more...)
}

func TestSearchHeld(t *testing.T) {
	directory := here(t)
	inNewDirectory(t)
	r := call(t, "", with(smallSearch, "-workers", "1")...)
	if r.code != exitHeld || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	golden(t, directory, "search-held.txt", atThisRate.ReplaceAllString(r.out, "at this rate X"))
	if left := files(t); len(left) > 0 {
		t.Errorf("nothing fell, and files were written: %v", left)
	}
}

func TestSearchViolated(t *testing.T) {
	inNewDirectory(t)
	r := call(t, "", "search", "-design", saver, "-faults", "crash,hold")
	if r.code != exitSafety || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	for _, want := range []string{
		"\nviolated SingleCharge\n", "\nminimal     no plan with fewer deviations violates\n", "chargeonce replay " + savers,
		"\nverdict     violated: SingleCharge (as the gallery says)\n", "no plan of at most 0 deviations out of these classes (hold, crash)",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the report does not say %q:\n%s", want, r.out)
		}
	}
	if again := call(t, "", "replay", savers); again.code != exitSafety || !strings.Contains(again.out, "as the plan says") {
		t.Errorf("the plan replays with exit code %d:\n%s", again.code, again.out)
	}
}

func TestSearchJSON(t *testing.T) {
	inNewDirectory(t)
	for _, tt := range []struct {
		name  string
		args  []string
		code  exitCode
		wants map[string]any
	}{
		{"held", smallSearch, exitHeld, map[string]any{
			"verdict": "held", "design": "reference", "scenario": "one-payment", "profile": "keyed", "deviations": 2.0,
			"held_to": 2.0, "pruned": 11.0, "complete": true, "invariant": nil, "plan": nil, "minimal": nil,
		}},
		{"violated", []string{"search", "-design", saver}, exitSafety, map[string]any{
			"verdict": "violated", "design": saver, "deviations": 1.0, "held_to": 0.0, "complete": false, "invariant": "SingleCharge",
			"minimal": true, "plan_file": savers, "expect": "SingleCharge",
		}},
		{"undecided", with(smallSearch, "-budget", "200"), exitUndecided, map[string]any{
			"verdict": "undecided", "held_to": 1.0, "plans": 200.0, "complete": false, "plan": nil,
		}},
		{"vacuous", with(smallSearch[:5], "-faults", "lag"), exitVacuous, map[string]any{"verdict": "vacuous"}},
		{"liveness", []string{"search", "-design", "no-retry", "-faults", "drop"}, exitLiveness, map[string]any{"invariant": "Resolves"}},
		{"no faults", with(smallSearch[:5], "-faults", "none"), exitHeld, map[string]any{"plans": 1.0, "deviations": 2.0}},
		{"sqlite", with(smallSearch, "-registry", "sqlite", "-deviations", "1"), exitHeld, map[string]any{"registry": "sqlite"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := call(t, "", with(tt.args, "-json")...)
			o := last(t, r.out)
			if r.code != tt.code || strings.Count(r.out, "\n") != 1 {
				t.Errorf("exit code %d, want %d; %s %s", r.code, tt.code, r.out, r.errors)
			}
			for name, want := range tt.wants {
				if o[name] != want {
					t.Errorf("%s is %v, want %v", name, o[name], want)
				}
			}
			if _, ok := o["runs_per_second"].(float64); !ok {
				t.Error("there is no runs_per_second")
			}
		})
	}
}

// Stopped by its budget again and again, a search comes to the same as in one
// go; the file is refused by any other search.
func TestSearchResumes(t *testing.T) {
	inNewDirectory(t)
	whole := last(t, call(t, "", with(smallSearch, "-json")...).out)
	resumed := with(smallSearch, "-json", "-budget", "1500", "-resume", "x.search")
	calls := 1
	for ; ; calls++ {
		r := call(t, "", resumed...)
		if r.code == exitHeld {
			o := last(t, r.out)
			if o["plans"] != whole["plans"] || o["held_to"] != 2.0 || o["next"] != whole["next"] || o["pruned"] != whole["pruned"] {
				t.Errorf("in parts %v, in one go %v", o, whole)
			}
			break
		}
		// What is pruned in a layer that is not done is no part of the theorem.
		if o := last(t, r.out); o["pruned"] != whole["pruned"] || strings.Contains(o["theorem"].(string), "were not run") {
			t.Errorf("call %d: %v", calls, o)
		}
		if r.code != exitUndecided || calls > 100 {
			t.Fatalf("call %d: exit code %d, %s %s", calls, r.code, r.out, r.errors)
		}
	}
	if calls < 3 {
		t.Errorf("%d calls", calls)
	}
	if r := call(t, "", with(smallSearch, "-resume", "x.search")...); r.code != exitHeld || !strings.Contains(r.out, "resumed     from x.search") {
		t.Errorf("exit code %d: %s", r.code, r.out)
	}
	text := read(t, "x.search")
	for _, tt := range []struct {
		name, text string
		args       []string
		says       string
	}{
		{"other faults", text, []string{"search", "-scenario", "one-payment", "-profile", "keyed"}, "another search: it says \"faults drop,crash,pause\""},
		{"another design", text, with(smallSearch, "-design", "check-then-insert"), "another search: it says \"design reference\""},
		{"another scenario", text, with(smallSearch, "-scenario", "decline"), "it is about one-payment with keyed, and this one about decline"},
		{"one scenario more", text, with(smallSearch, "-scenario", "one-payment,decline"), "does not say how far"},
		{"other code", strings.Replace(text, " root ", " root f", 1), smallSearch, "the code has changed"},
		{"a line too much", text + "at one-payment\n", smallSearch, "a line too much"},
		{"nonsense", "hello\n", smallSearch, "chargeonce search v2"},
		{"an old one", strings.Replace(text, "search v2", "search v1", 1), smallSearch, "chargeonce search v2"},
		{"less than nothing", strings.Replace(text, " skip 0", " skip -1", 1), smallSearch, "does not say how far"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "other code" {
				at := strings.Index(tt.text, " root f")
				tt.text = tt.text[:at+22] + tt.text[at+23:] // 16 digits, another first one
			}
			write(t, "y.search", tt.text)
			r := call(t, "", with(tt.args, "-resume", "y.search")...)
			if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, tt.says) {
				t.Errorf("exit code %d, %q, %s; want it to say %q", r.code, r.out, r.errors, tt.says)
			}
			if read(t, "y.search") != tt.text {
				t.Error("the file was changed")
			}
		})
	}
}

func TestSearchInterrupted(t *testing.T) {
	inNewDirectory(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := callWith(ctx, "", with(smallSearch, "-resume", "x.search")...)
	if r.code != exitUndecided || !strings.Contains(r.out, "the same command goes on from x.search") || !strings.Contains(r.out, "verdict     undecided: stopped after ") {
		t.Errorf("exit code %d:\n%s%s", r.code, r.out, r.errors)
	}
	if whole := call(t, "", with(smallSearch, "-resume", "x.search")...); whole.code != exitHeld {
		t.Errorf("it does not go on: exit code %d, %s", whole.code, whole.errors)
	}
	if r := callWith(ctx, "", smallSearch...); !strings.Contains(r.out, "-resume FILE") {
		t.Errorf("it does not say how to go on:\n%s", r.out)
	}
}

func TestSearchBadInput(t *testing.T) {
	inNewDirectory(t)
	for _, tt := range []struct{ args, says string }{
		{"-deviations -1", "from 0"},
		{"-design refrence", "reference"},
		{"-faults lightning", "lightning"},
		{"-faults forget-keys", "-break A1"},
		{"-resume nowhere/x", "nowhere/x"},
		{"-resume .", "directory"},
		{"-junit nowhere/x", "nowhere/x"},
		{"-profile stripe", "keyed"},
		{"reference", "too much"},
	} {
		r := call(t, "", append([]string{"search"}, strings.Fields(tt.args)...)...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, tt.says) {
			t.Errorf("search %s: exit code %d, %q, %q", tt.args, r.code, r.out, r.errors)
		}
	}
	if left := files(t); len(left) > 0 {
		t.Errorf("bad input wrote files: %v", left)
	}
}

// The faults that are tried if none is named are those of a machine and a
// network; more come on with -break, and with a design that is known to fall.
func TestSearchFaults(t *testing.T) {
	for _, tt := range []struct {
		args string
		want string
	}{
		{"", "drop,duplicate,hold,crash,pause"},
		{"-faults -hold", "drop,duplicate,crash,pause"},
		{"-faults skew", "skew"},
		{"-break A1", "drop,duplicate,hold,crash,pause,forget-keys"},
		{"-design no-retry", "drop,duplicate,hold,hold-until,cut-link,cut-node,stall-link,stall-node,crash,pause,skew,jump,refuse,freeze,decline,fail-before,fail-after,late,lag"},
	} {
		v := searchVerb()
		fs := v.flags()
		o := &searchOptions{subjectOptions: subjectOptions{design: "reference"}}
		fs.StringVar(&o.design, "design", "reference", "")
		fs.Var(&o.faults, "faults", "")
		fs.Var(&o.broken, "break", "")
		if err := fs.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		e, err := o.resolve()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.faults.names(), ","); got != tt.want {
			t.Errorf("search %s tries %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestSearchBuilds(t *testing.T) {
	inNewDirectory(t)
	r := call(t, "", "search", "-design", saver, "-json", "-github", "-junit", "x.xml")
	if r.code != exitSafety || strings.Count(r.out, "\n") != 1 || !strings.HasPrefix(r.errors, "::error file="+savers+",title=chargeonce search "+saver+"::SingleCharge falls by 1 deviation: order-1") {
		t.Errorf("exit code %d, %s, %s", r.code, r.out, r.errors)
	}
	if xml := read(t, "x.xml"); !strings.Contains(xml, `<failure type="violated" message="SingleCharge falls by 1 deviation`) {
		t.Error(xml)
	}
}

// What reaches a file is there as a whole, and one that cannot be written
// does not end the search.
func TestKeeper(t *testing.T) {
	inNewDirectory(t)
	s := &standing{identity: []string{"design x"}, worlds: []worldStanding{{"a", "b", 7, search.Cursor{Layer: 1, Unit: 2, Skip: 3, Plans: 4, Of: 5, Pruned: 8, PrunedBelow: 10, Done: 6, Next: 7, NextPruned: 9}}}}
	var said []string
	k := &keeper{file: "f", standing: s, warn: func(err error) { said = append(said, err.Error()) }}
	k.save()
	k.saveNow() // too soon
	if got, want := read(t, "f"), "chargeonce search v2\ndesign x\nat a b root 0000000000000007 layer 1 unit 2 skip 3 plans 4 of 5 pruned 8 10 done 6 next 7 pruned 9\n"; got != want || len(said) > 0 {
		t.Errorf("got %q, want %q; %v", got, want, said)
	}
	other := &keeper{file: "f", standing: &standing{identity: s.identity, worlds: []worldStanding{{"a", "b", 7, search.Cursor{}}}}}
	if found, err := other.load(); err != nil || !found || other.worlds[0] != s.worlds[0] {
		t.Errorf("%v, %v, %+v", found, err, other.worlds)
	}
	if err := os.Mkdir("d", 0o777); err != nil {
		t.Fatal(err)
	}
	// Whether a file can be written is known before the search.
	first := &keeper{file: filepath.Join("d", "f"), standing: s}
	if found, err := first.load(); err != nil || found || read(t, first.file) != read(t, "f") {
		t.Errorf("%v, %v", found, err)
	}
	inTheWay := fmt.Sprintf("%s.%d.new", first.file, os.Getpid())
	if err := os.Mkdir(inTheWay, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := first.load(); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v", err)
	}
	k.file = filepath.Join("d", "gone", "f")
	k.save()
	if len(said) != 1 || !strings.Contains(said[0], "is not written") {
		t.Errorf("%v", said)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
