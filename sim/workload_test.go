package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// Workload W is a payment protocol as small as it can be, written the same
// way for several simulators so that their speed can be compared: two clients
// race on one key and then pay two of their own each; a replica claims,
// charges, saves and replies, and says nothing when a call of its own fails.

// racer is W's handler.
type racer struct{ ports impl.Ports }

func (h *racer) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	rec, mine, err := h.ports.Registry.Insert(ctx, impl.StepClaim, impl.Record{
		ID: impl.ID{Scope: req.Scope, Key: req.Key}, State: impl.StateClaimed, Owner: h.ports.IDs.Owner(),
		Request: req.Body, ProviderKey: req.Key,
	})
	switch {
	case err != nil:
		return impl.Reply{}, context.Canceled
	case !mine && rec.State == impl.StateSucceeded:
		return rec.Reply, nil
	case !mine:
		return impl.Reply{}, impl.ErrInProgress
	}
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Key: req.Key, Ref: req.Key, Body: req.Body})
	if err != nil {
		return impl.Reply{}, context.Canceled
	}
	was := rec.Fence()
	rec.State, rec.ChargeID = impl.StateSucceeded, result.ChargeID
	rec.Reply = impl.Reply{Outcome: impl.OutcomePaid, Status: 201, ChargeID: result.ChargeID, Body: receipt}
	if h.ports.Registry.Update(ctx, impl.StepComplete, was, rec) != nil {
		return impl.Reply{}, context.Canceled
	}
	return rec.Reply, nil
}

var receipt = []byte(`{"amount":1200,"currency":"EUR"}`)

// racingClient is W's client: four attempts at most, a pause only after "in
// progress".
type racingClient struct{ ports impl.ClientPorts }

func (c *racingClient) Pay(ctx context.Context, p impl.Payment) (impl.Reply, error) {
	key := p.Key
	if key == "" {
		key = c.ports.IDs.Key()
		c.ports.Journal(key)
	}
	var reply impl.Reply
	var err error
	for range 4 {
		reply, err = c.ports.Transport.Send(ctx, impl.Request{Scope: p.Scope, Key: key, Body: p.Body})
		if err == nil {
			return reply, nil
		}
		if errors.Is(err, impl.ErrInProgress) {
			_ = c.ports.Clock.Sleep(ctx, 50*time.Millisecond)
		}
	}
	return reply, err
}

// lossy loses 5 % of the messages and crashes one replica once, at one of the
// first process sites that it comes by.
type lossy struct {
	seed    uint64
	victim  plan.Process
	crashIn int
}

func (l *lossy) reset(seed uint64) {
	l.seed = plan.Mix(seed)
	l.victim = plan.Server | plan.Process(1+l.seed%2)
	l.crashIn = int(plan.Mix(l.seed) % 24)
}

func (l *lossy) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	switch {
	case site.What() == plan.WhatMessage:
		if uint32(plan.Mix(l.seed^uint64(site))) < 1<<32/20 {
			return plan.Choice{Class: plan.ClassDrop}
		}
	case site.Who() == l.victim && site.What() != plan.WhatClock:
		if l.crashIn--; l.crashIn == 0 {
			return plan.Choice{Class: plan.ClassCrash}
		}
	}
	return plan.Choice{}
}

func workload(tb testing.TB) *sim.World {
	order := func(key string) sim.Order {
		return sim.Order{Tenant: "acme", Amount: 1200, Currency: "EUR", Source: "card_1", Key: key}
	}
	store := memory.New()
	profile, err := provider.ByName("keyed")
	if err != nil {
		tb.Fatal(err)
	}
	timing := sim.DefaultTiming
	timing.ClientTimeout = 200 * time.Millisecond
	cfg := sim.Config{
		Design: impl.Design{
			Name:    "workload-w",
			Client:  func(_ impl.Config, p impl.ClientPorts) impl.Client { return &racingClient{p} },
			Handler: func(_ impl.Config, p impl.Ports) impl.Handler { return &racer{p} },
		},
		Scenario: sim.Scenario{
			Name: "workload-w", Servers: 2, Chaos: 10 * time.Second,
			Orders:  []sim.Order{order("shared"), order("a"), order("b"), order("c"), order("d")},
			Clients: [][]sim.Pay{{{Order: 1}, {Order: 2}, {Order: 3}}, {{Order: 1}, {Order: 4}, {Order: 5}}},
		},
		Profile: profile, Timing: timing, Store: store, Empty: func() error { store.Reset(); return nil },
	}
	cfg.Classes[plan.ClassDrop], cfg.Classes[plan.ClassCrash] = true, true
	w, err := sim.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// charged are the invariants that must hold in W; an order may well be given
// up, since nobody resolves what a crash has left open.
func charged(tb testing.TB, c *invariant.Checker) {
	for _, v := range c.Violations() {
		if v.Invariant == invariant.SingleCharge || v.Invariant == invariant.TruthfulReply || v.Invariant == invariant.StableReply {
			tb.Fatalf("%v: %s", v.Invariant, v.Sentence)
		}
	}
}

// BenchmarkWorkloadW is workload W with the log, the hash and all invariants
// on, one core.
//
//	GOGC=400 go test -run - -bench WorkloadW -benchmem -cpu 1 ./sim
//
// Built with a profile of itself (-cpuprofile w.prof, then -pgo w.prof) it is
// some 6 % faster.
func BenchmarkWorkloadW(b *testing.B) {
	w := workload(b)
	header := w.Header()
	checker := invariant.New(header)
	var choose lossy
	var sent, received, lines, crashes int
	counted := 1e-9
	b.ReportAllocs()
	runs := uint64(0)
	for b.Loop() {
		runs++
		choose.reset(runs)
		checker.Reset(header)
		res := w.Run(&choose, sim.Options{Weather: plan.Mix(runs) | 1, Sink: checker, Trace: true})
		if res.Finding != nil {
			b.Fatal(res.Finding)
		}
		charged(b, checker)
		crashes += res.Effective[plan.ClassCrash]
		lines += len(w.Lines())
		if runs%64 != 0 {
			continue
		}
		counted++
		for _, l := range w.Lines() {
			switch l.Mark {
			case sim.MarkSend, sim.MarkAnswer:
				sent++
			case sim.MarkDeliver, sim.MarkReturn, sim.MarkStray:
				received++
			}
		}
	}
	n := float64(runs)
	b.ReportMetric(n/b.Elapsed().Seconds(), "executions/s")
	b.ReportMetric(float64(sent)/counted, "sent/execution")
	b.ReportMetric(float64(received)/counted, "received/execution")
	b.ReportMetric(float64(lines)/n, "lines/execution")
	b.ReportMetric(float64(crashes)/n, "crashes/execution")
}
