package tla

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	// requireVariable: a machine that must not skip sets it to 1.
	requireVariable = "CHARGEONCE_REQUIRE_TLC"
	// nightlyVariable: 1 asks TLC the large questions too.
	nightlyVariable = "CHARGEONCE_NIGHTLY"
)

var update = flag.Bool("update", false, "write what was found to manifest.json and README.md instead of comparing")

func readManifest(t *testing.T) Manifest {
	t.Helper()
	m, err := ReadManifest(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func writeManifest(t *testing.T, m Manifest) {
	t.Helper()
	if err := m.Write("manifest.json"); err != nil {
		t.Fatal(err)
	}
}

func readConfig(t *testing.T, e Entry) Config {
	t.Helper()
	c, err := ReadConfig(os.DirFS("."), e.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tools finds TLC, or skips, or fails where skipping is not allowed.
func tools(t *testing.T) Tools {
	t.Helper()
	found, err := FindTools()
	switch {
	case errors.Is(err, ErrNoTools) && os.Getenv(requireVariable) != "1":
		t.Skipf("%v (%s=1 makes this a failure)", err, requireVariable)
	case err != nil:
		t.Fatal(err)
	}
	return found
}

// TestSpecifications asks TLC every question of the manifest.
func TestSpecifications(t *testing.T) {
	tlc := tools(t)
	m := readManifest(t)
	for i, e := range m.Specifications {
		t.Run(e.Config, func(t *testing.T) {
			skipByClass(t, e)
			if e.Class == ClassCI && !*update { // small ones, which need no machine for themselves
				t.Parallel()
			}
			c := readConfig(t, e)
			r, err := tlc.Run(withTimeLeft(t), Job{Dir: ".", Module: e.Module, Config: e.ConfigFile()})
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Measured(c, r)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				m.Specifications[i] = got
				writeManifest(t, m)
				return
			}
			if got.Expectation() != e.Expectation() {
				t.Errorf("TLC: %s;\nthe manifest: %s", got.Expectation(), e.Expectation())
			}
		})
	}
}

// withTimeLeft returns a context that ends before the test's own time does. A
// machine that is too busy to come so far skips, unless it must not.
func withTimeLeft(t *testing.T) context.Context {
	t.Helper()
	const one = time.Minute // more than any of class ci takes
	end, limited := t.Deadline()
	switch {
	case !limited:
		return context.Background()
	case time.Until(end) > one:
	case os.Getenv(requireVariable) == "1":
		t.Fatal("no time left: give go test a longer -timeout")
	default:
		t.Skip("no time left: give go test a longer -timeout")
	}
	ctx, cancel := context.WithDeadline(context.Background(), end.Add(-one/4))
	t.Cleanup(cancel)
	return ctx
}

func skipByClass(t *testing.T, e Entry) {
	t.Helper()
	switch {
	case *update && e.Outcome != "":
		t.Skip("-update: measured before")
	case *update:
	case e.Class == ClassNightly && os.Getenv(nightlyVariable) != "1":
		t.Skipf("nightly (%s=1 runs it)", nightlyVariable)
	case testing.Short() && e.Kind != KindReachable:
		t.Skip("-short: only the situations")
	}
}

// TestManifestListsEveryConfig refuses a cfg file that nobody runs.
func TestManifestListsEveryConfig(t *testing.T) {
	m := readManifest(t)
	files, err := filepath.Glob("cfg/*.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := m.Entry(strings.TrimSuffix(filepath.Base(f), ".cfg")); !ok {
			t.Errorf("%s is not in manifest.json", f)
		}
	}
	if len(files) != len(m.Specifications) {
		t.Errorf("%d cfg files, %d entries in manifest.json", len(files), len(m.Specifications))
	}
}

// TestExpectation tells apart whatever TLC may report differently.
func TestExpectation(t *testing.T) {
	said := make(map[string]Entry)
	for _, e := range []Entry{
		{Outcome: Holds, Distinct: 3, Generated: 4, Depth: 2}, {Outcome: Holds, Distinct: 2, Generated: 4, Depth: 2},
		{Outcome: Holds, Distinct: 3, Generated: 5, Depth: 2}, {Outcome: Holds, Distinct: 3, Generated: 4, Depth: 3},
		{Outcome: Invariant, Property: "A", Length: 3}, {Outcome: Invariant, Property: "B", Length: 3}, {Outcome: Invariant, Property: "A", Length: 4},
		{Outcome: StepBreaks, Property: "A", Length: 3}, {Outcome: NotLive, Property: "A"},
	} {
		if other, twice := said[e.Expectation()]; twice {
			t.Errorf("%+v and %+v are the same in words", e, other)
		}
		said[e.Expectation()] = e
	}
	e := Entry{Config: "x", Outcome: Holds, Distinct: 1}
	if got, err := e.Measured(Config{Properties: []string{"A", "B"}}, Report{Outcome: NotLive}); err == nil {
		t.Errorf("one of two falls, and it is %s", got.Property)
	}
}

// TestOutcomeFitsTheKind refuses a manifest that expects the wrong thing: the
// protocol must hold, a defect must show.
func TestOutcomeFitsTheKind(t *testing.T) {
	for _, e := range readManifest(t).Specifications {
		fits := false
		switch e.Kind {
		case KindProtocol:
			fits = e.Outcome == Holds
		case KindDefect, KindAssumption:
			fits = (e.Outcome == Invariant || e.Outcome == StepBreaks) && e.Property != "TypeOK" && e.Rule != "" && e.Base != ""
		case KindReachable:
			fits = e.Outcome == Invariant && strings.HasPrefix(e.Property, "Never")
		case KindLiveness:
			fits = e.Outcome == Holds && e.Rule == "" || e.Outcome == NotLive && e.Rule != ""
		}
		if !fits {
			t.Errorf("%s is of the kind %s and comes out as %s %s", e.Config, e.Kind, e.Outcome, e.Property)
		}
	}
}

// TestOneLineDiffers holds each defect to its base: one constant differs, and
// a situation differs in what is asked only.
func TestOneLineDiffers(t *testing.T) {
	m := readManifest(t)
	for _, e := range m.Specifications {
		if e.Base == "" {
			continue
		}
		base, ok := m.Entry(e.Base)
		if !ok || base.Outcome != Holds {
			t.Errorf("%s: its base %q does not hold", e.Config, e.Base)
			continue
		}
		mine, its := readConfig(t, e), readConfig(t, base)
		var differ []string
		for _, name := range its.Names {
			if mine.Constants[name] != its.Constants[name] {
				differ = append(differ, name)
			}
		}
		want := 1
		if e.Kind == KindReachable {
			want = 0
		}
		if len(differ) != want || len(mine.Names) != len(its.Names) {
			t.Errorf("%s differs from %s in %v: want %d", e.Config, e.Base, differ, want)
		}
	}
}

// TestReadmeNames refuses names of cfg files in README.md that nobody runs. What
// does not begin as they do may be another word.
func TestReadmeNames(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := readManifest(t)
	names := regexp.MustCompile("`((wide|reach|live|break|keyless|window|compensate|retention)-[a-z0-9-]+)`").FindAllStringSubmatch(string(text), -1)
	for _, name := range names {
		if _, ok := m.Entry(name[1]); !ok {
			t.Errorf("README.md speaks of %s, and there is no such cfg file", name[1])
		}
	}
	if len(names) == 0 {
		t.Error("README.md names no cfg file")
	}
}

const (
	tableBegin = "<!-- table: made from manifest.json -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

// TestReadmeTable keeps the tables of README.md equal to the manifest.
func TestReadmeTable(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	table, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatal("README.md has no place for the tables")
	}
	want := "\n" + readManifest(t).Table() + "\n"
	if *update {
		if err := os.WriteFile("README.md", []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != want {
		t.Error("the tables of README.md differ from manifest.json; go test ./tla -run TestReadmeTable -update writes them")
	}
}
