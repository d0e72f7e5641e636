package sim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// A process dies after its charge, while it is out, and as the handler begins.
var deaths = []string{
	"crash server-1 after charge of client-1/order-1/try-1",
	"crash server-1 during charge of client-1/order-1/try-1",
	"crash server-1 after request of client-1/order-1/try-1",
	"crash server-1 during claim of client-1/order-1/try-1",
}

// sameAs runs a plan with a misbehaving design and with the one that it
// wraps: what a dead process still does must not show.
func sameAs(t *testing.T, good, bad impl.Design, scenarioName string, plans ...string) {
	t.Helper()
	cfg := sim.Config{Design: good, Scenario: scenario(t, scenarioName), Profile: profile(t, "keyed"), Classes: sim.Within()}
	want := newStage(t, cfg)
	cfg.Design = bad
	got := newStage(t, cfg)
	for _, line := range plans {
		a := keep(want, want.follow(t, line))
		b := keep(got, got.follow(t, line))
		if b.result.Finding != nil {
			t.Errorf("%q: %v", line, b.result.Finding)
		}
		compare(t, line, a, b)
	}
}

// Every port of a dead process panics, and nothing that it asks for happens.
func TestPortsOfADeadProcessDoNothing(t *testing.T) {
	ctx := context.Background()
	junk := impl.Record{ID: impl.ID{Scope: "s", Key: "k"}, ProviderKey: "p", State: impl.StateClaimed}
	ports := map[string]func(p impl.Ports){
		"Insert":     func(p impl.Ports) { _, _, _ = p.Registry.Insert(ctx, impl.StepClaim, junk) },
		"Get":        func(p impl.Ports) { _, _, _ = p.Registry.Get(ctx, impl.StepReadBack, junk.ID) },
		"Update":     func(p impl.Ports) { _ = p.Registry.Update(ctx, impl.StepComplete, impl.Fence{}, junk) },
		"Delete":     func(p impl.Ports) { _ = p.Registry.Delete(ctx, impl.StepCollect, junk.ID, impl.Fence{}) },
		"Unfinished": func(p impl.Ports) { _, _ = p.Registry.Unfinished(ctx, impl.StepSweep, time.Now(), impl.Cursor{}, 9) },
		"Expired":    func(p impl.Ports) { _, _ = p.Registry.Expired(ctx, impl.StepCollect, time.Now(), 9) },
		"Charge": func(p impl.Ports) {
			_, _ = p.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Body: []byte(`{"amount":1,"currency":"EUR"}`)})
		},
		"Lookup": func(p impl.Ports) { _, _ = p.Provider.Lookup(ctx, impl.StepLookUp, "p") },
		"Refund": func(p impl.Ports) { _ = p.Provider.Refund(ctx, impl.StepRefund, impl.RefundRequest{ChargeID: "ch_1"}) },
		"Now":    func(p impl.Ports) { p.Clock.Now() },
		"Sleep":  func(p impl.Ports) { _ = p.Clock.Sleep(ctx, time.Second) },
		"Key":    func(p impl.Ports) { p.IDs.Key() },
		"Owner":  func(p impl.Ports) { p.IDs.Owner() },
		"Lock":   func(p impl.Ports) { p.Locks.Lock(ctx, "l") },
		"Unlock": func(p impl.Ports) { p.Locks.Unlock("l") },
	}
	for name, call := range ports {
		called, passed := 0, 0
		bad := wrap(t, func(inner impl.Handler, p impl.Ports) impl.Handler {
			return handler(func(ctx context.Context, req impl.Request) (reply impl.Reply, err error) {
				alive := false
				defer func() {
					if alive {
						return
					}
					defer func() { _ = recover() }()
					called++
					call(p)
					passed++
				}()
				reply, err = inner.Handle(ctx, req)
				alive = true
				return reply, err
			})
		})
		t.Run(name, func(t *testing.T) {
			sameAs(t, design(t, "reference"), bad, "one-payment", deaths...)
			if called == 0 || passed > 0 {
				t.Errorf("the port was called %d times by the dead and answered %d times", called, passed)
			}
		})
	}
}

// A handler that catches its own death and answers all the same is not heard.
func TestWhatADeadHandlerReturnsIsDiscarded(t *testing.T) {
	lies := 0
	bad := wrap(t, func(inner impl.Handler, _ impl.Ports) impl.Handler {
		return handler(func(ctx context.Context, req impl.Request) (reply impl.Reply, err error) {
			defer func() {
				if recover() != nil {
					lies++
					reply, err = impl.DeclinedReply("crashed"), nil
				}
			}()
			return inner.Handle(ctx, req)
		})
	})
	sameAs(t, design(t, "reference"), bad, "one-payment", deaths[0], deaths[1], deaths[3])
	if lies != 3 {
		t.Errorf("%d lies were told, want 3", lies)
	}
}

// What a dead handler panics with is no finding.
func TestWhatADeadHandlerPanicsWithIsDiscarded(t *testing.T) {
	panics := 0
	bad := wrap(t, func(inner impl.Handler, _ impl.Ports) impl.Handler {
		return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
			defer func() {
				if recover() != nil {
					panics++
					panic("cleaning up went wrong")
				}
			}()
			return inner.Handle(ctx, req)
		})
	})
	sameAs(t, design(t, "reference"), bad, "one-payment", deaths[0], deaths[1], deaths[3])
	if panics != 3 {
		t.Errorf("%d panics, want 3", panics)
	}
}

// The last words of a dead client and of a dead reconciler do not count either.
func TestDeadClientsAndReconcilersAreNotHeard(t *testing.T) {
	caught := 0
	bad := design(t, "reference")
	newClient, newReconciler := bad.Client, bad.Reconciler
	bad.Client = func(cfg impl.Config, ports impl.ClientPorts) impl.Client {
		return payer(func(ctx context.Context, p impl.Payment) (reply impl.Reply, err error) {
			defer func() {
				if recover() != nil {
					caught++
					reply, err = impl.Reply{}, errors.New("gave up")
				}
			}()
			return newClient(cfg, ports).Pay(ctx, p)
		})
	}
	bad.Reconciler = func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
		return sweeper(func(ctx context.Context) (err error) {
			defer func() {
				if recover() != nil {
					caught++
					err = nil
				}
			}()
			return newReconciler(cfg, ports).Reconcile(ctx)
		})
	}
	sameAs(t, design(t, "reference"), bad, "one-payment",
		"crash client-1 during request of client-1/order-1/try-1", "crash client-1 after request of client-1/order-1/try-1")
	cfg := world(t, "reference", "one-payment")
	good := newStage(t, cfg)
	cfg.Design = bad
	lying := newStage(t, cfg)
	story := []string{
		"crash server-1 after charge of client-1/order-1/try-1", "crash client-1 during request of client-1/order-1/try-1",
		"crash reconciler-1 during look-up of reconciler-1/order-1/try-1",
	}
	a := keep(good, good.follow(t, story...))
	compare(t, "a dead reconciler", a, keep(lying, lying.follow(t, story...)))
	if caught != 4 {
		t.Errorf("%d deaths were caught, want 4", caught)
	}
}

// payer makes a function a client.
type payer func(ctx context.Context, p impl.Payment) (impl.Reply, error)

func (f payer) Pay(ctx context.Context, p impl.Payment) (impl.Reply, error) { return f(ctx, p) }

// sweeper makes a function a reconciler.
type sweeper func(ctx context.Context) error

func (f sweeper) Reconcile(ctx context.Context) error { return f(ctx) }

// undying is a handler that tries again whatever happens to it.
func undying(t *testing.T) impl.Design {
	return wrap(t, func(inner impl.Handler, _ impl.Ports) impl.Handler {
		return handler(func(ctx context.Context, req impl.Request) (reply impl.Reply, err error) {
			for done := false; !done; {
				func() {
					defer func() { _ = recover() }()
					reply, err = inner.Handle(ctx, req)
					done = true
				}()
			}
			return reply, err
		})
	})
}

func TestAHandlerThatWillNotDieIsAbandonedAndReported(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	cfg.Design = undying(t)
	s := newStage(t, cfg)
	res := s.follow(t, deaths[0])
	if f := res.Finding; f == nil || f.Kind != "undead" || f.Process != "server-1" {
		t.Fatalf("the finding is %v, want an undead server-1", f)
	}
	if !strings.Contains(res.Finding.Error(), "server-1") || strings.Contains(res.Finding.Error(), "\n") {
		t.Errorf("it is told as %q", res.Finding.Error())
	}
	// The world goes on, and the next run is what it is in a fresh one.
	fresh := newStage(t, cfg)
	compare(t, "after an abandoned handler", keep(fresh, fresh.follow(t)), keep(s, s.follow(t)))
}

// A run that ends takes down what still waits. A handler that will not have
// that is found too.
func TestAHandlerThatOutlivesTheRunIsFound(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	cfg.Design = wrap(t, func(_ impl.Handler, ports impl.Ports) impl.Handler {
		return handler(func(ctx context.Context, _ impl.Request) (impl.Reply, error) {
			for {
				func() {
					defer func() { _ = recover() }()
					ports.Locks.Lock(ctx, "l") // the second time for ever
				}()
			}
		})
	})
	if f := newStage(t, cfg).follow(t).Finding; f == nil || f.Kind != "undead" {
		t.Errorf("the finding is %v, want an undead handler", f)
	}
}

// Goroutines of the code under test stay until the test binary ends: one that
// ended meanwhile would hide another from the count.
func TestAGoroutineIsFound(t *testing.T) {
	never := make(chan struct{})
	for name, start := range map[string]func(ports impl.Ports){
		"waits":        func(impl.Ports) { go func() { <-never }() },
		"calls a port": func(ports impl.Ports) { go ports.Clock.Now() },
	} {
		t.Run(name, func(t *testing.T) {
			if raceDetector && name == "calls a port" {
				t.Skip("it is a data race, which the detector finds too")
			}
			cfg := world(t, "reference", "one-payment")
			cfg.Design = wrap(t, func(inner impl.Handler, ports impl.Ports) impl.Handler {
				return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
					start(ports)
					return inner.Handle(ctx, req)
				})
			})
			if f := newStage(t, cfg).follow(t).Finding; f == nil || f.Kind != "goroutine" || f.Process != "server-1" {
				t.Fatalf("the finding is %v, want a goroutine of server-1", f)
			}
		})
	}
}

// impatient panics when the answer to its charge is lost.
func impatient(t *testing.T, with any) impl.Design {
	return wrap(t, func(inner impl.Handler, ports impl.Ports) impl.Handler {
		return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
			reply, err := inner.Handle(ctx, req)
			if errors.Is(err, impl.ErrInProgress) {
				panic(with)
			}
			return reply, err
		})
	})
}

const lostAnswer = "drop provider→server-1 charge of client-1/order-1/try-1"

func TestAPanicIsAFinding(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	cfg.Design = impatient(t, "no answer")
	s := newStage(t, cfg)
	f := s.follow(t, lostAnswer).Finding
	if f == nil || f.Kind != "panic" || f.Process != "server-1" || f.Message != "no answer" {
		t.Fatalf("the finding is %+v, want the panic of server-1", f)
	}
	if !strings.Contains(f.Detail, "impatient") {
		t.Errorf("the stack does not tell where: %s", f.Detail)
	}
	fresh := newStage(t, cfg)
	compare(t, "after a panic", keep(fresh, fresh.follow(t)), keep(s, s.follow(t)))
}

func TestAFindingIsToldInOneLine(t *testing.T) {

	cfg := world(t, "reference", "one-payment")
	cfg.Design = impatient(t, "no answer:\ngiving up")
	f := newStage(t, cfg).follow(t, lostAnswer).Finding
	if f == nil || strings.Contains(f.Message, "\n") {
		t.Errorf("the finding is told as %q", f.Message)
	}
}

// subject is a configuration as a campaign takes it.
func subject(cfg sim.Config) search.Subject {
	return search.Subject{Design: cfg.Design, Scenario: cfg.Scenario, Profile: cfg.Profile, Classes: cfg.Classes, Break: cfg.Break}
}

func openMemory() (impl.Registry, func() error, func() error, error) {
	r := memory.New()
	return r, func() error { r.Reset(); return nil }, func() error { return nil }, nil
}

// A campaign ends with the plan of the run that panicked.
func TestACampaignReportsAPanicWithItsPlan(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	cfg.Design = impatient(t, "no answer")
	r, err := search.Campaign(t.Context(), search.Options{
		Subjects: []search.Subject{subject(cfg)}, Runs: 2000, Seed: 1, Workers: 1, Open: openMemory,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != search.Violated || r.Finding == nil || r.Finding.Kind != "panic" || r.FindingAt == nil {
		t.Fatalf("verdict %s, finding %v at\n%v", r.Verdict, r.Finding, r.FindingAt)
	}
	if f := newStage(t, cfg).replay(t, r.FindingAt.Weather, r.FindingAt.Deviations).Finding; f == nil || *f != withDetail(*r.Finding, f.Detail) {
		t.Errorf("its plan gives %v, want %v", f, r.Finding)
	}
}

func withDetail(f sim.Finding, detail string) sim.Finding {
	f.Detail = detail
	return f
}

// A mutex that is held across a port call blocks the whole world as soon as a
// second handler wants it: no port is called any more, so that only a watchdog
// outside of the run can tell. What blocks cannot be ended; it stays until the
// test binary ends.
func TestAMutexHeldAcrossAPortCallIsFound(t *testing.T) {
	cfg := world(t, "reference", "two-replicas-one-key")
	cfg.Scenario.Servers = 1
	inner := cfg.Design.Handler
	cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
		var mu sync.Mutex
		h := inner(c, ports)
		return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			return h.Handle(ctx, req)
		})
	}
	r, err := search.Campaign(t.Context(), search.Options{
		Subjects: []search.Subject{subject(cfg)}, Runs: 1, Seed: 1, Workers: 1, Open: openMemory, Patience: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != search.Undecided || r.Finding == nil || r.Finding.Kind != "blocked" || !strings.Contains(r.Reason, "mutex") {
		t.Errorf("verdict %s, finding %v: %s", r.Verdict, r.Finding, r.Reason)
	}
}

// A crash takes the memory of the process with it: the factory is called
// again, and locks that were held are free.
func TestACrashLosesMemoryAndLocks(t *testing.T) {
	cfg := world(t, "reference", "two-replicas-one-key")
	cfg.Scenario.Servers = 1
	inner := cfg.Design.Handler
	incarnations, locked, counted := 0, 0, []int{}
	cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
		incarnations++
		memory := 0
		h := inner(c, ports)
		return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
			ports.Locks.Lock(ctx, "one at a time")
			locked++
			memory++
			counted = append(counted, memory)
			reply, err := h.Handle(ctx, req)
			ports.Locks.Unlock("one at a time")
			return reply, err
		})
	}
	s := newStage(t, cfg)
	res := s.follow(t, "crash server-1 after charge of client-1/order-1/try-1") // while client-2's handler waits for the lock
	if res.Effective[plan.ClassCrash] != 1 || incarnations != 2 {
		t.Fatalf("%d crashes took effect, %d incarnations", res.Effective[plan.ClassCrash], incarnations)
	}
	if locked < 2 || counted[0] != 1 || counted[1] != 1 {
		t.Errorf("the lock was got %d times, and memory counted %v", locked, counted)
	}
	for _, e := range s.events {
		if e.Kind == history.KindGiveUp {
			t.Errorf("%s gave up", e.Process)
		}
	}
	if v := s.violated(); v != nil {
		t.Errorf("it violates %v", v)
	}
}

// Locks are fair, and belong to one process.
func TestLocksGoToWhoWaitsLongest(t *testing.T) {
	var order []string
	cfg := world(t, "reference", "one-payment")
	pay := sim.Order{Tenant: "acme", Amount: 100, Currency: "EUR", Source: "card_1"}
	cfg.Scenario.Servers = 1
	cfg.Scenario.Orders = []sim.Order{pay, pay, pay}
	cfg.Scenario.Clients = [][]sim.Pay{{{Order: 1}}, {{Order: 2}}, {{Order: 3}}}
	inner := cfg.Design.Handler
	cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
		h := inner(c, ports)
		return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
			order = append(order, "ask "+req.Key)
			ports.Locks.Lock(ctx, "one at a time")
			order = append(order, "get "+req.Key)
			reply, err := h.Handle(ctx, req)
			ports.Locks.Unlock("one at a time")
			return reply, err
		})
	}
	newStage(t, cfg).follow(t)
	want := "ask key-1-1 get key-1-1 ask key-2-1 ask key-3-1 get key-2-1 get key-3-1"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("the order is %q, want %q", got, want)
	}
}

// A factory that panics is a finding like any other panic.
func TestAFactoryThatPanicsIsAFinding(t *testing.T) {

	cfg := world(t, "reference", "one-payment")
	cfg.Design.Handler = func(impl.Config, impl.Ports) impl.Handler { panic("no configuration") }
	s := newStage(t, cfg)
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("the whole program panics: %v", v)
		}
	}()
	if f := s.follow(t).Finding; f == nil || f.Kind != "panic" || f.Message != "the design's factory: no configuration" {
		t.Errorf("the finding is %v, want a panic", f)
	}
}

// A factory may look at its clock and draw a name; at least it does not block
// the run for ever.
func TestAFactoryMayUseItsClockAndIDs(t *testing.T) {

	cfg := world(t, "reference", "one-payment")
	inner := cfg.Design.Handler
	cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
		ports.Clock.Now()
		ports.IDs.Owner()
		return inner(c, ports)
	}
	r, err := search.Campaign(t.Context(), search.Options{
		Subjects: []search.Subject{subject(cfg)}, Runs: 1, Seed: 1, Workers: 1, Open: openMemory, Patience: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finding != nil && r.Finding.Kind == "blocked" {
		t.Errorf("it blocks: %s", r.Reason)
	}
}
