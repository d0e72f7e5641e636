package behaviour

import (
	"errors"
	"fmt"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// World is a bounded world of the model. Its bounds say how much happens; what
// it says of the provider holds for the code too.
type World struct{ Model protocol.Config }

// ErrWorld is returned by Validate.
var ErrWorld = errors.New("behaviour: the world cannot be visited")

// Validate returns ErrWorld, with why, for a world with no end, or one that the
// model does not take; otherwise nil.
func (w *World) Validate() error {
	if err := w.Model.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrWorld, err)
	}
	if w.Model.Unbounded {
		return fmt.Errorf("%w: it is unbounded", ErrWorld)
	}
	return nil
}

// The durations that all deployments have in common.
const (
	lease    = 20 * time.Second
	healthy  = time.Second
	lifetime = 16 * time.Second
	interval = time.Second
	wait     = time.Second
)

// deployments are configurations that Validate takes, that first in which most
// behaviours have room. They differ in what the model has no measure of. The
// window is long, as short as it can be, or has room for one more lease.
// Clients give up before it closes or long after it, at once, when it closes, or
// one lease later. And clocks may differ as much as a lease lets them, or
// look-up lag for longer than all the rest.
func (w *World) deployments() (all []impl.Config) {
	const long = 1000 * time.Second
	joins := w.Model.Keys && w.Model.StoresDeclines
	for _, c := range []struct{ skew, lag time.Duration }{{6 * time.Second, time.Minute}, {lease - healthy - 1, time.Minute}, {6 * time.Second, 3 * long}} {
		short := lease + interval + healthy + lifetime + 2*c.skew + 1
		if !joins {
			short += lifetime + c.lag
		}
		for _, window := range []time.Duration{max(long, short), short, short + lease} {
			closes := window - 2*lifetime - 2*c.skew - healthy
			for _, horizon := range []time.Duration{closes - lease, long, interval, closes, closes + c.skew/2, closes + lease} {
				horizon = max(horizon, interval)
				all = append(all, impl.Config{
					Lease: lease, HealthyRun: healthy, MessageLifetime: lifetime, MaxClockSkew: c.skew, LookupLag: c.lag,
					ReconcileInterval: interval, InProgressWait: wait,
					ProviderWindow: window, RetryHorizon: horizon, Retention: horizon + 2*lifetime + c.skew + 1,
					RollForward: w.Model.RollForward,
					Provider:    impl.Profile{Keys: w.Model.Keys, StoresDeclines: w.Model.StoresDeclines, Lookup: w.Model.Lookups},
				})
			}
		}
	}
	return all
}

// reconciler is the slot of the reconciler.
func (w *World) reconciler() protocol.Slot { return protocol.Slot(w.Model.Handlers + 1) }

// handles reports whether a run in the slot answers a client.
func (w *World) handles(slot protocol.Slot) bool { return slot != w.reconciler() }
