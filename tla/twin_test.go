package tla

import (
	"context"
	"maps"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// worldOf returns what a cfg file of a module describes, in Go.
func worldOf(t *testing.T, module string, c Config) World {
	t.Helper()
	twin, ok := TwinOf(module)
	if !ok {
		t.Fatalf("%s has no twin", module)
	}
	w, err := twin.World(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func search(t *testing.T, w World) Found {
	t.Helper()
	f, err := w.Explore(context.Background(), Question{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestEveryModuleHasATwin: a specification that only TLC knows is checked once.
func TestEveryModuleHasATwin(t *testing.T) {
	for _, e := range readManifest(t).Specifications {
		if _, ok := TwinOf(e.Module); !ok {
			t.Errorf("%s: %s has no twin", e.Config, e.Module)
		}
	}
}

func TestTwinRefuses(t *testing.T) {
	chargeOnce, _ := TwinOf("ChargeOnce")
	for _, c := range []Config{
		{Names: []string{"Handlers"}, Constants: map[string]string{"Handlers": "two"}},
		{Names: []string{"Handlers"}, Constants: map[string]string{"Handlers": "9"}},
		{Names: []string{"Handlers"}, Constants: map[string]string{"Handlers": "1"}, Properties: []string{"Happiness"}},
	} {
		if _, err := chargeOnce.World(c); err == nil {
			t.Errorf("%+v has a twin", c)
		}
	}
	if twin, ok := TwinOf("Payments"); ok {
		t.Errorf("there is a twin %v", twin)
	}
}

// TestTwinAgrees holds the Go models against what TLC counted: the same states,
// the same depth, the same shortest counterexamples. It needs no Java.
func TestTwinAgrees(t *testing.T) {
	for _, e := range readManifest(t).Specifications {
		t.Run(e.Config, func(t *testing.T) {
			if e.Class == ClassNightly && testing.Short() {
				t.Skip("-short: not the large ones")
			}
			f := search(t, worldOf(t, e.Module, readConfig(t, e)))
			switch e.Outcome {
			case Holds:
				if f.Verdict != explore.Held {
					t.Fatalf("TLC says that it holds, the Go model: %v of %s\n%v", f.Verdict, f.Property, &f)
				}
				if int(f.Distinct) != e.Distinct || int(f.Generated) != e.Generated || f.Depth != e.Depth {
					t.Errorf("%d distinct, %d generated, depth %d; TLC: %d, %d, %d", f.Distinct, f.Generated, f.Depth, e.Distinct, e.Generated, e.Depth)
				}
			case NotLive:
				if f.Verdict != explore.Violated || f.Property != e.Property || f.Loop < 0 {
					t.Errorf("%v %s, TLC: %s falls", f.Verdict, f.Property, e.Property)
				}
			default:
				// Of several that fall equally soon, either may be named.
				if f.Verdict != explore.Violated || len(f.Trace) != e.Length {
					t.Errorf("%v of %s in %d states, TLC: %s in %d", f.Verdict, f.Property, len(f.Trace), e.Property, e.Length)
				}
			}
		})
	}
}

// TestSymmetry: with one state for all that differ only in which handler is
// which, the same holds, the same falls as soon, and there is less to visit.
func TestSymmetry(t *testing.T) {
	fewer := 0
	for _, e := range readManifest(t).Specifications {
		twin, _ := TwinOf(e.Module)
		c := readConfig(t, e)
		if !twin.Symmetric || c.Specification == "FairSpec" || e.Class == ClassNightly {
			continue
		}
		w := worldOf(t, e.Module, c)
		f, err := w.Explore(context.Background(), Question{Options: explore.Options{Symmetry: true}})
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome == Holds {
			if f.Verdict != explore.Held || int(f.Distinct) > e.Distinct || f.Depth != e.Depth {
				t.Errorf("%s: %v of %s, %d distinct of %d, depth %d of %d", e.Config, f.Verdict, f.Property, f.Distinct, e.Distinct, f.Depth, e.Depth)
			}
			if c.Constants["Handlers"] == "2" {
				if 5*int(f.Distinct) > 3*e.Distinct {
					t.Errorf("%s: still %d states of %d", e.Config, f.Distinct, e.Distinct)
				}
				fewer++
			}
		} else if f.Verdict != explore.Violated || len(f.Trace) != e.Length {
			t.Errorf("%s: %v of %s in %d states, without: in %d", e.Config, f.Verdict, f.Property, len(f.Trace), e.Length)
		}
	}
	if fewer == 0 {
		t.Error("there is no world with two handlers")
	}
}

// TestEveryPropertyFalls: a property that no defect and no dropped assumption
// breaks judges nothing, and neither does one of situations that are not met.
func TestEveryPropertyFalls(t *testing.T) {
	fallen := make(map[string]bool) // by module and property
	for _, e := range readManifest(t).Specifications {
		fallen[e.Module+" "+e.Property] = true
		for name := range e.Falls {
			fallen[e.Module+" "+name] = true
		}
	}
	for _, twin := range Twins() {
		for _, p := range twin.Properties {
			if !fallen[twin.Module+" "+p.Name] {
				t.Errorf("%s: nothing breaks %s", twin.Module, p.Name)
			}
		}
		for _, s := range twin.Situations {
			if !fallen[twin.Module+" "+s.Name] {
				t.Errorf("%s: no cfg file asks for %s", twin.Module, s.Name)
			}
		}
	}
}

// TestEverythingThatFalls counts, for each defect and each dropped assumption,
// the shortest way to break each invariant, whichever falls first.
func TestEverythingThatFalls(t *testing.T) {
	m := readManifest(t)
	for i, e := range m.Specifications {
		if e.Kind != KindDefect && e.Kind != KindAssumption {
			continue
		}
		t.Run(e.Config, func(t *testing.T) {
			falls := whatFalls(t, e.Module, readConfig(t, e))
			if *update {
				m.Specifications[i].Falls = falls
				return
			}
			if !maps.Equal(falls, e.Falls) {
				t.Errorf("%v, the manifest says %v", falls, e.Falls)
			}
			if falls[e.Property] != e.Length {
				t.Errorf("%s falls in %d states, TLC: %d", e.Property, falls[e.Property], e.Length)
			}
		})
	}
	if *update {
		writeManifest(t, m)
	}
}

func whatFalls(t *testing.T, module string, c Config) map[string]int {
	t.Helper()
	falls, err := worldOf(t, module, c).falls(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return falls
}
