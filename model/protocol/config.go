package protocol

import (
	"errors"
	"fmt"
)

// Config says how large the world is, what the provider promises, which
// defects the protocol has and which assumptions do not hold. The names are
// those of the specification's constants.
type Config struct {
	Handlers int // runs of the handler at once, 1 to 5, or 6 without a reconciler
	Attempts int // how often the client asks, with its own parameters P
	Others   int // how often the key comes with other parameters, Q
	Faults   int // faults of all kinds together

	Reconciles     bool // a reconciler sweeps
	RollForward    bool // the reconciler may charge although nobody asks
	Keys           bool // the provider collapses equal keys
	StoresDeclines bool // it gives a decline again under the same key
	Declines       bool // it may decline
	Lookups        bool // it shows its charges
	Foreign        bool // it has a charge of somebody else under our key
	Ages           bool // the provider's window may end
	GivesUp        bool // the retry horizon may end
	Collects       bool // finished records are forgotten
	Persistent     bool // the client asks until it has its answer

	// Unbounded: attempts and faults are not counted, so Attempts, Others,
	// Faults and Persistent say nothing. It is for following a behaviour with
	// Take; there are too many states to search. The specification has it not.
	Unbounded bool

	Defects Defects // what the protocol does wrong, and what it may not rely on
}

// ErrConfig is returned by Validate. The text lists every problem.
var ErrConfig = errors.New("protocol: unusable configuration")

// Validate reports every bound that is out of range, joined; nil if there is
// none.
func (c *Config) Validate() error {
	var problems []error
	bound := func(name string, value, least, most int) {
		if value < least || value > most {
			problems = append(problems, fmt.Errorf("%s is %d: want %d to %d", name, value, least, most))
		}
	}
	most := maxSlots
	if c.Reconciles {
		most--
	}
	bound("Handlers", c.Handlers, 1, most)
	bound("Attempts", c.Attempts, 0, maxCount)
	bound("Others", c.Others, 0, maxCount)
	bound("Faults", c.Faults, 0, maxLate)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrConfig, errors.Join(problems...))
}

// slots is how many runs there may be at once, the reconciler's included.
func (c *Config) slots() Slot {
	if c.Reconciles {
		return Slot(c.Handlers + 1)
	}
	return Slot(c.Handlers)
}

// reconciler is the slot of the reconciler, whether or not there is one.
func (c *Config) reconciler() Slot { return Slot(c.Handlers + 1) }

func (c *Config) has(d Defect) bool { return c.Defects.Has(d) }

// key is the provider key of a send on a version of the record.
func (c *Config) key(version uint8) uint8 {
	if c.has(KeyPerSend) {
		return version
	}
	return 1
}

// token is the owner token of a run.
func (c *Config) token(h Slot) Slot {
	if c.has(OwnerIsProcess) {
		return 1
	}
	return h
}

// Set sets the constant of that name to the value as cfg files write it. It
// returns ErrConfig if there is no such constant or it has no such value.
func (c *Config) Set(name, value string) error {
	if n, ok := map[string]*int{
		"Handlers": &c.Handlers, "Attempts": &c.Attempts, "Others": &c.Others, "Faults": &c.Faults,
	}[name]; ok {
		if _, err := fmt.Sscanf(value, "%d", n); err != nil {
			return fmt.Errorf("%w: %s is %q: want a number", ErrConfig, name, value)
		}
		return nil
	}
	on := value == "TRUE"
	if !on && value != "FALSE" {
		return fmt.Errorf("%w: %s is %q: want TRUE or FALSE", ErrConfig, name, value)
	}
	if b, ok := map[string]*bool{
		"Reconciles": &c.Reconciles, "RollForward": &c.RollForward, "Keys": &c.Keys, "StoresDeclines": &c.StoresDeclines,
		"Declines": &c.Declines, "Lookups": &c.Lookups, "Foreign": &c.Foreign, "Ages": &c.Ages, "GivesUp": &c.GivesUp,
		"Collects": &c.Collects, "Persistent": &c.Persistent,
	}[name]; ok {
		*b = on
		return nil
	}
	d, err := ParseDefect(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.Defects = c.Defects.Without(d)
	if on {
		c.Defects = c.Defects.With(d)
	}
	return nil
}
