package behaviour_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/sim/behaviour"
)

// TestTours plays every transition of the worlds of testdata/tours.txt on the
// code. The tables say what is played and what is not, and why. Run with
// -rewrite to write them anew.
func TestTours(t *testing.T) { datadriven.RunTest(t, "testdata/tours.txt", tour) }

// tour plays the world whose constants are the arguments; those without a
// value are TRUE.
func tour(t *testing.T, d *datadriven.TestData) string {
	var w behaviour.World
	for _, arg := range d.CmdArgs {
		value := "TRUE"
		if len(arg.Vals) > 0 {
			value = arg.Vals[0]
		}
		if err := w.Model.Set(arg.Key, value); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	report, err := behaviour.Tour(w)
	var divergence *behaviour.Divergence
	if errors.As(err, &divergence) {
		t.Errorf("%s: %v", d.Pos, err)
	} else if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return report.String()
}
