package sim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// valid is a configuration with a registry.
func valid(t *testing.T) sim.Config {
	cfg := world(t, "reference", "one-payment")
	cfg.Store, cfg.Empty = memory.New(), func() error { return nil }
	return cfg
}

// A class that breaks an assumption is refused, unless Break has the
// assumption; and Within leaves it out likewise.
func TestBreakingClassesAreRefused(t *testing.T) {
	breaking := 0
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		cfg := valid(t)
		cfg.Classes = [plan.ClassCount]bool{}
		cfg.Classes[class] = true
		b := class.Breaks()
		if b == "" {
			if err := cfg.Validate(); err != nil || !sim.Within()[class] {
				t.Errorf("%s is refused: %v", class, err)
			}
			continue
		}
		breaking++
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), class.String()) || !strings.Contains(err.Error(), string(b)) {
			t.Errorf("%s: %v: want it refused by the name of the class and of %s", class, err, b)
		}
		if _, err := sim.New(cfg); err == nil {
			t.Errorf("%s: there is a world with it", class)
		}
		for _, a := range impl.Assumptions {
			cfg.Break = []impl.Assumption{a}
			if err := cfg.Validate(); (err == nil) != (a == b) {
				t.Errorf("%s with %s broken: %v", class, a, err)
			}
			if within := sim.Within(a)[class]; within != (a == b) {
				t.Errorf("Within(%s) has %s: %v", a, class, within)
			}
		}
	}
	if breaking < len(impl.Assumptions) {
		t.Errorf("%d classes break something", breaking)
	}
}

// Validate reports all problems at once, and changes nothing.
func TestValidateReportsEveryProblem(t *testing.T) {
	var cfg sim.Config
	cfg.Classes[plan.ClassForgetKeys] = true
	cfg.Scenario.Name = "empty"
	err := cfg.Validate()
	if err == nil {
		t.Fatal("an empty configuration is valid")
	}
	for _, want := range []string{"handler", "store", "forget-keys", `"empty"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: it does not tell of %s", err, want)
		}
	}
	if _, err := sim.New(cfg); err == nil {
		t.Error("there is a world of it")
	}
}

func TestScenariosAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(*sim.Scenario){
		"no servers":         func(s *sim.Scenario) { s.Servers = 0 },
		"too many servers":   func(s *sim.Scenario) { s.Servers = plan.MaxIndex + 1 },
		"no clients":         func(s *sim.Scenario) { s.Clients = nil },
		"too many clients":   func(s *sim.Scenario) { s.Clients = make([][]sim.Pay, plan.MaxIndex+1) },
		"no orders":          func(s *sim.Scenario) { s.Orders = nil },
		"too many orders":    func(s *sim.Scenario) { s.Orders = make([]sim.Order, plan.MaxOrder+1) },
		"no time for faults": func(s *sim.Scenario) { s.Chaos = 0 },
		"calm to the end":    func(s *sim.Scenario) { s.Calm = s.Chaos },
		"calm before it":     func(s *sim.Scenario) { s.Calm = -1 },
		"order 0":            func(s *sim.Scenario) { s.Clients = [][]sim.Pay{{{Order: 0}}} },
		"an unknown order":   func(s *sim.Scenario) { s.Clients = [][]sim.Pay{{{Order: 1}, {Order: 2}}} },
	} {
		cfg := valid(t)
		spoil(&cfg.Scenario)
		if err := cfg.Validate(); err == nil {
			t.Errorf("%s: it is valid", name)
		}
	}
	cfg := valid(t)
	cfg.Scenario.Orders = slices.Repeat(cfg.Scenario.Orders, plan.MaxOrder)
	cfg.Scenario.Servers = plan.MaxIndex
	cfg.Scenario.Clients = slices.Repeat(cfg.Scenario.Clients, plan.MaxIndex)
	if err := cfg.Validate(); err != nil {
		t.Errorf("the largest scenario: %v", err)
	}
}

// A timing by which no weather can be drawn is refused.
func TestTimingsAreChecked(t *testing.T) {

	for name, spoil := range map[string]func(*sim.Timing){
		"no range of delays":   func(x *sim.Timing) { x.HopHigh = x.HopLow },
		"no delay":             func(x *sim.Timing) { x.Hop = 0 },
		"no time-out":          func(x *sim.Timing) { x.CallTimeout = 0 },
		"no client's time-out": func(x *sim.Timing) { x.ClientTimeout = 0 },
		"no restart":           func(x *sim.Timing) { x.Restart = -time.Second },
	} {
		cfg := valid(t)
		cfg.Timing = sim.DefaultTiming
		spoil(&cfg.Timing)
		if err := cfg.Validate(); err == nil {
			t.Errorf("%s: it is valid", name)
		}
	}
}

func TestScenariosAreNamedAndValid(t *testing.T) {
	for _, s := range sim.Scenarios {
		found, err := sim.ScenarioByName(s.Name)
		if err != nil || found.Name != s.Name || s.Doc == "" || strings.Contains(s.Doc, "\n") {
			t.Errorf("%q: %v, and it says %q", s.Name, err, s.Doc)
		}
		cfg := valid(t)
		cfg.Scenario = s
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
	}
	if _, err := sim.ScenarioByName("two-payments"); err == nil || !strings.Contains(err.Error(), "one-payment") {
		t.Errorf("an unknown name: %v, want an error that lists the names", err)
	}
}

// The deployment that every design gets is valid for every profile, and the
// checkers are told the same.
func TestServiceConfigIsValid(t *testing.T) {
	for _, p := range provider.Profiles {
		c := sim.ServiceConfig(p)
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		cfg := valid(t)
		cfg.Profile = p
		h := cfg.Header()
		if h.ProviderWindow != p.Window || h.RetryHorizon != c.RetryHorizon || h.Keyless != !p.Keys || h.Once != (!p.Keys && !p.Lookup) || !h.Complete {
			t.Errorf("%s: the checkers are told %+v", p.Name, h)
		}
		if least := 2*c.Lease + c.MessageLifetime + c.LookupLag + 2*c.MaxClockSkew; h.Settled <= least {
			t.Errorf("%s: the checkers are told that everything ends within %v, want more than %v", p.Name, h.Settled, least)
		}
	}
}
