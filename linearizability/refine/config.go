package refine

import (
	"time"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// Config says which protocol a run must follow, and the durations between
// which its facts come true.
type Config struct {
	// Model is what the provider promises and what the reconciler may do. New
	// makes room in it for many runs and does not count attempts and faults.
	Model protocol.Config

	MessageLifetime time.Duration // of a request, from the clock reading that permits it
	MaxClockSkew    time.Duration // the most by which two clocks differ, that of the steps included
	LookupLag       time.Duration // how long a look-up may not show a charge
	ProviderWindow  time.Duration // how long the provider collapses a key, from the claim at least
	RetryHorizon    time.Duration // how long after its first attempt a key may be sent
	HealthyRun      time.Duration // the room that a take-over needs in the window
}

// handlers is how many runs of the handler the checker follows at once; of
// more it says nothing.
const handlers = 5

// model returns the configuration of the model that is followed.
func (c *Config) model() protocol.Config {
	m := c.Model
	m.Handlers, m.Reconciles, m.Unbounded = handlers, true, true
	m.Ages, m.GivesUp, m.Collects = true, true, true
	return m
}

const reconciler protocol.Slot = handlers + 1

// The instants, by the clock of the steps, at which the first clock says that
// a fact is so, and at which the last one does.
type span struct{ first, last time.Duration }

func (c *Config) span(exact time.Duration) span {
	return span{exact - c.MaxClockSkew, exact + c.MaxClockSkew}
}

func (c *Config) over(o *operation) span { return c.span(o.leaseUntil) }

func (c *Config) dead(o *operation) span {
	return c.span(o.leaseUntil + c.MessageLifetime + c.LookupLag + c.MaxClockSkew)
}

// closed is when nobody may send any more.
func (c *Config) closed(o *operation) span {
	return c.span(o.windowFrom + c.ProviderWindow - c.MessageLifetime - c.MaxClockSkew)
}

// narrow is when a take-over has no room to send any more.
func (c *Config) narrow(o *operation) span {
	s := c.closed(o)
	return span{s.first - c.HealthyRun, s.last - c.HealthyRun}
}

// forgotten is when a provider forgets the key to which it came with the
// claim. Nobody can tell when it does: nothing may land any more.
func (c *Config) forgotten(o *operation) time.Duration {
	return o.windowFrom + c.ProviderWindow + c.MessageLifetime + c.MaxClockSkew
}

func (c *Config) unasked(o *operation) span {
	return c.span(o.windowFrom + c.RetryHorizon + c.MessageLifetime + c.MaxClockSkew)
}
