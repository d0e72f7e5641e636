package behaviour

import (
	"errors"
	"fmt"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim/provider"
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

// timing is what deployments of one world differ in: the model knows neither
// how long the provider's window is nor for how long clients ask.
type timing struct{ window, horizon time.Duration }

// The durations of all deployments.
const (
	lease     = 20 * time.Second
	healthy   = 5 * time.Second
	lifetime  = 16 * time.Second
	skew      = 6 * time.Second
	lag       = 60 * time.Second
	interval  = time.Second
	wait      = time.Second
	longest   = 1000 * time.Second
	sendsOver = lifetime + lag + skew // after its lease, whatever it permitted
)

// timings are deployments that Validate takes, that first in which most
// behaviours have room: a window that is long, as short as it can be, or with
// room for one more lease; and clients that give up before it closes or long
// after it, at once, when it closes, or one lease later.
func (w *World) timings() []timing {
	shortest := lease + interval + healthy + lifetime + 2*skew + 1
	if !w.Model.Keys || !w.Model.StoresDeclines {
		shortest += lifetime + lag
	}
	var all []timing
	for _, window := range []time.Duration{longest, shortest, shortest + lease} {
		closes := window - 2*lifetime - 2*skew - healthy
		for _, horizon := range []time.Duration{closes - lease, longest, interval, closes, closes + lease} {
			all = append(all, timing{window, max(horizon, interval)})
		}
	}
	return all
}

// deployment is the configuration of the code.
func (w *World) deployment(t timing) impl.Config {
	return impl.Config{
		Lease: lease, HealthyRun: healthy, MessageLifetime: lifetime, MaxClockSkew: skew, LookupLag: lag,
		ReconcileInterval: interval, InProgressWait: wait,
		ProviderWindow: t.window, RetryHorizon: t.horizon, Retention: t.horizon + 2*lifetime + skew + 1,
		RollForward: w.Model.RollForward,
		Provider:    impl.Profile{Keys: w.Model.Keys, StoresDeclines: w.Model.StoresDeclines, Lookup: w.Model.Lookups},
	}
}

// profile is what the provider keeps to.
func (w *World) profile(t timing) provider.Profile {
	return provider.Profile{Name: "tour", Profile: w.deployment(t).Provider, Window: t.window}
}

// reconciler is the slot of the reconciler.
func (w *World) reconciler() protocol.Slot { return protocol.Slot(w.Model.Handlers + 1) }

// handles reports whether a run in the slot answers a client.
func (w *World) handles(slot protocol.Slot) bool { return slot != w.reconciler() }
