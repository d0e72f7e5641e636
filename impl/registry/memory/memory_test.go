package memory_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/impl/registry/registrytest"
)

func TestContract(t *testing.T) {
	registrytest.Run(t, func(*testing.T) impl.Registry { return memory.New() }, registrytest.SharesBytes)
}

func claim(i int, at time.Time) impl.Record {
	return impl.Record{
		ID:         impl.ID{Scope: "4:acme POST /payments", Key: "order-" + strconv.Itoa(i)},
		Request:    []byte(`{"amount":1250,"currency":"EUR"}`),
		State:      impl.StateClaimed,
		Owner:      "owner",
		WindowFrom: at,
		LeaseUntil: at,
	}
}

// A database keeps instants, and what is printed must not depend on the
// adapter.
func TestTimesAreInstants(t *testing.T) {
	ctx, r := context.Background(), memory.New()
	at := time.Unix(1, 0)
	rec, _, err := r.Insert(ctx, impl.StepClaim, claim(1, at.In(time.FixedZone("UTC+9", 9*60*60))))
	if err != nil {
		t.Fatal(err)
	}
	if rec.WindowFrom != at.UTC() || rec.LeaseUntil != at.UTC() || rec.ExpiresAt != (time.Time{}) {
		t.Errorf("times are %v, %v and %v, want %v twice and none", rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt, at.UTC())
	}
}

// A simulator runs millions of plans on one registry.
func TestReuseAllocatesNothing(t *testing.T) {
	ctx, r, at := context.Background(), memory.New(), time.Unix(1, 0)
	var claims [11]impl.Record
	for i := range claims {
		claims[i] = claim(i, at)
	}
	run := func() {
		for _, rec := range claims {
			if _, inserted, err := r.Insert(ctx, impl.StepClaim, rec); !inserted || err != nil {
				t.Fatalf("Insert returned %v, %v", inserted, err)
			}
			if _, ok, err := r.Get(ctx, impl.StepReadBack, rec.ID); !ok || err != nil {
				t.Fatalf("Get returned %v, %v", ok, err)
			}
			if err := r.Update(ctx, impl.StepComplete, impl.Fence{Version: 1, Owner: rec.Owner}, rec); err != nil {
				t.Fatal(err)
			}
		}
		if due, err := r.Unfinished(ctx, impl.StepSweep, at, impl.Cursor{}, 100); len(due) != 0 || err != nil {
			t.Fatalf("Unfinished returned %v, %v", due, err)
		}
		r.Reset()
	}
	// AllocsPerRun rounds its average down, so that one growth of a slice
	// in hundreds of runs would go unseen: count over all of them.
	manyRuns := func() {
		for range 500 {
			run()
		}
	}
	if n := testing.AllocsPerRun(1, manyRuns); n != 0 {
		t.Errorf("500 runs on a used registry allocate %v times, want 0", n)
	}
}

// BenchmarkRun is a run of the simulator: 11 claims, 10 updates, and sweeps
// that find nothing.
func BenchmarkRun(b *testing.B) {
	ctx, r, at := context.Background(), memory.New(), time.Unix(1, 0)
	var claims [11]impl.Record
	for i := range claims {
		claims[i] = claim(i, at)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i, rec := range claims {
			_, _, _ = r.Insert(ctx, impl.StepClaim, rec)
			if i > 0 {
				_ = r.Update(ctx, impl.StepComplete, impl.Fence{Version: 1, Owner: rec.Owner}, rec)
			}
		}
		_, _ = r.Unfinished(ctx, impl.StepSweep, at, impl.Cursor{}, 100)
		r.Reset()
	}
}

func BenchmarkGet(b *testing.B) {
	ctx, r, at := context.Background(), memory.New(), time.Unix(1, 0)
	rec := claim(1, at)
	_, _, _ = r.Insert(ctx, impl.StepClaim, rec)
	b.ReportAllocs()
	for b.Loop() {
		_, _, _ = r.Get(ctx, impl.StepReadBack, rec.ID)
	}
}
