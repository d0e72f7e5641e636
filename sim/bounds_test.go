package sim_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

const (
	ms     = time.Millisecond
	hop    = 5 * ms
	firstC = "server-1→provider charge of client-1/order-1/try-1"
)

// find returns the first line of a kind, at or after a line.
func find(t *testing.T, all []sim.Line, from int, mark sim.Mark, who plan.Process, step impl.Step) (i int, at time.Duration) {
	t.Helper()
	for i := from; i < len(all); i++ {
		if l := &all[i]; l.Mark == mark && l.Who == who && l.Step == step {
			return i, time.Duration(l.At)
		}
	}
	t.Fatalf("no %v of %v at %v in\n%s", mark, step, who, lines(all[from:]))
	return 0, 0
}

// stay returns how long the first message of a step from one process to
// another is on its way, and when it leaves.
func stay(t *testing.T, all []sim.Line, from, to plan.Process, step impl.Step, left, arrived sim.Mark) (left0, took time.Duration) {
	t.Helper()
	i, sent := find(t, all, 0, left, from, step)
	for _, l := range all[i:] {
		if l.Mark == arrived && l.Who == to && l.Value == all[i].Value {
			return sent, time.Duration(l.At) - sent
		}
	}
	t.Fatalf("it never arrives:\n%s", lines(all[i:]))
	return 0, 0
}

// A held request arrives when its bound says.
func TestHoldOfARequest(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	service, timing := sim.ServiceConfig(cfg.Profile), sim.DefaultTiming
	for _, tt := range []struct {
		bound    string
		at, most time.Duration // after it left
	}{
		{"short", 6 * hop, 6 * hop},
		{"past-timeout", timing.CallTimeout + 1, service.Lease},
		{"past-lease", service.Lease + service.MaxClockSkew + 1, service.MessageLifetime},
		{"to-maximum", service.MessageLifetime, service.MessageLifetime},
		{"by 12ms", 12 * ms, 12 * ms},
		{"by 1ms", hop, hop}, // no message is faster for being held
	} {
		s := newStage(t, cfg)
		res := s.follow(t, "hold "+firstC+" "+tt.bound)
		if _, took := stay(t, s.Lines(), plan.Server|1, plan.Provider, impl.StepCharge, sim.MarkSend, sim.MarkDeliver); took < tt.at || took > tt.most {
			t.Errorf("held %s it took %v, want %v to %v", tt.bound, took, tt.at, tt.most)
		}
		if res.Effective[plan.ClassHold] != 1 {
			t.Errorf("held %s it took effect %d times", tt.bound, res.Effective[plan.ClassHold])
		}
	}
}

// A held answer arrives after its caller has given up, and the caller is not
// disturbed.
func TestHoldOfAnAnswer(t *testing.T) {
	s := newStage(t, world(t, "reference", "one-payment"))
	s.follow(t, "hold provider→server-1 charge of client-1/order-1/try-1 past-timeout")
	left, took := stay(t, s.Lines(), plan.Provider, plan.Server|1, impl.StepCharge, sim.MarkAnswer, sim.MarkStray)
	_, gaveUp := find(t, s.Lines(), 0, sim.MarkTimeout, plan.Server|1, impl.StepCharge)
	if arrived := left + took; arrived <= gaveUp {
		t.Errorf("the answer arrives at %v, and its caller waits until %v", arrived, gaveUp)
	}
}

// The time-out that a client's message is held past is the client's, which is
// shorter for its first attempt where it is impatient.
func TestHoldPastTheTimeoutOfWhoeverWaits(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		patience time.Duration
	}{
		{"one-payment", 400 * ms},
		{"retry-other-replica", 25 * ms},
	} {
		s := newStage(t, world(t, "reference", tt.scenario))
		s.follow(t, "hold client-1→server-1 request of client-1/order-1/try-1 past-timeout")
		if _, took := stay(t, s.Lines(), plan.Client|1, plan.Server|1, impl.StepRequest, sim.MarkSend, sim.MarkDeliver); took != tt.patience+2*hop {
			t.Errorf("%s: it took %v, and the client waits %v", tt.scenario, took, tt.patience)
		}
		if _, gaveUp := find(t, s.Lines(), 0, sim.MarkTimeout, plan.Client|1, impl.StepRequest); gaveUp != tt.patience {
			t.Errorf("%s: the client gives up after %v, want %v", tt.scenario, gaveUp, tt.patience)
		}
	}
}

// Past the lease means after the instant that the record says.
func TestHoldPastTheLeaseOfTheRecord(t *testing.T) {
	s := newStage(t, world(t, "reference", "one-payment"))
	s.follow(t, "hold "+firstC+" past-lease")
	left, took := stay(t, s.Lines(), plan.Server|1, plan.Provider, impl.StepCharge, sim.MarkSend, sim.MarkDeliver)
	claim := slices.IndexFunc(s.events, func(e history.Event) bool { return e.Kind == history.KindWrite && e.Insert })
	if lease := s.events[claim].LeaseUntil; left+took <= lease {
		t.Errorf("it arrives at %v, and the lease runs until %v", left+took, lease)
	}
}

// The maximum counts from the handler's call and not from when the message
// left: a pause in between is part of the message's life.
func TestToTheMaximumCountsFromTheCall(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	s := newStage(t, cfg)
	s.follow(t, "pause server-1 before charge of client-1/order-1/try-1 past-timeout", "hold "+firstC+" to-maximum")
	_, called := find(t, s.Lines(), 0, sim.MarkReturn, plan.Server|1, impl.StepClaim)
	left, took := stay(t, s.Lines(), plan.Server|1, plan.Provider, impl.StepCharge, sim.MarkSend, sim.MarkDeliver)
	if left == called {
		t.Fatal("the pause did not come between the call and the message")
	}
	if life := left + took - called; life != sim.ServiceConfig(cfg.Profile).MessageLifetime {
		t.Errorf("it lands %v after the call, want MessageLifetime", life)
	}
}

// However long a process stands still before it sends, a message within the
// assumptions does not outlive MessageLifetime.
func TestAPauseBeforeASendStaysWithinTheLifetime(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	for _, bound := range []string{"short", "past-timeout", "past-lease", "to-maximum"} {
		s := newStage(t, cfg)
		s.follow(t, "pause server-1 before charge of client-1/order-1/try-1 "+bound)
		_, called := find(t, s.Lines(), 0, sim.MarkReturn, plan.Server|1, impl.StepClaim)
		i, _ := find(t, s.Lines(), 0, sim.MarkSend, plan.Server|1, impl.StepCharge)
		for _, l := range s.Lines()[i:] {
			life := time.Duration(l.At) - called
			if l.Mark == sim.MarkDeliver && l.Value == s.Lines()[i].Value && life > sim.ServiceConfig(cfg.Profile).MessageLifetime {
				t.Errorf("paused %s it lands %v after the call", bound, life)
			}
		}
	}
}

// A provider that stands still does not let a message outlive
// MessageLifetime either.
func TestAFrozenProviderStaysWithinTheLifetime(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	for _, bound := range []string{"past-timeout", "past-lease"} {
		s := newStage(t, cfg)
		s.follow(t, "hold "+firstC+" past-lease", "freeze provider charge of client-1/order-1/try-1 "+bound)
		i, sent := find(t, s.Lines(), 0, sim.MarkSend, plan.Server|1, impl.StepCharge)
		handled := sent
		for _, l := range s.Lines()[i:] {
			if l.Mark == sim.MarkDeliver && l.Value == s.Lines()[i].Value {
				handled = time.Duration(l.At)
			}
		}
		if life := handled - sent; life > sim.ServiceConfig(cfg.Profile).MessageLifetime {
			t.Errorf("frozen %s the provider handles it %v after it was sent", bound, life)
		}
	}
}

// A message that is held until a step leaves its link when that step has
// ended, and not before.
func TestHoldUntilAStepHasEnded(t *testing.T) {
	s := newStage(t, world(t, "reference", "retry-other-replica"))
	res := s.follow(t, "hold "+firstC+" until look-up of server-1")
	if res.Effective[plan.ClassHoldUntil] != 1 {
		t.Fatal("it took no effect")
	}
	left, took := stay(t, s.Lines(), plan.Server|1, plan.Provider, impl.StepCharge, sim.MarkSend, sim.MarkDeliver)
	_, ended := find(t, s.Lines(), 0, sim.MarkReturn, plan.Server|1, impl.StepLookUp)
	if left+took != ended {
		t.Errorf("it arrives at %v, and the look-up ends at %v", left+took, ended)
	}
}

// A hold until a step that never comes ends at the message's last legal
// instant, and has had no effect.
func TestHoldUntilAStepThatNeverComes(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	s := newStage(t, cfg)
	res := s.follow(t, "hold "+firstC+" until settle of server-2")
	if _, took := stay(t, s.Lines(), plan.Server|1, plan.Provider, impl.StepCharge, sim.MarkSend, sim.MarkDeliver); took != sim.ServiceConfig(cfg.Profile).MessageLifetime {
		t.Errorf("it took %v, want MessageLifetime", took)
	}
	if res.Chosen[plan.ClassHoldUntil] != 1 || res.Effective[plan.ClassHoldUntil] != 0 {
		t.Errorf("chosen %d times, took effect %d times", res.Chosen[plan.ClassHoldUntil], res.Effective[plan.ClassHoldUntil])
	}
}

// The classes that break A2 outlive what they say that they outlive.
func TestBeyondTheLifetime(t *testing.T) {
	cfg := world(t, "reference", "one-payment", impl.A2)
	service := sim.ServiceConfig(cfg.Profile)
	dead := service.Lease + service.MessageLifetime + service.LookupLag + service.MaxClockSkew
	for _, tt := range []struct {
		line string
		over time.Duration
	}{
		{"hold " + firstC + " past-maximum", max(dead, service.RetryHorizon+service.MessageLifetime+service.MaxClockSkew)},
		{"hold " + firstC + " past-window", service.ProviderWindow},
		{"pause server-1 before charge of client-1/order-1/try-1 past-maximum", max(dead, service.RetryHorizon+service.MessageLifetime+service.MaxClockSkew)},
		{"pause server-1 before charge of client-1/order-1/try-1 past-window", service.ProviderWindow},
	} {
		s := newStage(t, cfg)
		s.follow(t, tt.line)
		i, _ := find(t, s.Lines(), 0, sim.MarkSend, plan.Server|1, impl.StepCharge)
		claimed := s.events[slices.IndexFunc(s.events, func(e history.Event) bool { return e.Kind == history.KindWrite })].At
		for _, l := range s.Lines()[i:] {
			if l.Mark == sim.MarkDeliver && l.Value == s.Lines()[i].Value {
				if took := time.Duration(l.At) - claimed; took <= tt.over {
					t.Errorf("%q: it lands %v after the claim, want more than %v", tt.line, took, tt.over)
				}
			}
		}
	}
}

// A client that retries past the horizon does so after the horizon, and after
// a record that was finished at once has been forgotten.
func TestPastTheHorizon(t *testing.T) {
	cfg := world(t, "reference", "one-payment", impl.A4)
	service := sim.ServiceConfig(cfg.Profile)
	s := newStage(t, cfg)
	res := s.follow(t, "drop server-1→client-1 reply of client-1/order-1/try-1", "pause client-1 before request of client-1/order-1/try-2 past-horizon")
	i, _ := find(t, s.Lines(), 0, sim.MarkTimeout, plan.Client|1, impl.StepRequest)
	_, again := find(t, s.Lines(), i, sim.MarkSend, plan.Client|1, impl.StepRequest)
	if again <= service.RetryHorizon {
		t.Errorf("the retry leaves at %v, within the horizon", again)
	}
	forgotten := slices.IndexFunc(s.events, func(e history.Event) bool { return e.Kind == history.KindForget })
	if forgotten < 0 || s.events[forgotten].At >= again {
		t.Error("the record is still there when the retry comes")
	}
	if res.Effective[plan.ClassPastHorizon] != 1 {
		t.Errorf("it took effect %d times", res.Effective[plan.ClassPastHorizon])
	}
}

// Everything that is due at a process that stands still happens when it goes
// on, in the order in which it would have happened, after the process itself
// has gone on.
func TestAPausePostponesInOrder(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	pay := sim.Order{Tenant: "acme", Amount: 100, Currency: "EUR", Source: "card_1"}
	cfg.Scenario.Servers = 1
	cfg.Scenario.Orders = []sim.Order{pay, pay, pay}
	cfg.Scenario.Clients = [][]sim.Pay{{{Order: 1}}, {{Order: 2, At: 3 * ms}}, {{Order: 3, At: 14 * ms}}}
	s := newStage(t, cfg)
	s.follow(t, "pause server-1 after claim of client-1/order-1/try-1 short") // from 15 ms to 45 ms
	type due struct {
		at   time.Duration
		mark sim.Mark
		step impl.Step
		of   int // order
	}
	var got []due
	for _, l := range s.Lines() {
		if l.Who == plan.Server|1 && l.Mark != sim.MarkAnswer && time.Duration(l.At) >= 15*ms && time.Duration(l.At) <= 45*ms {
			got = append(got, due{time.Duration(l.At), l.Mark, l.Step, l.Attempt.Order()})
		}
	}
	want := []due{
		{15 * ms, sim.MarkReturn, impl.StepClaim, 1},
		{15 * ms, sim.MarkChoice, impl.StepClaim, 1},
		{15 * ms, sim.MarkPause, 0, 1},
		{45 * ms, sim.MarkSend, impl.StepCharge, 1},
		{45 * ms, sim.MarkReturn, impl.StepClaim, 2},
		{45 * ms, sim.MarkSend, impl.StepCharge, 2},
		{45 * ms, sim.MarkDeliver, impl.StepRequest, 3},
		{45 * ms, sim.MarkSend, impl.StepClaim, 3},
	}
	if !slices.Equal(got, want) {
		t.Errorf("at server-1 happens\n%v, want\n%v", got, want)
	}
}

// A time-out that is due while its process stands still waits too, and an
// answer that came before it counts.
func TestAPausedProcessHearsTheAnswerThatCameFirst(t *testing.T) {
	s := newStage(t, world(t, "reference", "one-payment"))
	s.follow(t, "pause server-1 during charge of client-1/order-1/try-1 past-timeout")
	find(t, s.Lines(), 0, sim.MarkReturn, plan.Server|1, impl.StepCharge)
	for _, l := range s.Lines() {
		if l.Mark == sim.MarkTimeout && l.Who == plan.Server|1 {
			t.Errorf("the call times out at %v, although its answer came before that", time.Duration(l.At))
		}
	}
}

// From the message that begins it, a partition loses or keeps what is sent on
// the link, or from and to the node, until its time is over.
func TestPartitions(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	cfg.Scenario.Servers = 1
	pay := sim.Order{Tenant: "acme", Amount: 100, Currency: "EUR", Source: "card_1"}
	cfg.Scenario.Orders = []sim.Order{pay, pay, pay}
	cfg.Scenario.Clients = [][]sim.Pay{{{Order: 1}}, {{Order: 2, At: 20 * ms}}, {{Order: 3, At: 300 * ms}}}
	began := 15 * ms // when server-1 charges for client-1
	span := sim.DefaultTiming.CallTimeout + 2*hop
	type fate struct {
		lost bool
		at   time.Duration // arrival, where it arrives
	}
	for _, tt := range []struct {
		line string
		// The fates of: the charge that begins it; the request of client-2 at
		// 20 ms and, where that arrives, its claim; the request of client-3
		// after it is over.
		charge, request, claim, after fate
	}{
		{"cut link " + firstC + " past-timeout", fate{lost: true}, fate{at: 25 * ms}, fate{at: 30 * ms}, fate{at: 305 * ms}},
		{"cut node " + firstC + " past-timeout", fate{lost: true}, fate{lost: true}, fate{}, fate{at: 305 * ms}},
		{"stall link " + firstC + " past-timeout", fate{at: began + span}, fate{at: 25 * ms}, fate{at: 30 * ms}, fate{at: 305 * ms}},
		{"stall node " + firstC + " past-timeout", fate{at: began + span}, fate{at: began + span}, fate{at: began + span + hop}, fate{at: 305 * ms}},
	} {
		s := newStage(t, cfg)
		s.follow(t, tt.line)
		of := func(from, to plan.Process, step impl.Step, order int) fate {
			all := s.Lines()
			i := slices.IndexFunc(all, func(l sim.Line) bool {
				return l.Mark == sim.MarkSend && l.Who == from && l.Step == step && l.Attempt.Order() == order && l.Attempt.Try() == 1
			})
			if i < 0 {
				return fate{}
			}
			for _, l := range all[i:] {
				switch {
				case l.Value != all[i].Value:
				case l.Mark == sim.MarkLost && l.Who == from:
					return fate{lost: true}
				case l.Mark == sim.MarkDeliver && l.Who == to:
					return fate{at: time.Duration(l.At)}
				}
			}
			return fate{}
		}
		server := plan.Server | 1
		got := [...]fate{
			of(server, plan.Provider, impl.StepCharge, 1), of(plan.Client|2, server, impl.StepRequest, 2),
			of(server, plan.Registry, impl.StepClaim, 2), of(plan.Client|3, server, impl.StepRequest, 3),
		}
		if want := [...]fate{tt.charge, tt.request, tt.claim, tt.after}; got != want {
			t.Errorf("%s: the fates are\n%+v, want\n%+v", tt.line, got, want)
		}
	}
}

// A partition and a frozen node last until healing at most.
func TestHealingEndsWhatIsLeft(t *testing.T) {
	for _, line := range []string{
		"stall link " + firstC + " past-lease", "stall node " + firstC + " past-lease",
		"freeze provider charge of client-1/order-1/try-1 past-lease", "pause server-1 after charge of client-1/order-1/try-1 past-lease",
		"crash server-1 after charge of client-1/order-1/try-1",
	} {
		cfg := world(t, "reference", "one-payment")
		cfg.Scenario.Chaos = 40 * ms
		s := newStage(t, cfg)
		s.follow(t, line)
		first := plan.NewAttempt(plan.Client|1, 1, 1)
		heal := slices.IndexFunc(s.Lines(), func(l sim.Line) bool { return l.Mark == sim.MarkHeal })
		if at := s.Lines()[heal].At; time.Duration(at) != 40*ms {
			t.Fatalf("%s: it heals at %v", line, time.Duration(at))
		}
		for _, l := range s.Lines() {
			switch {
			case l.Mark == sim.MarkPause && time.Duration(l.Value) > 40*ms,
				l.Mark == sim.MarkRestart && time.Duration(l.At) > 40*ms,
				l.Mark == sim.MarkDeliver && l.Who == plan.Provider && time.Duration(l.At) > 60*ms && l.Attempt == first:
				t.Errorf("%s: %v of %v is at %v", line, l.Mark, l.Who, time.Duration(l.At))
			}
		}
		if v := s.violated(); v != nil {
			t.Errorf("%s: it violates %v", line, v)
		}
	}
}

// Clocks go wrong by the bounds of their class, and only those of servers and
// the reconciler.
func TestClocksGoWrongByTheirBound(t *testing.T) {
	for _, tt := range []struct {
		line string
		// how far server-1's clock is off when it answers client-1
		off func(c impl.Config) time.Duration
	}{
		{"skew server-1 fast", func(c impl.Config) time.Duration { return c.MaxClockSkew / 2 }},
		{"skew server-1 slow", func(c impl.Config) time.Duration { return -c.MaxClockSkew / 2 }},
		{"jump server-1 after request of client-1/order-1/try-1 fast", func(c impl.Config) time.Duration { return c.MaxClockSkew / 2 }},
		{"jump server-1 after request of client-1/order-1/try-1 slow", func(c impl.Config) time.Duration { return -c.MaxClockSkew / 2 }},
		{"skew server-1 far-ahead", func(c impl.Config) time.Duration {
			return 2*c.MessageLifetime + c.Lease + c.ProviderWindow
		}},
		{"skew server-1 far-behind", func(c impl.Config) time.Duration {
			return -2*c.MessageLifetime - c.Lease - c.ProviderWindow
		}},
		{"skew server-2 fast", func(impl.Config) time.Duration { return 0 }},
		{"skew reconciler-1 slow", func(impl.Config) time.Duration { return 0 }},
	} {
		cfg := world(t, "reference", "one-payment", impl.AS)
		var s *stage
		var off time.Duration
		inner := cfg.Design.Handler
		cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
			h := inner(c, ports)
			return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
				if now, in, of := s.Running(); in == plan.Server|1 && of.Try() == 1 {
					off = ports.Clock.Now().Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) - time.Duration(now)
				}
				return h.Handle(ctx, req)
			})
		}
		s = newStage(t, cfg)
		s.follow(t, tt.line)
		if want := tt.off(sim.ServiceConfig(cfg.Profile)); off != want {
			t.Errorf("%s: the clock is off by %v, want %v", tt.line, off, want)
		}
	}
}

// A charge that the provider applies late lands at the bound, and within the
// message's lifetime however late the message came.
func TestALateChargeLandsWithinTheLifetime(t *testing.T) {
	cfg := world(t, "reference", "one-payment")
	service := sim.ServiceConfig(cfg.Profile)
	const late = "late provider charge of client-1/order-1/try-1 "
	for _, tt := range []struct {
		plan     []string
		at, most time.Duration // after the message left
	}{
		{[]string{late + "past-timeout"}, hop + sim.DefaultTiming.CallTimeout + 1, service.Lease},
		{[]string{late + "past-lease"}, hop + service.Lease + service.MaxClockSkew + 1, service.MessageLifetime},
		{[]string{late + "to-maximum"}, service.MessageLifetime, service.MessageLifetime},
		{[]string{late + "past-lease", "hold " + firstC + " past-lease"}, service.MessageLifetime, service.MessageLifetime},
	} {
		s := newStage(t, cfg)
		s.follow(t, tt.plan...)
		_, left := find(t, s.Lines(), 0, sim.MarkSend, plan.Server|1, impl.StepCharge)
		first := plan.NewAttempt(plan.Client|1, 1, 1)
		landed := time.Duration(-1)
		for _, l := range s.Lines() {
			if l.Mark == sim.MarkSettle && l.Who == plan.Provider && l.Step == impl.StepCharge && l.Attempt == first {
				landed = time.Duration(l.At)
			}
		}
		if took := landed - left; took < tt.at || took > tt.most {
			t.Errorf("%q: it lands %v after it left, want %v to %v", tt.plan, took, tt.at, tt.most)
		}
	}
}
