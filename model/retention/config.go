package retention

import (
	"errors"
	"fmt"
)

// Config is the constants of the specification, under their names. Durations
// are in ticks.
type Config struct {
	Horizon   int // no attempt is sent later than this after the first
	Life      int // a message lives so long: a request, and an insert
	Skew      int // two clocks differ by so much at most
	Slack     int // by how much a reply is kept longer than it must be
	Tombstone int // how long a tombstone stays, from the reading that drops the body
	Window    int // the provider collapses equal keys for so long
	Late      int // somebody asks so long after the horizon

	Others bool // the key comes with other parameters, too
	Reuses bool // a forgotten key is used for another operation

	// What follows are the defects and the assumptions that are dropped;
	// Defects says what each is.

	ForgetsHop            bool
	ForgetsHops           bool
	ForgetsSkew           bool
	CollectOrEqual        bool
	FromClaim             bool
	CollectUnfinished     bool
	CollectReview         bool
	NoTombstone           bool
	ShortTombstone        bool
	TombstoneForgetsPrint bool
	FenceIgnoresOwner     bool
	CollectUnfenced       bool
	ReplayExtends         bool
	BreakA2               bool
	BreakA3               bool
	BreakA4               bool
	BreakAS               bool
	Unsteady              bool
}

// Defect is a field of Config that breaks a rule of the protocol or drops an
// assumption.
type Defect struct {
	Name string
	Doc  string // what the design does, or what happens, in a phrase
}

// Defects are all of them, in the order of the specification.
var Defects = []Defect{
	{"ForgetsHop", "retention counts one hop and not two"},
	{"ForgetsHops", "retention counts no hop"},
	{"ForgetsSkew", "retention does not count the skew"},
	{"CollectOrEqual", "a record is over at the instant of its expiry, not after it"},
	{"FromClaim", "retention counts from the claim and not from the end"},
	{"CollectUnfinished", "the collector looks only at age"},
	{"CollectReview", "the collector takes what a person has, too"},
	{"NoTombstone", "the record goes with its body"},
	{"ShortTombstone", "a tombstone stays one tick less"},
	{"TombstoneForgetsPrint", "the fingerprint goes with the body"},
	{"FenceIgnoresOwner", "a write asks for the version and not for the owner"},
	{"CollectUnfenced", "the collector deletes whatever is there now"},
	{"ReplayExtends", "a replay writes a new instant of expiry"},
	{"BreakA2", "a message outlives its lifetime"},
	{"BreakA3", "the registry loses what it acknowledged"},
	{"BreakA4", "the client asks at any time"},
	{"BreakAS", "two clocks differ by one tick more"},
	{"Unsteady", "the client's clock is set between two readings"},
}

// ErrConfig is returned by Validate. The text lists every problem.
var ErrConfig = errors.New("retention: unusable configuration")

// The bounds of what a state and an action have room for.
const (
	longest    = 20 // sums of six fit into an int8
	maxSkew    = 6  // and one more, if that is broken
	manyCharge = 2  // stands for more
	manyForgot = 2  // stands for more
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
	bound("Horizon", c.Horizon, 0, longest)
	bound("Life", c.Life, 0, longest)
	bound("Skew", c.Skew, 0, maxSkew)
	bound("Slack", c.Slack, 0, longest)
	bound("Tombstone", c.Tombstone, 0, longest)
	bound("Window", c.Window, 1, longest)
	bound("Late", c.Late, 0, longest)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrConfig, errors.Join(problems...))
}

// Retention is how long a reply is kept.
func (c *Config) Retention() int {
	kept := c.Horizon + c.Slack
	switch {
	case c.ForgetsHops:
	case c.ForgetsHop:
		kept += c.Life
	default:
		kept += 2 * c.Life
	}
	if !c.ForgetsSkew {
		kept += c.Skew
	}
	return kept
}

// tombstone is how long a tombstone stays.
func (c *Config) tombstone() int {
	if c.ShortTombstone {
		return c.Tombstone - 1
	}
	return c.Tombstone
}

// FarUntil is where ends of the horizon stop to differ.
func (c *Config) FarUntil() int8 { return int8(-c.Late - 1) }

// Over is where instants of expiry stop to differ, and the life of a message
// that is over.
const Over int8 = -1

// readings is how many readings of a clock there are, 0 and up.
func (c *Config) readings() int8 {
	if c.BreakAS {
		return int8(c.Skew) + 2
	}
	return int8(c.Skew) + 1
}

// clientReadings is the same of a client.
func (c *Config) clientReadings() int8 {
	if c.Unsteady {
		return c.readings()
	}
	return 1
}

// claimReadings is the same of an insert.
func (c *Config) claimReadings() int8 {
	if c.agesFromClaim() || c.ReplayExtends {
		return c.readings()
	}
	return 1
}

// agesFromClaim: the defects that look at the age of unfinished records need
// to know it.
func (c *Config) agesFromClaim() bool { return c.FromClaim || c.CollectUnfinished || c.CollectReview }
