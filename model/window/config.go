package window

import (
	"errors"
	"fmt"
)

// Config is the constants of the specification, under their names. Durations
// are in ticks.
type Config struct {
	Runs   int // how many runs there may be at once, 1 or 2
	Lease  int // how long a claim or a take-over keeps others off
	Life   int // a message lives so long, from the reading that permits it
	Skew   int // two clocks differ by so much at most
	Lag    int // look-up shows a charge after no more than this
	Window int // the provider collapses equal keys for so long

	Lookups bool // it shows its charges
	Keys    bool // it collapses; if not, Window is how long we try
	Crashes bool // runs may die, and give up on answers that may come

	// What follows are the defects; Defects says what each is.

	GuardForgetsSkew bool
	GuardForgetsLife bool
	GuardOrEqual     bool
	GuardMoves       bool
	FirstUnguarded   bool
	LeaseUnchecked   bool
	DeadForgetsSkew  bool
	DeadForgetsLife  bool
	DeadForgetsLag   bool
	ClockAfterLookUp bool
	TakeOverFirst    bool
}

// Defect is a field of Config that breaks a rule of the protocol.
type Defect struct {
	Name string
	Doc  string // what the design does, in a phrase
}

// Defects are all of them, in the order of the specification.
var Defects = []Defect{
	{"GuardForgetsSkew", "the guard leaves out the skew: t + Life < from + Window"},
	{"GuardForgetsLife", "the guard leaves out the life of a message: t + Skew < from + Window"},
	{"GuardOrEqual", "the guard says ≤ where it must say <"},
	{"GuardMoves", "from is moved at a take-over"},
	{"FirstUnguarded", "the run that made the claim does not ask the guard"},
	{"LeaseUnchecked", "a run does not ask whether its lease runs"},
	{"DeadForgetsSkew", "settling leaves out the skew: t > until + Life + Lag"},
	{"DeadForgetsLife", "settling leaves out the life of a message: t > until + Lag + Skew"},
	{"DeadForgetsLag", "settling leaves out the lag of look-up: t > until + Life + Skew"},
	{"ClockAfterLookUp", "the clock is read after the look-up"},
	{"TakeOverFirst", "a run takes over before each look-up"},
}

// ErrConfig is returned by Validate. The text lists every problem.
var ErrConfig = errors.New("window: unusable configuration")

// The bounds of what a state has room for.
const (
	maxRuns    = 2
	maxLife    = 7  // a bit for each
	maxSkew    = 7  // of readings in an action
	longest    = 30 // sums of four fit into an int8
	manyCharge = 2  // stands for more
)

// Validate reports every bound that is out of range, joined; nil if there is
// none.
func (c *Config) Validate() error {
	var problems []error
	bound := func(name string, value, least, most int) {
		if value < least || value > most {
			problems = append(problems, fmt.Errorf("%s is %d: want %d to %d", name, value, least, most))
		}
	}
	bound("Runs", c.Runs, 1, maxRuns)
	bound("Lease", c.Lease, 1, longest)
	bound("Life", c.Life, 0, maxLife)
	bound("Skew", c.Skew, 0, maxSkew)
	bound("Lag", c.Lag, 0, longest)
	bound("Window", c.Window, 1, longest)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrConfig, errors.Join(problems...))
}

// FarFrom is where instants of Record.From stop to differ.
func (c *Config) FarFrom() int8 { return int8(-c.Window - 1) }

// FarUntil is where ends of leases stop to differ.
func (c *Config) FarUntil() int8 { return int8(-(c.Life + c.Lag + c.Skew) - 1) }

// FarRead is where readings that are kept stop to differ.
func (c *Config) FarRead() int8 { return c.FarUntil() - int8(c.Lease) }

// oldest is the age from which on a key's age makes no difference.
func (c *Config) oldest() int8 { return int8(max(c.Window, c.Lag+1)) }

// CanSend asks the guard: by the reading, may a run still send on a record that
// was claimed at from?
func (c *Config) CanSend(from, reading int8) bool {
	t, bound := int(reading), int(from)+c.Window
	if !c.GuardForgetsLife {
		t += c.Life
	}
	if !c.GuardForgetsSkew {
		t += c.Skew
	}
	return t < bound || c.GuardOrEqual && t == bound
}

// Dead asks whether by the reading no send can land any more that a lease
// until then has permitted.
func (c *Config) Dead(until, reading int8) bool {
	last := int(until)
	if !c.DeadForgetsLife {
		last += c.Life
	}
	if !c.DeadForgetsLag {
		last += c.Lag
	}
	if !c.DeadForgetsSkew {
		last += c.Skew
	}
	return int(reading) > last
}
