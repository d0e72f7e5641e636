package designs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/client"
)

func TestNamesAreSortedAndFound(t *testing.T) {
	var names []string
	for _, d := range All() {
		names = append(names, d.Name)
		found, err := ByName(d.Name)
		if err != nil || found.Name != d.Name {
			t.Errorf("ByName(%q) = %q, %v", d.Name, found.Name, err)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are not sorted and distinct: %v", names)
	}
	if len(names) < 45 {
		t.Errorf("%d designs, want at least 45", len(names))
	}
}

func TestUnknownNameListsNearOnes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		want  []string
		never []string
	}{
		{"refrence", []string{"reference"}, []string{"no-retry"}},
		{"journal", []string{"journal-and-compensate", "journal-and-wait"}, []string{"reference"}},
		{"two-phase-commit", []string{"reference", "local-lock", "charge-then-save"}, nil}, // none is near: all
		{"", []string{"reference", "local-lock"}, nil},
	} {
		_, err := ByName(tt.name)
		if err == nil {
			t.Errorf("ByName(%q) found a design", tt.name)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("ByName(%q): %v: want it to name %s", tt.name, err, want)
			}
		}
		for _, never := range tt.never {
			if strings.Contains(err.Error(), never) {
				t.Errorf("ByName(%q): %v: %s is not near", tt.name, err, never)
			}
		}
	}
}

func TestDesignsAreComplete(t *testing.T) {
	for _, d := range All() {
		if d.Summary == "" || d.Doc == "" || d.Source == "" || d.Expect == "" || len(d.Profiles) == 0 {
			t.Errorf("%s: a field of its description is empty", d.Name)
		}
		if strings.Contains(d.Summary, "\n") {
			t.Errorf("%s: the summary is not one line", d.Name)
		}
		if d.Client == nil || d.Handler == nil {
			t.Errorf("%s: no client or no handler", d.Name)
		}
		if d.Expect != held && len(d.Scenarios) == 0 {
			t.Errorf("%s: in which scenario does its defect show?", d.Name)
		}
	}
}

// Where nothing goes wrong, every design pays once, under each profile that
// it is meant for; and the order paid again is told the same.
func TestPaysOnceInABenignWorld(t *testing.T) {
	for _, d := range All() {
		for _, profile := range d.Profiles {
			t.Run(d.Name+"/"+profile, func(t *testing.T) {
				if d.Name == "outbox-without-dedupe" {
					t.Skip("its relay charges, and no process of its own runs here")
				}
				w := newWorld(t, d, profile)
				reply, err := w.pay("", 1200)
				if err != nil || reply.Outcome != impl.OutcomePaid || reply.Replayed {
					t.Fatalf("Pay = %+v, %v; want paid", reply, err)
				}
				if net := w.bank.net(); len(net) != 1 || net[0] != reply.ChargeID || w.sends != 1 {
					t.Fatalf("net charges %v after %d attempts, told %s", net, w.sends, reply.ChargeID)
				}
				again, err := w.pay(w.journaled, 1200)
				switch d.Name {
				case "retry-without-key", "key-not-journaled":
					if err != nil || again.ChargeID == reply.ChargeID {
						t.Errorf("Pay again = %+v, %v; want a second charge", again, err)
					}
				case "no-retry":
					if !errors.Is(err, impl.ErrUnknown) || w.sends != 1 {
						t.Errorf("Pay again = %+v, %v after %d attempts; want no second attempt", again, err, w.sends)
					}
				case "replays-as-200":
					if err != nil || again.Status != 200 || again.ChargeID != reply.ChargeID {
						t.Errorf("Pay again = %+v, %v; want the charge of %+v with status 200", again, err, reply)
					}
				default:
					if err != nil || !again.Replayed || !again.Equal(&reply) {
						t.Errorf("Pay again = %+v, %v; want a replay of %+v", again, err, reply)
					}
				}
			})
		}
	}
}

func TestDeclineIsToldAndReplayed(t *testing.T) {
	for _, d := range All() {
		for _, profile := range d.Profiles {
			t.Run(d.Name+"/"+profile, func(t *testing.T) {
				if d.Name == "outbox-without-dedupe" {
					t.Skip("its relay charges, and no process of its own runs here")
				}
				w := newWorld(t, d, profile)
				w.bank.decline = true
				reply, err := w.pay("", 1200)
				if err != nil || reply.Outcome != impl.OutcomeDeclined || len(w.bank.charges) != 0 {
					t.Fatalf("Pay = %+v, %v with charges %v; want declined and none", reply, err, w.bank.charges)
				}
				switch d.Name {
				case "retry-without-key", "key-not-journaled", "no-retry", "replays-as-200":
					return
				}
				w.bank.decline = false
				again, err := w.pay(w.journaled, 1200)
				if err != nil || !again.Replayed || !again.Equal(&reply) || len(w.bank.charges) != 0 {
					t.Errorf("Pay again = %+v, %v; want a replay of %+v", again, err, reply)
				}
			})
		}
	}
}

func TestUnreadableRequestsAreRefused(t *testing.T) {
	for _, d := range All() {
		for _, req := range []impl.Request{
			{Scope: scope, Endpoint: endpoint, Key: "", Body: body(1200)},
			{Scope: scope, Endpoint: endpoint, Key: "order-1", Body: []byte(`{"amount":12`)},
			{Scope: scope, Endpoint: endpoint, Key: "order-1", Body: []byte(`{"amount":0,"currency":"EUR"}`)},
		} {
			w := newWorld(t, d, d.Profiles[0])
			if _, err := w.Send(t.Context(), req); !errors.Is(err, impl.ErrRefused) || len(w.bank.keys) != 0 {
				t.Errorf("%s: Send(%q, %s): %v after %d charges; want it refused", d.Name, req.Key, req.Body, err, len(w.bank.keys))
			}
		}
	}
}

// One small misfortune for each wrong design: it falls, and the reference,
// given the same, does not.
func TestOneMisfortuneTellsTheWrongOnes(t *testing.T) {
	twoCharges := func(w *world) bool { return len(w.bank.net()) > 1 }
	concurrent := func(w *world) bool {
		w.bank.during = func() { _, _ = w.pay("order-1", 1200) }
		_, _ = w.pay("order-1", 1200)
		return twoCharges(w)
	}
	lostCharge := func(w *world) bool {
		w.bank.loseCharges = 1
		_, _ = w.pay("", 1200)
		return twoCharges(w)
	}
	for _, tt := range []struct {
		design string
		falls  func(w *world) bool
	}{
		{"retry-without-key", func(w *world) bool {
			w.loseReplies = 1
			_, _ = w.pay("", 1200)
			return twoCharges(w)
		}},
		{"no-retry", func(w *world) bool {
			w.loseReplies = 1
			_, err := w.pay("", 1200)
			return !client.Final(err)
		}},
		{"local-lock", concurrent},
		{"check-then-insert", concurrent},
		{"charge-then-save", lostCharge},
		{"key-per-attempt", lostCharge},
		{"short-retention", func(w *world) bool {
			_, _ = w.pay("order-1", 1200)
			w.sweep(t, w.cfg.RetryHorizon/2)
			clear(w.bank.stored) // the provider's window is over
			_, _ = w.pay("order-1", 1200)
			return twoCharges(w)
		}},
		{"no-fingerprint", func(w *world) bool {
			_, _ = w.pay("order-1", 1200)
			_, err := w.pay("order-1", 9900)
			return !errors.Is(err, impl.ErrMismatch)
		}},
		{"timeout-means-failed", func(w *world) bool {
			w.bank.loseCharges = 1
			reply, _ := w.pay("", 1200)
			return reply.Outcome == impl.OutcomeDeclined && len(w.bank.net()) > 0
		}},
	} {
		t.Run(tt.design, func(t *testing.T) {
			wrong, err := ByName(tt.design)
			if err != nil {
				t.Fatal(err)
			}
			if wrong.Expect == held {
				t.Fatalf("%s is not a wrong one", wrong.Name)
			}
			if !tt.falls(newWorld(t, wrong, wrong.Profiles[0])) {
				t.Errorf("%s did not fall", wrong.Name)
			}
			if tt.falls(newWorld(t, reference(), keyed)) {
				t.Error("the reference fell too")
			}
		})
	}
}

func TestKeyPerAttemptSendsFreshKeys(t *testing.T) {
	w := newWorld(t, keyPerAttempt(), keyed)
	w.bank.loseCharges = 2
	if _, err := w.pay("", 1200); err != nil {
		t.Fatal(err)
	}
	if keys := w.bank.keys; len(keys) != 3 || keys[0] == keys[1] || keys[1] == keys[2] || keys[0] == "" {
		t.Errorf("provider keys %q, want three different ones", keys)
	}
}

func TestJournalAndWaitDoesNotSendTwiceWhileTheFirstMayLand(t *testing.T) {
	w := newWorld(t, journalAndWait(), keylessLookup)
	w.bank.holdCharges = 1
	for range 3 {
		if _, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) {
			t.Fatalf("attempt: %v, want in progress", err)
		}
		w.now = w.now.Add(w.cfg.Lease / 2)
	}
	w.now = w.now.Add(w.cfg.MessageLifetime / 4)
	if _, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) || len(w.bank.keys) != 1 {
		t.Fatalf("attempt after the lease: %v after %d sends, want in progress after one", err, len(w.bank.keys))
	}
	w.bank.land()
	if reply, err := w.attempt(); err != nil || reply.ChargeID != "ch_1" || len(w.bank.net()) != 1 {
		t.Errorf("attempt after the landing = %+v, %v; want paid by ch_1", reply, err)
	}
}
