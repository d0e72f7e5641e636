package impl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// A record that only a person can settle keeps its lease, and so its place
// before all younger ones. However many of them there are, one sweep gets past
// them.
func TestReviewsHideNothing(t *testing.T) {
	cfg := baseConfig()
	cfg.ProviderWindow = 30 * time.Second
	w := open(t, cfg)
	const reviews = 150
	for i := range reviews {
		key := fmt.Sprintf("r%03d", i)
		w.run("fault charge drop")
		w.run("handle key=" + key)
		w.run("plant key=" + key + " amount=7")
	}
	w.now += time.Second
	w.run("reconcile")
	for i := range reviews {
		if rec := w.stored(id(args{t: t}, fmt.Sprintf("r%03d", i))); rec.State != impl.StateReview {
			t.Fatalf("%s is %v, want it in review", rec.Key, rec.State)
		}
	}
	w.chargedAndForgotten("charged")
	w.now += time.Second
	w.run("reconcile")
	w.isPaid("charged")
}

// Neither do records whose clients may still ask.
func TestAbandonedRecordsHideNothing(t *testing.T) {
	cfg := baseConfig()
	cfg.ProviderWindow, cfg.RetryHorizon, cfg.Retention = 48*time.Hour, 24*time.Hour, 49*time.Hour
	w := open(t, cfg)
	for i := range 250 {
		w.run("fault charge drop")
		w.run("handle key=" + strconv.Itoa(i)) // all at one instant: their names decide the order
	}
	w.now++
	w.chargedAndForgotten("charged")
	w.now += 12 * time.Hour
	w.run("reconcile")
	w.isPaid("charged")
}

// A sweep asks once where one answer has all, and each record comes once.
func TestSweepPages(t *testing.T) {
	for _, tt := range []struct{ records, calls int }{{0, 1}, {1, 1}, {99, 1}, {100, 2}, {101, 2}, {199, 2}, {200, 3}, {201, 3}} {
		w := open(t, baseConfig())
		for i := range tt.records {
			w.run("fault charge drop")
			w.run("handle key=" + strconv.Itoa(i))
		}
		w.now += time.Second
		w.observed = nil
		var keys []string
		for rec, err := range w.sweep() {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, rec.Key)
		}
		if len(w.observed) != tt.calls {
			t.Errorf("%d records: %d calls, want %d", tt.records, len(w.observed), tt.calls)
		}
		slices.Sort(keys)
		if distinct := slices.Compact(keys); len(keys) != tt.records || len(distinct) != tt.records {
			t.Errorf("%d records: %d came, %d of them distinct", tt.records, len(keys), len(distinct))
		}
	}
}

// What a page had is not lost when the next one fails, and the error is told,
// once.
func TestSweepFailsOnItsSecondPage(t *testing.T) {
	w := open(t, baseConfig())
	for i := range 120 {
		w.run("fault charge drop")
		w.run("handle key=" + strconv.Itoa(i))
	}
	w.now += time.Second
	w.run("fault sweep none")
	w.run("fault sweep drop")
	records, failures := 0, 0
	for rec, err := range w.sweep() {
		if err != nil {
			failures++
			if !errors.Is(err, impl.ErrUnknown) || rec.Key != "" {
				t.Errorf("the sweep ended with %q, %v", rec.Key, err)
			}
			continue
		}
		records++
	}
	if records != 100 || failures != 1 {
		t.Errorf("%d records and %d failures, want 100 and 1", records, failures)
	}
}

func TestSweepStops(t *testing.T) {
	w := open(t, baseConfig())
	for i := range 120 {
		w.run("fault charge drop")
		w.run("handle key=" + strconv.Itoa(i))
	}
	w.now += time.Second
	w.observed = nil
	records := 0
	for range w.sweep() {
		if records++; records == 100 {
			break
		}
	}
	if len(w.observed) != 1 {
		t.Errorf("who leaves with the first page has made %d calls, want 1", len(w.observed))
	}
}

func open(t *testing.T, cfg impl.Config) *world {
	t.Helper()
	w, err := newWorld(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.t = t
	return w
}

func (w *world) sweep() func(func(impl.Record, error) bool) {
	ports := impl.Ports{Registry: (*store)(w), Clock: w, IDs: w, Observer: w}
	return impl.Begin(context.Background(), &w.cfg, &ports).Sweep(w.Now())
}

func (w *world) chargedAndForgotten(key string) {
	w.run("fault charge lose")
	w.run("handle key=" + key)
}

func (w *world) isPaid(key string) {
	w.t.Helper()
	if rec := w.stored(id(args{t: w.t}, key)); rec.State != impl.StateSucceeded {
		w.t.Errorf("%s was charged, and after a sweep it is %v", key, rec.State)
	}
}
