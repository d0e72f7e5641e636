package tla

import (
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// TestSequential holds every behaviour of every world of ChargeOnce against
// the sequential specification. The protocol refines it. What is wrong in a
// way that clients or the ledger can see is refused, neither sooner nor later
// than the invariants that say the same of states; FingerprintBound may be
// sooner, since it judges the record, too. What only the records show is not.
func TestSequential(t *testing.T) {
	for _, e := range readManifest(t).Specifications {
		if e.Module != chargeOnce.module || e.Kind == KindReachable {
			continue
		}
		t.Run(e.Config, func(t *testing.T) {
			if e.Class == ClassNightly && testing.Short() {
				t.Skip("-short: not the large ones")
			}
			w, err := Sequential().World(readConfig(t, e))
			if err != nil {
				t.Fatal(err)
			}
			f := search(t, w)
			sooner, latest := earliest(e, "SingleCharge", "TruthfulReply", "StableReply", "FingerprintBound"), earliest(e, "SingleCharge", "TruthfulReply", "StableReply")
			switch {
			case sooner == 0 && f.Verdict != explore.Held:
				t.Errorf("%v: %v", f.Verdict, &f)
			case sooner > 0 && (f.Verdict != explore.Violated || f.Property != PropertySequential || len(f.Trace) < sooner || latest > 0 && len(f.Trace) > latest):
				t.Errorf("%v in %d states; what is visible falls in %v", f.Verdict, len(f.Trace), e.Falls)
			}
		})
	}
}

// earliest is the length of the shortest counterexample to one of some
// invariants, 0 if none falls.
func earliest(e Entry, invariants ...string) (least int) {
	for _, name := range invariants {
		if length := e.Falls[name]; length > 0 && (least == 0 || length < least) {
			least = length
		}
	}
	return least
}
