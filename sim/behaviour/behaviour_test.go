package behaviour_test

import (
	"errors"
	"os"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/sim/behaviour"
)

// TestTours plays every transition of the worlds of testdata/tours.txt on the
// code. What is impossible is held to the table, number by number. Run with
// -args -rewrite to write it anew.
func TestTours(t *testing.T) { datadriven.RunTest(t, "testdata/tours.txt", play) }

// TestWideTours does the same for wider worlds.
func TestWideTours(t *testing.T) {
	if os.Getenv("CHARGEONCE_NIGHTLY") != "1" {
		t.Skip("nightly (CHARGEONCE_NIGHTLY=1 runs it)")
	}
	datadriven.RunTest(t, "testdata/wide.txt", play)
}

// TestDefects shows that the code does not follow whatever the model says.
func TestDefects(t *testing.T) { datadriven.RunTest(t, "testdata/defects.txt", play) }

// play plays the world whose constants are the arguments; those without a
// value are TRUE. Under "tour" the code has to follow the model everywhere,
// under "parts" it must not.
func play(t *testing.T, d *datadriven.TestData) string {
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
	var parted *behaviour.Divergence
	switch parts := errors.As(err, &parted); {
	case !parts && err != nil:
		d.Fatalf(t, "%v", err)
	case parts && d.Cmd == "parts":
		return parted.What + "\n"
	case parts:
		t.Errorf("%s: %v", d.Pos, err)
	case d.Cmd == "parts":
		t.Errorf("%s: the code follows", d.Pos)
	}
	return report.String()
}
