package tla

import (
	"strconv"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// TestBoundsAreSmallest takes one handler, attempt or fault away and looks for
// something that the manifest shows and that is then gone: were there nothing,
// the bound could be smaller.
func TestBoundsAreSmallest(t *testing.T) {
	m := readManifest(t)
	for _, bound := range []string{"Handlers", "Attempts", "Others", "Faults"} {
		t.Run(bound, func(t *testing.T) {
			for _, e := range m.Specifications {
				if e.Module != chargeOnce.module {
					continue
				}
				c := readConfig(t, e)
				n, err := strconv.Atoi(c.Constants[bound])
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					continue // nothing to take away
				}
				c.Constants[bound] = strconv.Itoa(n - 1)
				if gone := shownNoMore(t, e, c); len(gone) > 0 {
					t.Logf("%s does not show %s", e.Config, gone)
					return
				}
			}
			t.Errorf("with one less of %s everything still shows", bound)
		})
	}
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
