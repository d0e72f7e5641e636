package network_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/network"
	"github.com/chargeonce/chargeonce/sim/plan"
)

var shape = network.Config{Hop: 5e6, Low: 1e6, High: 50e6}

var nodes = []plan.Process{plan.Client | 1, plan.Server | 1, plan.Server | 2, plan.Reconciler | 1, plan.Registry, plan.Provider}

func sites() *rapid.Generator[plan.Site] {
	return rapid.Custom(func(t *rapid.T) plan.Site {
		node := rapid.SampledFrom(nodes)
		attempt := plan.NewAttempt(plan.Client|1, rapid.IntRange(1, 9).Draw(t, "order"), rapid.IntRange(1, 9).Draw(t, "try"))
		site := plan.NewSite(plan.WhatMessage, node.Draw(t, "from"), node.Draw(t, "to"), impl.StepCharge, attempt)
		return site.Nth(rapid.IntRange(1, 5).Draw(t, "occurrence"))
	})
}

func TestWithoutWeatherEveryHopTakesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n network.Network
		n.Reset(shape, 0)
		if d := n.Delay(sites().Draw(t, "site")); d != shape.Hop {
			t.Fatalf("a hop takes %d, want %d", d, shape.Hop)
		}
	})
}

// With weather the delay lies in [low, high) and is a function of the weather
// and the site alone: not of what was asked before, nor of the links.
func TestDelayDependsOnWeatherAndSiteOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weather := rapid.Uint64Min(1).Draw(t, "weather")
		low := rapid.Int64Range(0, 1e7).Draw(t, "low")
		cfg := network.Config{Hop: 5, Low: low, High: low + rapid.Int64Range(1, 1e9).Draw(t, "spread")}
		site := sites().Draw(t, "site")
		var fresh, used network.Network
		fresh.Reset(cfg, weather)
		used.Reset(shape, weather+1)
		used.Block(plan.Server|1, 0, 9e9, network.Stall)
		for range rapid.IntRange(0, 5).Draw(t, "questions before") {
			used.Delay(sites().Draw(t, "other"))
		}
		used.Reset(cfg, weather)
		used.Block(site.Who(), site.Peer(), 9e9, network.Cut)
		d := fresh.Delay(site)
		if d < cfg.Low || d >= cfg.High {
			t.Fatalf("the delay %d is outside [%d, %d)", d, cfg.Low, cfg.High)
		}
		if again, other := fresh.Delay(site), used.Delay(site); again != d || other != d {
			t.Fatalf("the delays of one site in one weather are %d, %d and in another network %d", d, again, other)
		}
	})
}

// Delays reach all of their range and differ from site to site and from
// weather to weather: one that ignored either would be no weather.
func TestDelaysSpread(t *testing.T) {
	site := plan.NewSite(plan.WhatMessage, plan.Server|1, plan.Provider, impl.StepCharge, plan.NewAttempt(plan.Client|1, 1, 1))
	var n network.Network
	const many, parts = 4000, 8
	count := func(delay func(i int) int64) (hits [parts]int) {
		for i := range many {
			hits[(delay(i)-shape.Low)*parts/(shape.High-shape.Low)]++
		}
		return hits
	}
	for _, tt := range []struct {
		name  string
		delay func(i int) int64
	}{
		{"by weather", func(i int) int64 { n.Reset(shape, uint64(i)+1); return n.Delay(site) }},
		{"by site", func(i int) int64 { n.Reset(shape, 7); return n.Delay(site.Nth(i%2000 + 1)) }},
	} {
		for part, n := range count(tt.delay) {
			if n < many/parts/2 || n > many/parts*2 {
				t.Errorf("%s: %d of %d delays lie in part %d of %d", tt.name, n, many, part+1, parts)
			}
		}
	}
}

// The machine blocks and heals at random and compares every passage with a
// list of everything that was ever blocked.
func TestPassages(t *testing.T) {
	type block struct {
		from, to plan.Process
		until    int64
		kind     network.Kind
	}
	rapid.Check(t, func(t *rapid.T) {
		var n network.Network
		n.Reset(shape, 0)
		var blocks []block
		now := int64(0)
		node := rapid.SampledFrom(nodes)
		t.Repeat(map[string]func(*rapid.T){
			"block a link": func(t *rapid.T) {
				b := block{node.Draw(t, "from"), node.Draw(t, "to"), now + rapid.Int64Range(0, 20).Draw(t, "for"), network.Kind(rapid.Bool().Draw(t, "stall"))}
				n.Block(b.from, b.to, b.until, b.kind)
				blocks = append(blocks, b)
			},
			"block a node": func(t *rapid.T) {
				b := block{node.Draw(t, "node"), 0, now + rapid.Int64Range(0, 20).Draw(t, "for"), network.Kind(rapid.Bool().Draw(t, "stall"))}
				n.Block(b.from, 0, b.until, b.kind)
				blocks = append(blocks, b)
			},
			"wait": func(t *rapid.T) { now += rapid.Int64Range(1, 15).Draw(t, "for") },
			"heal": func(t *rapid.T) { n.Heal(); blocks = nil },
			"reset": func(t *rapid.T) {
				n.Reset(shape, 0)
				blocks, now = nil, 0
			},
			"": func(t *rapid.T) {
				for _, from := range nodes {
					for _, to := range nodes {
						want := network.Passage{}
						for _, b := range blocks {
							link := b.to != 0 && b.from == from && b.to == to
							ofNode := b.to == 0 && (b.from == from || b.from == to)
							switch {
							case now >= b.until || !link && !ofNode:
							case b.kind == network.Cut:
								want.Lost = true
							default:
								want.Until = max(want.Until, b.until)
							}
						}
						if got := n.Pass(now, from, to); got != want {
							t.Fatalf("at %d, after %+v, %v→%v passes as %+v, want %+v", now, blocks, from, to, got, want)
						}
					}
				}
			},
		})
	})
}
