package tla

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/protocol"
)

func twin(t *testing.T, c Config) (*protocol.Config, explore.Model[protocol.State]) {
	t.Helper()
	cfg, m, err := Twin(c)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, m
}

func search(t *testing.T, m explore.Model[protocol.State]) explore.Result[protocol.State] {
	t.Helper()
	r, err := explore.Explore(context.Background(), m, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTwinRefuses(t *testing.T) {
	for _, c := range []Config{
		{Names: []string{"Handlers"}, Constants: map[string]string{"Handlers": "two"}},
		{Names: []string{"Handlers"}, Constants: map[string]string{"Handlers": "9"}},
		{Names: []string{"Handlers"}, Constants: map[string]string{"Handlers": "1"}, Properties: []string{"Happiness"}},
	} {
		if _, _, err := Twin(c); err == nil {
			t.Errorf("%+v has a twin", c)
		}
	}
}

// TestTwinAgrees holds the Go model against what TLC counted: the same states,
// the same depth, the same shortest counterexamples. It needs no Java.
func TestTwinAgrees(t *testing.T) {
	for _, e := range readManifest(t).Specifications {
		if e.Module != TwinModule {
			continue
		}
		t.Run(e.Config, func(t *testing.T) {
			if e.Class == ClassNightly && testing.Short() {
				t.Skip("-short: not the large ones")
			}
			_, m := twin(t, readConfig(t, e))
			r := search(t, m)
			switch e.Outcome {
			case Holds:
				if r.Verdict != explore.Held {
					t.Fatalf("TLC says that it holds, the Go model: %v of %s\n%s", r.Verdict, r.Property, format(r.Trace, m))
				}
				if int(r.Distinct) != e.Distinct || int(r.Generated) != e.Generated || r.Depth != e.Depth {
					t.Errorf("%d distinct, %d generated, depth %d; TLC: %d, %d, %d", r.Distinct, r.Generated, r.Depth, e.Distinct, e.Generated, e.Depth)
				}
			case NotLive:
				if r.Verdict != explore.Violated || r.Property != e.Property || r.Trace.Loop < 0 {
					t.Errorf("%v %s, TLC: %s falls", r.Verdict, r.Property, e.Property)
				}
			default:
				// Of several that fall equally soon, either may be named.
				if r.Verdict != explore.Violated || len(r.Trace.States) != e.Length {
					t.Errorf("%v of %s in %d states, TLC: %s in %d", r.Verdict, r.Property, len(r.Trace.States), e.Property, e.Length)
				}
			}
		})
	}
}

// TestEverythingThatFalls counts, for each defect and each dropped assumption,
// the shortest way to break each invariant, whichever falls first.
func TestEverythingThatFalls(t *testing.T) {
	m := readManifest(t)
	for i, e := range m.Specifications {
		if e.Module != TwinModule || e.Kind != KindDefect && e.Kind != KindAssumption {
			continue
		}
		t.Run(e.Config, func(t *testing.T) {
			falls := whatFalls(t, readConfig(t, e))
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

func whatFalls(t *testing.T, c Config) map[string]int {
	t.Helper()
	cfg, m := twin(t, c)
	m.Properties = nil
	for _, i := range protocol.Invariants {
		m.Properties = append(m.Properties, explore.Sometimes(i.Name, func(s protocol.State) bool { return !i.Hold(cfg, s) }))
	}
	falls := make(map[string]int)
	for _, w := range search(t, m).Witnesses {
		falls[w.Property] = len(w.Trace.States)
	}
	for _, i := range protocol.StepInvariants {
		m.Properties = []explore.Property[protocol.State]{stepProperty(cfg, i)}
		if r := search(t, m); r.Verdict == explore.Violated {
			falls[i.Name] = len(r.Trace.States)
		}
	}
	return falls
}

func format(trace explore.Trace[protocol.State], m explore.Model[protocol.State]) string {
	var b strings.Builder
	_ = trace.Format(&b, m)
	return b.String()
}
