package tla

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
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
	m, err := ReadManifest("manifest.json")
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
	c, err := ReadConfig(e.ConfigFile())
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
			c := readConfig(t, e)
			r, err := tlc.Run(withTimeLeft(t), Job{Dir: ".", Module: e.Module, Config: e.ConfigFile()})
			if err != nil {
				t.Fatal(err)
			}
			got := measured(t, e, c, r)
			if *update {
				m.Specifications[i] = got
				writeManifest(t, m)
				return
			}
			if !sameMeasures(got, e) {
				t.Errorf("TLC: %s %s, %d distinct, %d generated, depth %d, length %d;\nthe manifest: %s %s, %d, %d, %d, %d",
					got.Outcome, got.Property, got.Distinct, got.Generated, got.Depth, got.Length,
					e.Outcome, e.Property, e.Distinct, e.Generated, e.Depth, e.Length)
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

// measured is the entry with what TLC found.
func measured(t *testing.T, e Entry, c Config, r Report) Entry {
	t.Helper()
	e.Outcome, e.Property = r.Outcome, r.Property
	e.Distinct, e.Generated, e.Depth, e.Length = 0, 0, 0, 0
	switch r.Outcome {
	case Holds:
		e.Distinct, e.Generated, e.Depth = r.Distinct, r.Generated, r.Depth
	case NotLive: // TLC does not name the property: ask one at a time
		if len(c.Properties) != 1 {
			t.Fatalf("one of %v falls, and TLC does not say which", c.Properties)
		}
		e.Property = c.Properties[0]
	default:
		e.Length = len(r.Trace)
	}
	return e
}

func sameMeasures(a, b Entry) bool {
	return a.Outcome == b.Outcome && a.Property == b.Property && a.Distinct == b.Distinct &&
		a.Generated == b.Generated && a.Depth == b.Depth && a.Length == b.Length
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
