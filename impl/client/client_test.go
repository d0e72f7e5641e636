package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/client"
	"pgregory.net/rapid"
)

// world answers attempts from a list, the last answer for ever, and notes
// what happened in order. Its clock goes only when the client sleeps, or as
// long as an attempt is said to take.
type world struct {
	now     time.Duration // since epoch
	takes   time.Duration // how long an attempt takes
	answers []error
	keys    int
	log     []string
	over    time.Duration               // how much longer than asked a sleep takes
	asleep  func(context.Context) error // what sleeping returns; may be nil
}

var epoch = time.Unix(1_700_000_000, 0).UTC()

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) Now() time.Time { return epoch.Add(w.now) }

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	w.note("sleep %v", d)
	if w.asleep != nil {
		return w.asleep(ctx)
	}
	w.now += d + w.over
	return nil
}

func (w *world) Key() string {
	w.keys++
	return "key-" + strconv.Itoa(w.keys)
}

func (w *world) Owner() string { panic("a client owns no record") }

func (w *world) Send(_ context.Context, req impl.Request) (impl.Reply, error) {
	w.note("send %s at %v", req.Key, w.now)
	w.now += w.takes
	err := impl.ErrUnknown
	if len(w.answers) > 0 {
		err = w.answers[0]
	}
	if len(w.answers) > 1 {
		w.answers = w.answers[1:]
	}
	if err != nil {
		return impl.Reply{}, err
	}
	return impl.Reply{Outcome: impl.OutcomePaid, Status: 201, ChargeID: "ch_1"}, nil
}

func (w *world) client(r client.Retry) *client.Client {
	return client.New(impl.ClientPorts{Transport: w, Clock: w, IDs: w, Journal: func(key string) { w.note("journal %s", key) }}, r)
}

func (w *world) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.log, want) {
		t.Errorf("happened\n  %s\nwant\n  %s", strings.Join(w.log, "\n  "), strings.Join(want, "\n  "))
	}
}

var (
	order = impl.Payment{Scope: "4:acme POST /payments", Endpoint: "POST /payments", Body: []byte(`{"amount":1200,"currency":"EUR"}`)}
	retry = client.Retry{Horizon: 2 * time.Second, First: 100 * time.Millisecond, Most: 350 * time.Millisecond}
)

// The key is journaled before it is sent, and is the same on every attempt.
func TestOneKey(t *testing.T) {
	w := &world{answers: []error{impl.ErrUnknown, &impl.InProgressError{}, nil}}
	reply, err := w.client(retry).Pay(t.Context(), order)
	if err != nil || reply.ChargeID != "ch_1" {
		t.Errorf("Pay returned %+v, %v", reply, err)
	}
	w.expect(t, "journal key-1", "send key-1 at 0s", "sleep 100ms", "send key-1 at 100ms", "sleep 200ms", "send key-1 at 300ms")
}

// A client that restarts goes on with the key of its journal, and draws none.
func TestKeyOfTheJournal(t *testing.T) {
	w := &world{now: 700 * time.Millisecond, answers: []error{impl.ErrUnavailable, nil}}
	resumed := order
	resumed.Key, resumed.Since = "order-1", epoch
	if _, err := w.client(retry).Pay(t.Context(), resumed); err != nil {
		t.Fatal(err)
	}
	w.expect(t, "send order-1 at 700ms", "sleep 100ms", "send order-1 at 800ms")
	if w.keys != 0 {
		t.Errorf("%d keys were drawn, want none", w.keys)
	}
}

// Two orders are two operations, also for one client.
func TestEachOrderHasItsKey(t *testing.T) {
	w := &world{answers: []error{nil}}
	c := w.client(retry)
	for range 2 {
		if _, err := c.Pay(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
	w.expect(t, "journal key-1", "send key-1 at 0s", "journal key-2", "send key-2 at 0s")
}

// What is sent is the order, the same every time.
func TestRequest(t *testing.T) {
	var got []impl.Request
	send := transport(func(req impl.Request) (impl.Reply, error) {
		got = append(got, req)
		if len(got) == 1 {
			return impl.Reply{}, impl.ErrUnknown
		}
		return impl.Reply{}, nil
	})
	w := &world{}
	c := client.New(impl.ClientPorts{Transport: send, Clock: w, IDs: w, Journal: func(string) {}}, retry)
	if _, err := c.Pay(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	for _, req := range got {
		if req.Scope != order.Scope || req.Endpoint != order.Endpoint || req.Key != "key-1" || string(req.Body) != string(order.Body) {
			t.Errorf("sent %+v of %+v", req, order)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d attempts, want 2", len(got))
	}
}

type transport func(impl.Request) (impl.Reply, error)

func (f transport) Send(_ context.Context, req impl.Request) (impl.Reply, error) { return f(req) }

// No attempt starts later than the horizon after the first; one may start
// at it. The answer that stands is the last one.
func TestHorizon(t *testing.T) {
	pauses := client.Retry{Horizon: 300 * time.Millisecond, First: 100 * time.Millisecond, Most: time.Hour}
	for _, tt := range []struct {
		name  string
		since time.Duration
		takes time.Duration
		want  []string
	}{
		{"at it", 0, 0, []string{"send order-1 at 0s", "sleep 100ms", "send order-1 at 100ms", "sleep 200ms", "send order-1 at 300ms"}},
		{"past it, by the first attempt of the client before", -time.Nanosecond, 0, []string{"send order-1 at 0s", "sleep 100ms", "send order-1 at 100ms"}},
		{"past it, by the time that attempts take", 0, time.Nanosecond, []string{"send order-1 at 0s", "sleep 100ms", "send order-1 at 100.000001ms"}},
		{"no second attempt", -200*time.Millisecond - time.Nanosecond, 0, []string{"send order-1 at 0s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{takes: tt.takes}
			resumed := order
			resumed.Key, resumed.Since = "order-1", epoch.Add(tt.since)
			if _, err := w.client(pauses).Pay(t.Context(), resumed); !errors.Is(err, impl.ErrUnknown) {
				t.Errorf("Pay returned %v, want the last answer", err)
			}
			w.expect(t, tt.want...)
		})
	}
}

// A client that comes back too late sends nothing: its record may be gone,
// and the key would begin a new payment.
func TestRestartAfterTheHorizon(t *testing.T) {
	for _, tt := range []struct {
		name string
		now  time.Duration
		want []string
		err  error
	}{
		{"at it", retry.Horizon, []string{"send order-1 at 2s"}, impl.ErrUnknown},
		{"past it", retry.Horizon + time.Nanosecond, nil, client.ErrHorizon},
		{"a day past it", 24 * time.Hour, nil, client.ErrHorizon},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{now: tt.now}
			resumed := order
			resumed.Key, resumed.Since = "order-1", epoch
			if _, err := w.client(retry).Pay(t.Context(), resumed); !errors.Is(err, tt.err) {
				t.Errorf("Pay returned %v, want %v", err, tt.err)
			}
			w.expect(t, tt.want...)
		})
	}
}

// A machine that was suspended sleeps longer than it was asked to.
func TestOversleeps(t *testing.T) {
	for _, tt := range []struct {
		name string
		over time.Duration
		want []string
	}{
		{"until the horizon", retry.Horizon - retry.First, []string{"journal key-1", "send key-1 at 0s", "sleep 100ms", "send key-1 at 2s"}},
		{"past the horizon", retry.Horizon - retry.First + time.Nanosecond, []string{"journal key-1", "send key-1 at 0s", "sleep 100ms"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{over: tt.over, answers: []error{impl.ErrUnavailable}}
			if _, err := w.client(retry).Pay(t.Context(), order); !errors.Is(err, impl.ErrUnavailable) {
				t.Errorf("Pay returned %v, want the last answer", err)
			}
			w.expect(t, tt.want...)
		})
	}
}

func TestFinal(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, true},
		{impl.ErrMismatch, true},
		{impl.ErrGone, true},
		{&impl.RefusedError{Field: "key", Err: errors.New("too long")}, true},
		{fmt.Errorf("transport: %w", impl.ErrMismatch), true},
		{&impl.InProgressError{RetryAfter: time.Second}, false},
		{impl.ErrInProgress, false},
		{impl.ErrUnavailable, false},
		{impl.ErrUnknown, false},
		{impl.ErrNotSent, false},
		{context.DeadlineExceeded, false},
		{errors.New("connection reset"), false},
	} {
		if got := client.Final(tt.err); got != tt.want {
			t.Errorf("Final(%v) = %v, want %v", tt.err, got, tt.want)
		}
		w := &world{answers: []error{tt.err, nil}}
		_, err := w.client(retry).Pay(t.Context(), order)
		want := []string{"journal key-1", "send key-1 at 0s"}
		if !tt.want {
			want = append(want, "sleep 100ms", "send key-1 at 100ms")
		} else if !errors.Is(err, tt.err) {
			t.Errorf("Pay returned %v, want %v", err, tt.err)
		}
		w.expect(t, want...)
	}
}

// The last answer stands when nobody waits for another.
func TestGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{answers: []error{impl.ErrUnavailable, nil}}
	w.asleep = func(ctx context.Context) error {
		cancel()
		return ctx.Err()
	}
	if _, err := w.client(retry).Pay(ctx, order); !errors.Is(err, impl.ErrUnavailable) {
		t.Errorf("Pay returned %v, want %v", err, impl.ErrUnavailable)
	}
	w.expect(t, "journal key-1", "send key-1 at 0s", "sleep 100ms")
}

// Whatever the numbers: one key, pauses that double up to their bound, and
// nothing sent after the horizon.
func TestRetryLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, from, to int64) time.Duration {
			return time.Duration(rapid.Int64Range(from, to).Draw(t, name)) * time.Millisecond
		}
		r := client.Retry{Horizon: ms("Horizon", 1, 3000), First: ms("First", 1, 200)}
		r.Most = r.First + ms("Most above First", 0, 400)
		w := &world{takes: ms("takes", 0, 100), over: ms("over", 0, 300)}
		if _, err := w.client(r).Pay(context.Background(), order); !errors.Is(err, impl.ErrUnknown) {
			t.Fatalf("Pay returned %v, want the last answer", err)
		}
		var now time.Duration
		want := []string{"journal key-1"}
		for pause := r.First; ; pause *= 2 {
			pause = min(pause, r.Most)
			want = append(want, fmt.Sprintf("send key-1 at %v", now))
			if now += w.takes + pause; now > r.Horizon {
				break
			}
			want = append(want, fmt.Sprintf("sleep %v", pause))
			if now += w.over; now > r.Horizon {
				break
			}
		}
		if !slices.Equal(w.log, want) {
			t.Fatalf("happened\n  %s\nwant\n  %s", strings.Join(w.log, "\n  "), strings.Join(want, "\n  "))
		}
	})
}
