package behaviour

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/impl"
)

// TestTours plays every transition of the worlds of testdata/tours.txt on the
// code. What is impossible is held to the table, number by number. Run with
// -args -rewrite to write it anew.
func TestTours(t *testing.T) { datadriven.RunTest(t, "testdata/tours.txt", play) }

// TestClocks gives runs whatever their clocks may say.
func TestClocks(t *testing.T) { datadriven.RunTest(t, "testdata/clocks.txt", play) }

// TestDefects shows that the code does not follow whatever the model says.
func TestDefects(t *testing.T) { datadriven.RunTest(t, "testdata/defects.txt", play) }

// TestWideTours plays wider worlds.
func TestWideTours(t *testing.T) {
	nightly(t)
	datadriven.RunTest(t, "testdata/wide.txt", play)
}

// TestOtherDeployments shows that what is impossible is so in hundreds of other
// deployments too: they add nothing to what is played.
func TestOtherDeployments(t *testing.T) {
	nightly(t)
	datadriven.RunTest(t, "testdata/tours.txt", func(t *testing.T, d *datadriven.TestData) string {
		w := world(t, d)
		few, err := Tour(w)
		many, also := w.visit(append(w.deployments(), drawn(&w)...))
		if err := errors.Join(err, also); err != nil {
			t.Errorf("%s: %v", d.Pos, err)
		}
		if few.Impossible, many.Impossible = nil, nil; !reflect.DeepEqual(few, many) {
			t.Errorf("%s: in all deployments\n%vbut in those that are tried\n%v", d.Pos, many, few)
		}
		return d.Expected
	})
}

func nightly(t *testing.T) {
	if os.Getenv("CHARGEONCE_NIGHTLY") != "1" {
		t.Skip("nightly (CHARGEONCE_NIGHTLY=1 runs it)")
	}
}

// play plays a world. Under "tour" the code has to follow the model everywhere,
// under "clocks" the model has to permit whatever the code does by its clocks,
// and under "parts" the two must part.
func play(t *testing.T, d *datadriven.TestData) string {
	var report fmt.Stringer
	var err error
	if w := world(t, d); d.Cmd == "clocks" {
		report, err = Read(w)
	} else {
		report, err = Tour(w)
	}
	var parted *Divergence
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

// world is the one whose constants are the arguments; those without a value are
// TRUE.
func world(t *testing.T, d *datadriven.TestData) (w World) {
	for _, arg := range d.CmdArgs {
		value := "TRUE"
		if len(arg.Vals) > 0 {
			value = arg.Vals[0]
		}
		if err := w.Model.Set(arg.Key, value); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	return w
}

// drawn are deployments that Validate takes, of all orders of magnitude, and
// often as tight as it lets them be.
func drawn(w *World) (all []impl.Config) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func() time.Duration { return time.Duration(1+random.IntN(1000)) << random.IntN(20) }
	or := func(d, tight time.Duration) time.Duration {
		if random.IntN(2) == 0 {
			return tight
		}
		return d
	}
	for len(all) < 400 {
		c := w.deployments()[0]
		c.Lease, c.MessageLifetime, c.LookupLag, c.InProgressWait = some(), some(), some(), or(some(), 1)
		c.HealthyRun, c.ReconcileInterval = or(some(), 1), or(some(), 1)
		c.MaxClockSkew = or(some(), c.Lease-c.HealthyRun-1)
		c.ProviderWindow = c.Lease + c.ReconcileInterval + c.HealthyRun + c.MessageLifetime + 2*c.MaxClockSkew + or(some(), 1)
		if !c.Provider.Keys || !c.Provider.StoresDeclines {
			c.ProviderWindow += c.MessageLifetime + c.LookupLag
		}
		c.RetryHorizon = or(some(), c.ProviderWindow-2*c.MessageLifetime-2*c.MaxClockSkew-c.HealthyRun+some()-some())
		c.Retention = c.RetryHorizon + 2*c.MessageLifetime + c.MaxClockSkew + or(some(), 1)
		if c.Validate() == nil {
			all = append(all, c)
		}
	}
	return all
}

func TestWorldsThatCannotBeVisited(t *testing.T) {
	endless := World{}
	endless.Model.Handlers, endless.Model.Unbounded = 1, true
	for _, w := range []World{{}, endless} {
		if _, err := Tour(w); !errors.Is(err, ErrWorld) {
			t.Errorf("%+v: %v, want ErrWorld", w, err)
		}
	}
}
