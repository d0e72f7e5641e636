package behaviour

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// World is a bounded world of the model. Its bounds say how much happens; what
// it says of the provider holds for the code too.
type World struct{ Model protocol.Config }

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

// timings are deployments that Validate takes, those first in which most
// behaviours have room: a window and a horizon may be long, or as short as
// they can be.
func (w *World) timings() []timing {
	short := lease + interval + healthy + lifetime + 2*skew + 1
	if !w.Model.Keys || !w.Model.StoresDeclines {
		short += lifetime + lag
	}
	return []timing{{longest, longest}, {longest, interval}, {short, longest}, {short, interval}}
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
