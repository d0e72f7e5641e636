package tla

import (
	"strconv"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// TestBoundsAreSmallest takes one run, attempt, fault or tick away and looks for
// something that the manifest shows and that is then gone: were there nothing,
// the bound could be smaller.
func TestBoundsAreSmallest(t *testing.T) {
	for _, m := range []struct {
		module string
		bounds []string
	}{
		{"ChargeOnce", []string{"Handlers", "Attempts", "Others", "Faults"}},
		{"Compensate", []string{"Handlers", "Reconcilers", "Attempts", "Faults"}},
		{"Retention", []string{"Life", "Skew", "Window", "Late"}},
		{"Window", []string{"Runs", "Life", "Skew", "Lag", "Window"}},
	} {
		for _, bound := range m.bounds {
			t.Run(m.module+"/"+bound, func(t *testing.T) { boundIsSmallest(t, m.module, bound) })
		}
	}
}

func boundIsSmallest(t *testing.T, module, bound string) {
	for _, e := range readManifest(t).Specifications {
		if e.Module != module {
			continue
		}
		c := readConfig(t, e)
		n, err := strconv.Atoi(c.Constants[bound])
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 || bound == "Handlers" && n == 1 {
			continue // nothing to take away
		}
		c.Constants[bound] = strconv.Itoa(n - 1)
		if gone := shownNoMore(t, e, c); len(gone) > 0 {
			t.Logf("%s does not show %s", e.Config, gone)
			return
		}
	}
	t.Errorf("with one less of %s everything still shows", bound)
}

// shownNoMore returns what the entry shows and the smaller configuration c
// does not.
func shownNoMore(t *testing.T, e Entry, c Config) []string {
	t.Helper()
	var gone []string
	switch e.Kind {
	case KindDefect, KindAssumption:
		still := whatFalls(t, e.Module, c)
		for name := range e.Falls {
			if still[name] == 0 {
				gone = append(gone, name)
			}
		}
	case KindReachable:
		if search(t, worldOf(t, e.Module, c)).Verdict != explore.Violated {
			gone = append(gone, e.Property)
		}
	}
	return gone
}
