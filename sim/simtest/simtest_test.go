package simtest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/simtest"
)

// eager pays first and saves afterwards: nothing is claimed, and the provider
// gets no key.
func eager(_ impl.Config, ports impl.Ports) impl.Handler {
	return simtest.HandlerFunc(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
		rec, err := impl.Parse(req)
		if err != nil {
			return impl.Reply{}, err
		}
		if known, ok, err := ports.Registry.Get(ctx, impl.StepReadBack, rec.ID); err != nil {
			return impl.Reply{}, impl.ErrUnavailable
		} else if ok {
			return impl.Replay(known)
		}
		result, err := ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request})
		if err != nil {
			return impl.Reply{}, impl.ErrUnavailable
		}
		rec.State, rec.ChargeID, rec.Reply = impl.StateSucceeded, result.ChargeID, impl.PaidReply(&rec, result.ChargeID)
		if _, _, err := ports.Registry.Insert(ctx, impl.StepComplete, rec); err != nil {
			return impl.Reply{}, impl.ErrUnavailable
		}
		return rec.Reply, nil
	})
}

// right is the reference.
func right(cfg impl.Config, ports impl.Ports) impl.Handler {
	s, err := impl.New(cfg, ports)
	if err != nil {
		panic(err)
	}
	return s
}

func design(handler func(impl.Config, impl.Ports) impl.Handler) impl.Design {
	d := simtest.Handler("checkout", handler)
	d.Reconciler = func(cfg impl.Config, ports impl.Ports) impl.Reconciler { return right(cfg, ports).(*impl.Service) }
	return d
}

// recorder is a test that fails without ending the test that looks at it.
type recorder struct {
	testing.TB
	failed string
}

type stopped struct{}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Fatal(args ...any)   { r.failed = fmt.Sprint(args...); panic(stopped{}) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	panic(stopped{})
}

// holds runs Holds in a directory of its own and returns how it failed.
func holds(t *testing.T, d impl.Design, options ...simtest.Option) string {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(stopped{}) {
				panic(v)
			}
		}()
		simtest.Holds(r, d, options...)
	}()
	return r.failed
}

func TestReferenceHolds(t *testing.T) {
	t.Chdir(t.TempDir())
	if failed := holds(t, design(right), simtest.Exhaustive(1), simtest.Random(500)); failed != "" {
		t.Fatal(failed)
	}
}

func TestFailureIsToldSavedAndRunFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	told := holds(t, design(eager), simtest.Scenarios("one-payment"), simtest.Random(500))
	for _, want := range []string{"SingleCharge fell: order-1 was charged twice", "24.00 EUR in all", "chargeonce plan v1", "captured for order-1", "runs first from now on"} {
		if !strings.Contains(told, want) {
			t.Errorf("the failure does not say %q:\n%s", want, told)
		}
	}
	plans, err := filepath.Glob("testdata/simtest/*.plan")
	if err != nil || len(plans) != 1 {
		t.Fatalf("saved plans %v, %v; want one", plans, err)
	}
	if again := holds(t, design(eager), simtest.Scenarios("one-payment"), simtest.Random(1)); !strings.Contains(again, filepath.ToSlash(plans[0])) {
		t.Errorf("the saved plan did not fail first:\n%s", again)
	}
	if mended := holds(t, design(right), simtest.Random(100)); mended != "" {
		t.Errorf("the mended handler fails on the saved plan:\n%s", mended)
	}
}

func TestSmallestIsFoundFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	told := holds(t, design(eager), simtest.Scenarios("one-payment"), simtest.Exhaustive(2))
	if !strings.Contains(told, "SingleCharge fell") {
		t.Fatal(told)
	}
}

func TestSavedPlanThatIsNoneIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("testdata/simtest", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/simtest/checkout-x.plan", []byte("no plan\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if told := holds(t, design(right), simtest.Random(1)); !strings.Contains(told, "line 1") {
		t.Errorf("a file that is no plan was not refused: %q", told)
	}
}

func FuzzReference(f *testing.F) { simtest.Fuzz(f, design(right)) }
