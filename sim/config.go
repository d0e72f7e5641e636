package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/network"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// Config is one world: what runs in it, and what may go wrong.
type Config struct {
	Design   impl.Design
	Scenario Scenario
	Profile  provider.Profile
	// Classes are the fault classes that the world offers to the chooser.
	// See [Within] for all that break no assumption.
	Classes [plan.ClassCount]bool
	// Break lists the assumptions that the world may break; it lifts what
	// Validate says of them.
	Break []impl.Assumption
	// Store keeps the records: the real registry, behind the simulated network.
	Store impl.Registry
	// Empty makes the store empty for the next run.
	Empty func() error
	// Timing is how long things take; the zero value is [DefaultTiming].
	Timing Timing
	// Service is what the deployment states about itself; nil is
	// [ServiceConfig] of the profile.
	Service *impl.Config
}

// Timing is how long things take in the simulated world.
type Timing struct {
	Hop           time.Duration // one way of a message, weather 0
	HopLow        time.Duration // with weather: from here …
	HopHigh       time.Duration // … to below here
	CallTimeout   time.Duration // how long a service waits for the registry or the provider
	ClientTimeout time.Duration // how long a client waits for the service
	Restart       time.Duration // how long a crashed process is down
}

// DefaultTiming is the timing of all scenarios but those that say otherwise.
var DefaultTiming = Timing{
	Hop: 5 * time.Millisecond, HopLow: time.Millisecond, HopHigh: 50 * time.Millisecond,
	CallTimeout: 150 * time.Millisecond, ClientTimeout: 400 * time.Millisecond, Restart: 100 * time.Millisecond,
}

// ServiceConfig is the configuration that every design is given with a
// provider of the profile: valid, and as small as it can be, so that windows
// close and records are forgotten within seconds of virtual time.
func ServiceConfig(p provider.Profile) impl.Config {
	lifetime := p.Lifetime
	if lifetime == 0 {
		lifetime = time.Second
	}
	return impl.Config{
		Lease:             600 * time.Millisecond,
		HealthyRun:        500 * time.Millisecond,
		MessageLifetime:   lifetime,
		MaxClockSkew:      40 * time.Millisecond,
		ProviderWindow:    p.Window,
		LookupLag:         50 * time.Millisecond,
		RetryHorizon:      8 * lifetime,
		Retention:         10*lifetime + 500*time.Millisecond,
		ReconcileInterval: 300 * time.Millisecond,
		InProgressWait:    50 * time.Millisecond,
		Provider:          p.Profile,
	}
}

// Within returns all classes that break no assumption, and those that break
// one of the given.
func Within(broken ...impl.Assumption) (classes [plan.ClassCount]bool) {
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		classes[c] = c.Breaks() == "" || slices.Contains(broken, c.Breaks())
	}
	return classes
}

// Validate reports every problem of the configuration.
func (c *Config) Validate() error {
	var problems []error
	if c.Design.Handler == nil || c.Design.Client == nil {
		problems = append(problems, fmt.Errorf("sim: the design %q has no handler or no client", c.Design.Name))
	}
	if c.Store == nil || c.Empty == nil {
		problems = append(problems, errors.New("sim: there is no store for the records"))
	}
	t := c.timing()
	for _, d := range []time.Duration{t.Hop, t.HopLow, t.CallTimeout, t.ClientTimeout, t.Restart} {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("sim: the timing %+v: want every duration to be more than 0", t))
			break
		}
	}
	if t.HopHigh <= t.HopLow {
		problems = append(problems, fmt.Errorf("sim: HopHigh is %v: want more than HopLow, %v", t.HopHigh, t.HopLow))
	}
	for class, on := range c.Classes {
		if b := plan.Class(class).Breaks(); on && b != "" && !slices.Contains(c.Break, b) {
			problems = append(problems, fmt.Errorf("sim: the class %s breaks %s: it can only be on together with -break %s", plan.Class(class), b, b))
		}
	}
	if err := c.Scenario.validate(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// service returns the configuration that the design's factories get.
func (c *Config) service() impl.Config {
	cfg := ServiceConfig(c.Profile)
	if c.Service != nil {
		cfg = *c.Service
	}
	cfg.Waive = append(cfg.Waive, c.Break...)
	if slices.Contains(c.Break, impl.A6) {
		cfg.TransportResends = true
	}
	if c.Design.Tune != nil {
		cfg = c.Design.Tune(cfg)
	}
	return cfg
}

// Header returns what the checkers are told about the world.
func (c *Config) Header() history.Header {
	cfg, t := c.service(), c.timing()
	retry := cfg.Lease + t.ClientTimeout
	return history.Header{
		RetryHorizon:   ServiceConfig(c.Profile).RetryHorizon,
		ProviderWindow: c.Profile.Window,
		Settled:        2*cfg.Lease + retry + cfg.MessageLifetime + cfg.LookupLag + 2*cfg.MaxClockSkew,
		Keyless:        !c.Profile.Keys,
		Once:           !c.Profile.Keys && !c.Profile.Lookup,
		Compensates:    c.Design.Compensates,
		Complete:       true,
	}
}

func (c *Config) timing() Timing {
	t := c.Timing
	if t == (Timing{}) {
		t = DefaultTiming
	}
	return t
}

func (t *Timing) network() network.Config {
	return network.Config{Hop: int64(t.Hop), Low: int64(t.HopLow), High: int64(t.HopHigh)}
}
