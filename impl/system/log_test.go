package system_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/system"
)

var order = impl.ID{Scope: "4:acme POST /payments", Key: "order-4711"}

// logger writes lines without their time, from the level on.
func logger(out *strings.Builder, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func TestLogLines(t *testing.T) {
	const of = ` scope="4:acme POST /payments" operation=A7KTC3O55O`
	for _, tt := range []struct {
		o    impl.Observation
		want string
	}{
		{impl.Observation{Step: impl.StepClaim, ID: order}, `level=DEBUG msg="payment step" step=claim` + of},
		{impl.Observation{Step: impl.StepSweep}, `level=DEBUG msg="payment step" step=sweep`},
		{impl.Observation{Step: impl.StepComplete, ID: order, Err: impl.ErrConflict}, `level=INFO msg="payment step" step=complete` + of + ` error=conflict`},
		{impl.Observation{Step: impl.StepLookUp, ID: order, Err: impl.ErrNoLookup}, `level=INFO msg="payment step" step=look-up` + of + ` error=no-look-up`},
		{impl.Observation{Step: impl.StepSettle, ID: order, Err: impl.ErrNotApplied}, `level=WARN msg="payment step" step=settle` + of + ` error=not-applied`},
		{impl.Observation{Step: impl.StepCharge, ID: order, Err: impl.ErrNotSent}, `level=WARN msg="payment step" step=charge` + of + ` error=not-sent`},
		{impl.Observation{Step: impl.StepCharge, ID: order, Err: fmt.Errorf("bank: %w", impl.ErrUnknown)}, `level=WARN msg="payment step" step=charge` + of + ` error=unknown`},
		{impl.Observation{Step: impl.StepCharge, ID: order, Err: &impl.ProviderError{Status: 429}}, `level=WARN msg="payment step" step=charge` + of + ` error=provider-429`},
		{impl.Observation{Step: impl.StepReply, ID: order, Err: &impl.InProgressError{}}, `level=WARN msg="payment step" step=reply` + of + ` error=in-progress`},
		{impl.Observation{Step: impl.StepReply, ID: order, Err: impl.ErrMismatch}, `level=WARN msg="payment step" step=reply` + of + ` error=mismatch`},
		{impl.Observation{Step: impl.StepReply, ID: order, Err: impl.ErrGone}, `level=WARN msg="payment step" step=reply` + of + ` error=gone`},
		{impl.Observation{Step: impl.StepReply, ID: order, Err: impl.ErrUnavailable}, `level=WARN msg="payment step" step=reply` + of + ` error=unavailable`},
		{impl.Observation{Step: impl.StepReply, ID: order, Err: &impl.RefusedError{Field: "key", Err: errors.New("too long")}}, `level=WARN msg="payment step" step=reply` + of + ` error=refused`},
		{impl.Observation{Step: impl.StepReadBack, ID: order, Err: context.Canceled}, `level=WARN msg="payment step" step=read-back` + of + ` error=canceled`},
		{impl.Observation{Step: impl.StepReadBack, ID: order, Err: context.DeadlineExceeded}, `level=WARN msg="payment step" step=read-back` + of + ` error=deadline`},
		{impl.Observation{Step: impl.StepClaim, ID: order, Err: errors.New("disk full")}, `level=WARN msg="payment step" step=claim` + of + ` error=other type=*errors.errorString`},
	} {
		var out strings.Builder
		(&system.LogObserver{Logger: logger(&out, slog.LevelDebug)}).Observe(tt.o)
		if got := out.String(); got != tt.want+"\n" {
			t.Errorf("got  %swant %s", got, tt.want)
		}
	}
}

// Drivers and HTTP clients quote what they were given; their words are not
// ours to repeat.
func TestLogKeepsSecrets(t *testing.T) {
	quotes := fmt.Errorf(`insert (%s, {"amount":1200}): %w`, order.Key, errors.New("Key (key)=("+order.Key+") exists"))
	var out strings.Builder
	l := &system.LogObserver{Logger: logger(&out, slog.LevelDebug)}
	for step := impl.StepRequest; step < impl.StepCount; step++ {
		l.Observe(impl.Observation{Step: step, ID: order, Err: quotes})
		l.Observe(impl.Observation{Step: step, ID: order})
	}
	for _, secret := range []string{order.Key, "amount", "1200"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, out.String())
		}
	}
	if lines, want := strings.Count(out.String(), "\n"), 2*int(impl.StepCount-impl.StepRequest); lines != want {
		t.Errorf("%d lines, want %d: one each", lines, want)
	}
}

func TestLogDescribes(t *testing.T) {
	var out strings.Builder
	l := &system.LogObserver{Logger: logger(&out, slog.LevelDebug), Describe: func(err error) string {
		if errors.Is(err, impl.ErrConflict) {
			return ""
		}
		return "disk"
	}}
	l.Observe(impl.Observation{Step: impl.StepClaim, Err: errors.New("disk full")})
	l.Observe(impl.Observation{Step: impl.StepClaim, Err: impl.ErrConflict})
	l.Observe(impl.Observation{Step: impl.StepClaim})
	const want = `level=WARN msg="payment step" step=claim error=other type=*errors.errorString detail=disk
level=INFO msg="payment step" step=claim error=conflict
level=DEBUG msg="payment step" step=claim
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLogLevel(t *testing.T) {
	var out strings.Builder
	l := &system.LogObserver{Logger: logger(&out, slog.LevelInfo)}
	l.Observe(impl.Observation{Step: impl.StepClaim, ID: order})
	if out.Len() != 0 {
		t.Errorf("logged below its level: %s", out.String())
	}
}

// An operation is known by scope and key, so that no two run together.
func TestDigest(t *testing.T) {
	seen := map[string]impl.ID{}
	for _, id := range []impl.ID{order, {Scope: "a", Key: "bc"}, {Scope: "ab", Key: "c"}, {Scope: "", Key: "abc"}, {Scope: "abc", Key: ""}} {
		d := system.Digest(id)
		if other, ok := seen[d]; ok {
			t.Errorf("%v and %v share the digest %s", id, other, d)
		}
		seen[d] = id
		if len(d) != 10 {
			t.Errorf("the digest of %v is %q, want 10 characters", id, d)
		}
	}
}
