package tla

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const heldOutput = `Model checking completed. No error has been found.
46690 states generated, 12429 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 18.
Finished in 03s at (2000-01-01 00:00:00)
`

const invariantOutput = `Error: Invariant SingleOwner is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\ told = {}
/\ budget = 2

State 2: <Claim line 212, col 5 to line 222, col 64 of module ChargeOnce>
/\ told = {}
/\ budget = 1

7 states generated, 6 distinct states found, 4 states left on queue.
The depth of the complete state graph search is 2.
`

func TestParseReport(t *testing.T) {
	for _, c := range []struct {
		name   string
		exit   int
		output string
		want   Report
	}{
		{"held", 0, heldOutput, Report{Outcome: Holds, Generated: 46690, Distinct: 12429, Depth: 18}},
		{"invariant", 12, invariantOutput, Report{Outcome: Invariant, Property: "SingleOwner", Generated: 7, Distinct: 6, Depth: 2}},
		{"step", 13, "Error: Action property FencedWrites is violated.\n", Report{Outcome: StepBreaks, Property: "FencedWrites"}},
		{"liveness", 13, "Error: Temporal properties were violated.\n", Report{Outcome: NotLive}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseReport(c.exit, c.output)
			if err != nil {
				t.Fatal(err)
			}
			trace := got.Trace
			got.Trace = nil
			if got.Outcome != c.want.Outcome || got.Property != c.want.Property ||
				got.Distinct != c.want.Distinct || got.Generated != c.want.Generated || got.Depth != c.want.Depth {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if c.name == "invariant" && (len(trace) != 2 || trace[0].Action != "" || trace[1].Action != "Claim" || trace[1].Text != "/\\ told = {}\n/\\ budget = 1") {
				t.Errorf("the trace is %q", trace)
			}
		})
	}
}

// TestParseReportRefuses: what is not clearly said is an error and no pass.
func TestParseReportRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		exit   int
		output string
	}{
		{"nothing was said", 0, ""},
		{"no depth", 0, strings.Split(heldOutput, "The depth")[0]},
		{"a violation that ended well", 0, invariantOutput},
		{"a pass that did not end well", 12, heldOutput},
		{"parse error", 150, "Error: Parsing or semantic analysis failed.\n"},
		{"configuration", 151, "Error: The invariant Nope specified in the configuration file is not defined.\n"},
		{"killed", -1, "Progress(10)"},
	} {
		if r, err := ParseReport(c.exit, c.output); err == nil {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// TestStopwatch: TLC's words come in pieces, and the time is between the two
// of which both were said.
func TestStopwatch(t *testing.T) {
	var s stopwatch
	say := func(text string) {
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	say("Computing initial states...\nFinished comp")
	if !s.begun.IsZero() {
		t.Error("it has begun before TLC said so")
	}
	say("uting initial states: 1 distinct state generated.\n")
	begun := s.begun
	say("Progress(10)\n")
	if s.between() != 0 || begun.IsZero() || s.begun != begun {
		t.Errorf("begun at %v and then %v, and over after %v", begun, s.begun, s.between())
	}
	s.begun = begun.Add(-time.Minute)
	say(heldOutput)
	if took := s.between(); took < time.Minute || s.text.String()[:9] != "Computing" {
		t.Errorf("it took %v", took)
	}
}

func TestReadConfigRefuses(t *testing.T) {
	for _, text := range []string{
		"CONSTANTS\n  A = 1\n  A = 2\n", // twice
		"CONSTANTS\n  A <- B\n",         // not of this package's form
		"SYMMETRY Perms\n",              // the same
		"Stray\n",                       // in no section
	} {
		files := fstest.MapFS{"x.cfg": {Data: []byte(text)}}
		if c, err := ReadConfig(files, "x.cfg"); err == nil {
			t.Errorf("%q is read as %+v", text, c)
		}
	}
}

func TestFindToolsSaysWhatIsMissing(t *testing.T) {
	t.Setenv(JarVariable, filepath.Join(t.TempDir(), "no.jar"))
	if _, err := FindTools(); !errors.Is(err, ErrNoTools) {
		t.Errorf("%v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := FindTools(); !errors.Is(err, ErrNoTools) || !strings.Contains(err.Error(), "java") {
		t.Errorf("%v", err)
	}
}

func TestCanonicalValues(t *testing.T) {
	for text, want := range map[string]string{
		`{2, 1, -1}`:                          `{-1, 1, 2}`,
		`[b |-> "x y", a |-> << {}, TRUE >>]`: `[a |-> <<{}, TRUE>>, b |-> "x y"]`,
	} {
		if got, err := canonical(text); got != want || err != nil {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"{1", "[a 1]", "1 2", `"x`, "{1 2}", "-"} {
		if got, err := canonical(text); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
}
