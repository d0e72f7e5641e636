package search

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

func openMemory() (impl.Registry, func() error, func() error, error) {
	r := memory.New()
	return r, func() error { r.Reset(); return nil }, func() error { return nil }, nil
}

// subjects are all worlds of a design: every scenario with every profile it
// is meant for.
func subjects(t testing.TB, name string) []Subject {
	t.Helper()
	d, err := designs.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	d.Scenarios = nil
	return worlds(t, d)
}

// worlds are those in which a design shows what it is.
func worlds(t testing.TB, d impl.Design) []Subject {
	t.Helper()
	all, err := Worlds(d, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// elsewhere are the situations that the reference cannot meet within the
// assumptions: nobody hears that a reply is gone while A4 holds, and it has
// nothing to give back.
var elsewhere = map[sim.Situation]bool{sim.Gone: true, sim.Refunded: true}

// All scenarios, all profiles, all faults within the assumptions: nothing
// falls, every class takes effect, every situation is met.
func TestReferenceHoldsUnderEveryFault(t *testing.T) {
	runs := 30_000
	if testing.Short() {
		runs = 12_000
	}
	r, err := Campaign(context.Background(), Options{Subjects: subjects(t, "reference"), Runs: runs, Seed: 1, Open: openMemory})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Held || r.Runs != runs {
		t.Fatalf("%v after %d runs: %s %+v", r.Verdict, r.Runs, r.Reason, r.Violation)
	}
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if c.Breaks() == "" && r.Effective[c] == 0 {
			t.Errorf("%v never took effect, and was chosen %d times", c, r.Chosen[c])
		}
		if c.Breaks() != "" && r.Chosen[c] != 0 {
			t.Errorf("%v breaks %s and was chosen %d times", c, c.Breaks(), r.Chosen[c])
		}
	}
	for s := range sim.SituationCount {
		if !elsewhere[s] && r.Situations[s] == 0 {
			t.Errorf("no run met %v", s)
		}
	}
}

func TestRightDesignsWithoutKeysHold(t *testing.T) {
	for _, name := range []string{"journal-and-wait", "journal-and-compensate"} {
		r, err := Campaign(context.Background(), Options{Subjects: subjects(t, name), Runs: 5_000, Seed: 7, Open: openMemory})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Held {
			t.Errorf("%s: %v: %s %+v", name, r.Verdict, r.Reason, r.Violation)
		}
	}
}

// What a campaign says depends on its options, and not on how many workers
// share the runs.
func TestCampaignDoesNotDependOnWorkers(t *testing.T) {
	for _, name := range []string{"reference", "timeout-means-failed"} {
		var reports []*Report
		for _, workers := range []int{1, 2, 5} {
			r, err := Campaign(context.Background(), Options{Subjects: subjects(t, name), Runs: 2_000, Seed: 3, Workers: workers, Open: openMemory})
			if err != nil {
				t.Fatal(err)
			}
			r.Elapsed = 0
			if r.Violation != nil {
				r.Violation.Subject = nil // holds functions
			}
			reports = append(reports, r)
		}
		for _, r := range reports[1:] {
			if !reflect.DeepEqual(r, reports[0]) {
				t.Errorf("%s: with more workers\n%+v\nwith one\n%+v", name, r, reports[0])
			}
		}
	}
}

func TestViolationIsMinimalAndReplays(t *testing.T) {
	r, err := Campaign(context.Background(), Options{Subjects: subjects(t, "charge-then-save"), Runs: 5_000, Seed: 1, Target: invariant.SingleCharge, Open: openMemory})
	if err != nil || r.Violation == nil {
		t.Fatal(r, err)
	}
	p, err := plan.Parse(r.Violation.Plan.String())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(planSubject(t, p), p, openMemory)
	if err != nil {
		t.Fatal(err)
	}
	if again.Verdict != Violated || again.Violations[0].Invariant != invariant.SingleCharge || again.Result.Hash != p.Hash || again.Result.Sites != r.Violation.Sites {
		t.Errorf("%v %v trace %016x at %d sites, want that of the plan, %016x at %d", again.Verdict, again.Violations, again.Result.Hash, again.Result.Sites, p.Hash, r.Violation.Sites)
	}
	for i := range p.Deviations {
		part, err := Run(planSubject(t, p), p.Without(i), openMemory)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range part.Violations {
			if v.Invariant == invariant.SingleCharge {
				t.Errorf("it falls without %q as well", p.Deviations[i])
			}
		}
	}
}

func TestCancelledCampaignIsUndecided(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Campaign(ctx, Options{Subjects: subjects(t, "reference"), Runs: 1_000, Seed: 1, Open: openMemory})
	if err != nil || r.Verdict != Undecided {
		t.Fatalf("%+v, %v; want undecided", r, err)
	}
}

// Progress ends with all runs, and with those of them in which something fell:
// the campaign goes on past them if it is not what is asked for.
func TestProgressCountsViolations(t *testing.T) {
	var last Progress
	r, err := Campaign(context.Background(), Options{
		Subjects: subjects(t, "charge-then-save")[:1], Runs: 300, Seed: 1, Open: openMemory, Target: invariant.BoundedRefunds,
		Progress: func(p Progress) { last = p },
	})
	if err != nil || r.Violation == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if last.Runs != 300 || last.Of != 300 || last.Violations < 50 || last.Violations > 299 {
		t.Errorf("in the end it says %+v", last)
	}
}

func TestAskedFaultThatNeverHappensIsVacuous(t *testing.T) {
	all := subjects(t, "reference")[:1] // one payment, keyed: nothing declines by itself
	all[0].Classes = [plan.ClassCount]bool{}
	all[0].Classes[plan.ClassLag] = true
	r, err := Campaign(context.Background(), Options{Subjects: all, Runs: 50, Seed: 1, Open: openMemory, Asked: []plan.Class{plan.ClassLag}})
	if err != nil || r.Verdict != Vacuous {
		t.Fatalf("%+v, %v; want vacuous", r, err)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, opt := range map[string]Options{
		"no runs":     {Subjects: subjects(t, "reference"), Open: openMemory},
		"no subjects": {Runs: 1, Open: openMemory},
		"an unbroken assumption": {Runs: 1, Open: openMemory, Subjects: func() []Subject {
			all := subjects(t, "reference")
			all[0].Classes[plan.ClassForgetKeys] = true
			return all
		}()},
	} {
		if _, err := Campaign(context.Background(), opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// misbehaving makes a design of one handler.
func misbehaving(name string, handle func(context.Context, impl.Ports) (impl.Reply, error)) []Subject {
	d, _ := designs.ByName("reference")
	d.Name, d.Reconciler = name, nil
	d.Handler = func(_ impl.Config, p impl.Ports) impl.Handler {
		return handlerFunc(func(ctx context.Context) (impl.Reply, error) { return handle(ctx, p) })
	}
	profile, _ := provider.ByName("keyed")
	return []Subject{{Design: d, Scenario: sim.Scenarios[0], Profile: profile, Classes: sim.Within()}}
}

type handlerFunc func(context.Context) (impl.Reply, error)

func (f handlerFunc) Handle(ctx context.Context, _ impl.Request) (impl.Reply, error) { return f(ctx) }

// A panic is a finding and not the end: the campaign makes all its runs.
func TestPanicIsAFindingAndNotTheEnd(t *testing.T) {
	r, err := Campaign(context.Background(), Options{Runs: 200, Seed: 1, Open: openMemory, Subjects: misbehaving("panics", func(context.Context, impl.Ports) (impl.Reply, error) {
		panic("index out of range")
	})})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finding == nil || r.Finding.Kind != sim.PanicFinding || r.FindingAt == nil || r.Runs != 200 || r.Verdict == Held {
		t.Errorf("%v %+v after %d runs, want a panic and 200 runs", r.Verdict, r.Finding, r.Runs)
	}
}

// A handler that blocks outside the ports is found from outside the run.
func TestBlockedHandlerIsFound(t *testing.T) {
	never := make(chan struct{})
	r, err := Campaign(context.Background(), Options{Runs: 200, Seed: 1, Open: openMemory, Workers: 1, Patience: 300 * time.Millisecond,
		Subjects: misbehaving("blocks", func(context.Context, impl.Ports) (impl.Reply, error) {
			<-never
			return impl.Reply{}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finding == nil || r.Finding.Kind != sim.BlockedFinding || r.Verdict == Held {
		t.Errorf("%v %+v, want a blocked handler", r.Verdict, r.Finding)
	}
}

func TestGoroutineIsFound(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	r, err := Campaign(context.Background(), Options{Runs: 200, Seed: 1, Open: openMemory, Subjects: misbehaving("spawns", func(context.Context, impl.Ports) (impl.Reply, error) {
		go func() { <-stop }()
		return impl.Reply{}, impl.ErrUnavailable
	})})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finding == nil || r.Finding.Kind != sim.GoroutineFinding || r.Verdict == Held {
		t.Errorf("%v %+v, want a goroutine", r.Verdict, r.Finding)
	}
}

// A run that never comes to rest, and in which nothing falls, shows nothing.
func TestRestlessRunIsUndecided(t *testing.T) {
	restlessDesign := subjects(t, "reference")[:1]
	restlessDesign[0].Classes = [plan.ClassCount]bool{}
	restlessDesign[0].Design.Client = func(_ impl.Config, p impl.ClientPorts) impl.Client { return sleeper{p} }
	r, err := Campaign(context.Background(), Options{Subjects: restlessDesign, Runs: 1, Seed: 1, Open: openMemory})
	if err != nil || r.Verdict != Undecided {
		t.Errorf("campaign: %+v, %v; want undecided", r, err)
	}
	replayed, err := Run(restlessDesign[0], restlessDesign[0].Plan(0, nil), openMemory)
	if err != nil || replayed.Verdict != Undecided {
		t.Errorf("replay: %v, %v; want undecided", replayed.Verdict, err)
	}
	p, err := Exhaust(context.Background(), ExhaustiveOptions{Subject: restlessDesign[0], Open: openMemory})
	if err != nil || p.Verdict != Undecided {
		t.Errorf("search: %v, %v; want undecided", p.Verdict, err)
	}
}

// sleeper is a client that never asks and never gives up.
type sleeper struct{ ports impl.ClientPorts }

func (s sleeper) Pay(ctx context.Context, _ impl.Payment) (impl.Reply, error) {
	for {
		_ = s.ports.Clock.Sleep(ctx, time.Minute)
	}
}
