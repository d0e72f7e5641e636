package impl

import (
	"errors"
	"fmt"
	"time"
)

// Profile says what the provider promises.
type Profile struct {
	// Keys: within ProviderWindow of the first landing, equal key and
	// parameters move no more money (A1).
	Keys bool
	// StoresDeclines: a decline is stored under the key and given again, so
	// it is definite whoever asked (A1).
	StoresDeclines bool
	// StoresFailures: what the provider answered when it failed (4xx, 5xx) is
	// stored under the key too and given again, whether it had charged or not. A
	// second send then hears what the first did, so none is made: the operation
	// is looked up until its send is over, and then settled, so that the client
	// may come with another key. It matters with Keys only.
	StoresFailures bool
	// Lookup: charges can be looked up by reference (A5). The service asks and
	// goes by the provider's answer, ErrNoLookup; this says what to expect.
	Lookup bool
	// RefundsOnce: a charge is given back at most once, however often and under
	// whatever key that is asked for. Without it a refund that had no answer may
	// be asked for again only when the first is surely over. [Service] never
	// refunds.
	RefundsOnce bool
}

// Assumption names one line of the configuration that the outside must keep.
type Assumption string

// The assumptions. Safety holds under all of them; each has a demonstration
// of what falls without it.
const (
	A1 Assumption = "A1" // the provider collapses equal key and parameters within ProviderWindow
	A2 Assumption = "A2" // a message lives at most MessageLifetime from the clock reading that permits it
	A3 Assumption = "A3" // an acknowledged registry write is durable and visible
	A4 Assumption = "A4" // one key per operation, none sent after RetryHorizon; records outlive it
	A5 Assumption = "A5" // look-up is complete after LookupLag
	A6 Assumption = "A6" // where declines are not stored, nothing below us re-sends by itself
	AS Assumption = "AS" // any two clocks differ by at most MaxClockSkew
)

// Assumptions lists them in order.
var Assumptions = []Assumption{A1, A2, A3, A4, A5, A6, AS}

// Config is what a deployment states about itself. All durations are
// positive, unless said otherwise, and at most 3660 days, some ten years.
type Config struct {
	// Lease is how long a claim or a take-over keeps others off. It must be
	// longer than MaxClockSkew + HealthyRun. Leases never decide safety.
	Lease time.Duration
	// HealthyRun is how long a handler takes when nothing is wrong,
	// time-outs of its calls included.
	HealthyRun time.Duration
	// MessageLifetime (L, A2) bounds a message's life, counted from the clock
	// reading that permits the send to the last effect of any copy: process
	// pauses and transport re-sends included.
	MessageLifetime time.Duration
	// MaxClockSkew (S, AS) is the most by which any two clocks differ. 0 is
	// allowed where there is one clock.
	MaxClockSkew time.Duration
	// ProviderWindow (W, A1) is how long the provider collapses equal keys,
	// from the first landing; without keys, how long we try. It must be longer
	// than Lease + ReconcileInterval + HealthyRun + MessageLifetime +
	// 2·MaxClockSkew, and by MessageLifetime + LookupLag more without keys or
	// where declines are not stored, so that a second send fits into it.
	ProviderWindow time.Duration
	// LookupLag (A5) is how long after a charge the provider's look-up may
	// not show it. 0 is allowed.
	LookupLag time.Duration
	// RetryHorizon (A4) is how long after its first attempt a client may
	// still send the key. It is real time: a client whose clock is set while
	// it retries, or that goes on elsewhere from an instant that it has saved,
	// has to stop MaxClockSkew earlier.
	RetryHorizon time.Duration
	// Retention (A4) is how long a terminal record keeps its reply. It must
	// be longer than RetryHorizon + 2·MessageLifetime + MaxClockSkew.
	Retention time.Duration
	// ReconcileInterval is how often the deployment sweeps: from the begin of
	// one sweep to that of the next.
	ReconcileInterval time.Duration
	// InProgressWait is how long a request waits, once, for a live owner
	// before it answers "in progress". 0 answers at once.
	InProgressWait time.Duration
	// RollForward lets the reconciler charge for a client that no longer
	// asks. Off by default: a customer whose client has gone is not charged.
	RollForward bool
	// Provider says what the provider promises.
	Provider Profile
	// TransportResends says that something between us and the provider may
	// re-send by itself: a proxy, or Go's own HTTP client unless the request's
	// GetBody is nil.
	// It breaks A6 where declines are not stored.
	TransportResends bool
	// Waive lists assumptions that are known not to hold: Validate does not
	// report them. For demonstrations of what then breaks.
	Waive []Assumption
}

// longest is the longest duration that makes sense. Sums of a few of them and
// an instant stay in range.
const longest = 10 * 366 * 24 * time.Hour

// Validate reports every problem of the configuration, joined; nil if there
// is none. It changes nothing.
func (c *Config) Validate() error {
	var problems []error
	add := func(a Assumption, ok bool, format string, args ...any) {
		if ok {
			return
		}
		for _, w := range c.Waive {
			if w == a && a != "" {
				return
			}
		}
		prefix := "impl: config: "
		if a != "" {
			prefix += string(a) + ": "
		}
		problems = append(problems, errors.New(prefix+fmt.Sprintf(format, args...)))
	}
	for _, f := range []struct {
		name string
		d    time.Duration
		zero bool
	}{
		{"Lease", c.Lease, false}, {"HealthyRun", c.HealthyRun, false}, {"MessageLifetime", c.MessageLifetime, false},
		{"MaxClockSkew", c.MaxClockSkew, true}, {"ProviderWindow", c.ProviderWindow, false}, {"LookupLag", c.LookupLag, true},
		{"RetryHorizon", c.RetryHorizon, false}, {"Retention", c.Retention, false},
		{"ReconcileInterval", c.ReconcileInterval, false}, {"InProgressWait", c.InProgressWait, true},
	} {
		switch {
		case f.zero:
			add("", f.d >= 0, "%s is %v: want 0 or more", f.name, f.d)
		default:
			add("", f.d > 0, "%s is %v: want more than 0", f.name, f.d)
		}
		add("", f.d <= longest, "%s is %v: want at most %v, so that sums of durations and instants stay in range", f.name, f.d, longest)
	}
	L, S, W := c.MessageLifetime, c.MaxClockSkew, c.ProviderWindow
	add("", c.Lease > S+c.HealthyRun, "Lease is %v: want more than MaxClockSkew + HealthyRun = %v, or healthy runs lose their lease", c.Lease, S+c.HealthyRun)
	add(A4, c.Retention > c.RetryHorizon+2*L+S, "Retention is %v: want more than RetryHorizon + 2·MessageLifetime + MaxClockSkew = %v, or a retry finds its record forgotten", c.Retention, c.RetryHorizon+2*L+S)
	if c.Provider.Keys && c.Provider.StoresDeclines {
		need := c.Lease + c.ReconcileInterval + c.HealthyRun + L + 2*S
		add(A1, need < W, "ProviderWindow is %v: want more than Lease + ReconcileInterval + HealthyRun + MessageLifetime + 2·MaxClockSkew = %v, or no second send fits into it", W, need)
	} else {
		need := c.Lease + c.ReconcileInterval + c.HealthyRun + 2*L + c.LookupLag + 2*S
		add(A1, need < W, "ProviderWindow is %v: want more than Lease + ReconcileInterval + HealthyRun + 2·MessageLifetime + LookupLag + 2·MaxClockSkew = %v, or no second send fits into it: it has to wait until the first is over", W, need)
	}
	add(A6, c.Provider.StoresDeclines || !c.TransportResends, "TransportResends is on and the provider does not store declines: a decline proves nothing when a copy may still be approved; switch the transport's re-sends off")
	return errors.Join(problems...)
}
