package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/impl/registry/sqlite"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
)

// threeOperations is two clients, two replicas, three operations, one of them
// shared.
var threeOperations = sim.Scenario{
	Name: "three-operations", Servers: 2, Chaos: 2 * time.Second,
	Orders: []sim.Order{
		{Tenant: "acme", Amount: 1200, Currency: "EUR", Source: "card_1", Key: "page-7f3a"},
		{Tenant: "acme", Amount: 4550, Currency: "EUR", Source: "card_2"},
		{Tenant: "acme", Amount: 700, Currency: "EUR", Source: "card_3"},
	},
	Clients: [][]sim.Pay{{{Order: 1}, {Order: 2}}, {{Order: 1}, {Order: 3}}},
}

// benchmarkReference is the reference service with every fault within the
// assumptions on, drawn by the default strategy, judged by all invariants, on
// one core.
func benchmarkReference(b *testing.B, store impl.Registry, empty func() error, model *refine.Checker) {
	d, err := designs.ByName("reference")
	if err != nil {
		b.Fatal(err)
	}
	profile, err := provider.ByName("keyed")
	if err != nil {
		b.Fatal(err)
	}
	w, err := sim.New(sim.Config{
		Design: d, Scenario: threeOperations, Profile: profile, Classes: sim.Within(), Store: store, Empty: empty,
	})
	if err != nil {
		b.Fatal(err)
	}
	header := w.Header()
	checker := invariant.New(header)
	draw := search.Strategies[0].New()
	lifetime := sim.ServiceConfig(profile).MessageLifetime
	var kept *history.Steps
	if model != nil {
		kept = new(history.Steps)
	}
	b.ReportAllocs()
	runs, events, sites := uint64(0), 0, 0
	for b.Loop() {
		runs++
		weather := draw.Reset(1, runs, lifetime)
		checker.Reset(header)
		res := w.Run(draw, sim.Options{Weather: weather, Sink: checker, Steps: kept})
		if v := checker.Violations(); len(v) > 0 || res.Finding != nil {
			b.Fatal(v, res.Finding)
		}
		if model != nil {
			if d := model.Check(kept).Divergence; d != nil {
				b.Fatal(d.Sentence())
			}
		}
		events += res.Events
		sites += res.Sites
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "executions/s")
	b.ReportMetric(float64(events)/float64(runs), "events/execution")
	b.ReportMetric(float64(sites)/float64(runs), "sites/execution")
}

// GOGC=400 go test -run - -bench Reference -benchmem -cpu 1 ./sim
func BenchmarkReferenceInMemory(b *testing.B) {
	r := memory.New()
	benchmarkReference(b, r, func() error { r.Reset(); return nil }, nil)
}

// Each run is also held against the protocol model: a quarter more time.
func BenchmarkReferenceRefines(b *testing.B) {
	r := memory.New()
	model := refine.New(search.Refinement(&sim.Config{Design: design(b, "reference"), Profile: profile(b, "keyed")}))
	benchmarkReference(b, r, func() error { r.Reset(); return nil }, model)
}

// The records are in the real SQLite, in memory.
func BenchmarkReferenceOnSQLite(b *testing.B) {
	r, err := sqlite.Open(context.Background(), sqlite.Options{InMemory: true})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	benchmarkReference(b, r, func() error { return r.Reset(context.Background()) }, nil)
}
