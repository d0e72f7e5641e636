package search

import (
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// benchScenario is two clients, two replicas, three operations.
var benchScenario = sim.Scenario{
	Name: "bench", Servers: 2, Chaos: 2e9,
	Orders: []sim.Order{
		{Tenant: "acme", Amount: 1200, Currency: "EUR", Source: "card_1", Key: "page-7f3a"},
		{Tenant: "acme", Amount: 4550, Currency: "EUR", Source: "card_2"},
		{Tenant: "acme", Amount: 700, Currency: "EUR", Source: "card_3"},
	},
	Clients: [][]sim.Pay{{{Order: 1}, {Order: 2}}, {{Order: 1}, {Order: 3}}},
}

func benchSubject() Subject {
	d, _ := designs.ByName("reference")
	p, _ := provider.ByName("keyed")
	return Subject{Design: d, Scenario: benchScenario, Profile: p, Classes: sim.Within()}
}

// BenchmarkReference is the reference service with every fault within the
// assumptions on, judged by the invariants.
//
//	go test -run - -bench Reference -benchmem ./sim/search
func BenchmarkReference(b *testing.B) {
	r, empty, _, _ := openMemory()
	a, err := newArena(benchSubject(), r, empty)
	if err != nil {
		b.Fatal(err)
	}
	var swarm Swarm
	b.ReportAllocs()
	var i uint64
	events, sites := 0, 0
	for b.Loop() {
		i++
		weather := swarm.Reset(1, i, sim.ServiceConfig(a.subject.Profile).MessageLifetime)
		res := a.run(&swarm, how{weather: weather})
		events += res.Events
		sites += res.Sites
		if v := a.worst(); v != nil || res.Finding != nil {
			b.Fatal(v, res.Finding)
		}
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(events)/float64(i), "events/run")
	b.ReportMetric(float64(sites)/float64(i), "sites/run")
}

func BenchmarkBenign(b *testing.B) {
	r, empty, _, _ := openMemory()
	a, err := newArena(benchSubject(), r, empty)
	if err != nil {
		b.Fatal(err)
	}
	var none plan.Fixed
	b.ReportAllocs()
	for b.Loop() {
		a.run(&none, how{})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
