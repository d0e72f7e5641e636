package sqlite_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/sqlite"
)

func claim(i int) impl.Record {
	at := time.Unix(1741521600, 0)
	return impl.Record{
		ID:          impl.ID{Scope: "4:acme POST /payments", Key: "order-" + strconv.Itoa(i)},
		Fingerprint: "v1.c1bgbV0DvqXHQji2WCOjEsDscmMn8vRvikgX7DNrqdY",
		Request:     []byte(`{"amount":1250,"currency":"EUR"}`),
		ProviderKey: "v1-RMXW4EemBvi5Ct18AvSZoXKqpTTelSYMT_OgZkVoIJQ",
		State:       impl.StateClaimed,
		Owner:       "server-1/1",
		WindowFrom:  at,
		LeaseUntil:  at.Add(time.Minute),
	}
}

// BenchmarkRun is a run of the simulator: 11 claims, 10 updates, and a
// database that is used again.
func BenchmarkRun(b *testing.B) {
	for name, o := range map[string]sqlite.Options{
		"memory": {InMemory: true},
		"file":   {Path: filepath.Join(b.TempDir(), "registry.db")},
	} {
		b.Run(name, func(b *testing.B) {
			r := open(b, o)
			b.ReportAllocs()
			for b.Loop() {
				benchmarkRun(b, r)
			}
		})
	}
}

func benchmarkRun(b *testing.B, r *sqlite.Registry) {
	ctx := context.Background()
	for i := range 11 {
		rec := claim(i)
		stored, inserted, err := r.Insert(ctx, impl.StepClaim, rec)
		if err != nil || !inserted {
			b.Fatal(inserted, err)
		}
		if i == 0 {
			continue
		}
		stored.State = impl.StateSucceeded
		stored.Reply = impl.Reply{Outcome: impl.OutcomePaid, Status: 201, Header: []impl.HeaderField{{Name: "Content-Type", Value: "application/json"}}, Body: []byte(`{"status":"paid"}`)}
		if err := r.Update(ctx, impl.StepComplete, stored.Fence(), stored); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.Reset(ctx); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkGet(b *testing.B) {
	r, ctx, rec := open(b, sqlite.Options{InMemory: true}), context.Background(), claim(1)
	if _, _, err := r.Insert(ctx, impl.StepClaim, rec); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Get(ctx, impl.StepReadBack, rec.ID); err != nil {
			b.Fatal(err)
		}
	}
}
