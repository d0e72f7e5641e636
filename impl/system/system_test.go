package system_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chargeonce/chargeonce/impl/idemkey"
	"github.com/chargeonce/chargeonce/impl/system"
)

// The bubble's time goes on only when everybody in it sleeps, so nothing here
// depends on how fast the machine is.
func TestClockSleepsAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := (system.Clock{}).Sleep(t.Context(), 700*time.Millisecond); err != nil {
			t.Fatalf("Sleep: %v", err)
		}
		if d := time.Since(start); d != 700*time.Millisecond {
			t.Errorf("slept for %v, want 700ms", d)
		}
	})
}

func TestClockWakesUpWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := (system.Clock{}).Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Sleep returned %v, want %v", err, context.DeadlineExceeded)
		}
		if d := time.Since(start); d != 300*time.Millisecond {
			t.Errorf("slept for %v, want 300ms", d)
		}
	})
}

func TestClockDoesNotSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		for _, tt := range []struct {
			name string
			ctx  context.Context
			d    time.Duration
			want error
		}{
			{"for no time", t.Context(), 0, nil},
			{"for less than no time", t.Context(), -time.Second, nil},
			{"when nobody waits", cancelled, time.Hour, context.Canceled},
			{"for no time when nobody waits", cancelled, 0, context.Canceled},
		} {
			if err := (system.Clock{}).Sleep(tt.ctx, tt.d); !errors.Is(err, tt.want) {
				t.Errorf("%s: Sleep returned %v, want %v", tt.name, err, tt.want)
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("slept for %v, want not at all", d)
		}
	})
}

// Instants with a monotonic reading would be compared by it, and it stops
// while the machine is suspended.
func TestClockTellsWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := time.Now().Round(0).UTC()
		// The struct comparison sees the monotonic reading and the location,
		// which Equal passes over.
		if now := (system.Clock{}).Now(); now != want {
			t.Errorf("Now returned %#v, want %#v", now, want)
		}
	})
}

func TestRandomIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		for _, id := range []string{system.RandomIDs{}.Key(), system.RandomIDs{}.Owner()} {
			if seen[id] {
				t.Fatalf("%q came twice", id)
			}
			seen[id] = true
			if _, err := idemkey.Parse(id); err != nil {
				t.Fatalf("%q is no key: %v", id, err)
			}
			if len(id)*5 < 128 { // five bits a character
				t.Fatalf("%q has fewer than 128 bits", id)
			}
		}
	}
	// Each place of a name takes all 32 letters: 2,000 draws miss one of
	// 26·32 with a probability below 1e-24.
	for place := range 26 {
		letters := map[byte]bool{}
		for id := range seen {
			letters[id[place]] = true
		}
		if len(letters) != 32 {
			t.Errorf("place %d takes %d letters, want 32", place, len(letters))
		}
	}
}
