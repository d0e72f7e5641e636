package sim_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// The golden file holds plans without their first line, and the hash of the
// trace of their run. A change of the simulator or of the service that changes
// a trace changes a line there, to be seen in review; and every machine, with
// 32 bits or 64, with the race detector or without, gives these hashes.
//
//	go test ./sim -run GoldenHashes -rewrite
//	GOARCH=386 go test ./sim -run GoldenHashes
func TestGoldenHashes(t *testing.T) {
	datadriven.RunTest(t, "testdata/hashes.txt", func(t *testing.T, d *datadriven.TestData) string {
		p, err := plan.Parse("chargeonce plan v1\n" + d.Input)
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		res := newStage(t, planned(t, p)).replay(t, p.Weather, p.Deviations)
		if res.Finding != nil {
			t.Errorf("%s: %v", d.Pos, res.Finding)
		}
		return fmt.Sprintf("%016x after %d events\n", res.Hash, res.Events)
	})
}
