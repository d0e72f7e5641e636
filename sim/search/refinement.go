package search

import (
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim"
)

// Refinement says what the protocol model is in a world. The durations are
// the world's: a design that is given others still runs in this one. How much
// room a take-over wants is the design's own affair.
func Refinement(cfg *sim.Config) refine.Config {
	world := sim.ServiceConfig(cfg.Profile)
	if cfg.Service != nil {
		world = *cfg.Service
	}
	own := world
	if cfg.Design.Tune != nil {
		own = cfg.Design.Tune(world)
	}
	room := own.HealthyRun
	if cfg.Profile.Keys && cfg.Profile.StoresFailures {
		room = cfg.Profile.Window // no take-over is ever in time
	}
	return refine.Config{
		Model: protocol.Config{
			Keys: cfg.Profile.Keys, StoresDeclines: cfg.Profile.StoresDeclines, Lookups: cfg.Profile.Lookup,
			Declines: true, RollForward: own.RollForward,
		},
		MessageLifetime: world.MessageLifetime, MaxClockSkew: world.MaxClockSkew, LookupLag: world.LookupLag,
		ProviderWindow: cfg.Profile.Window, RetryHorizon: world.RetryHorizon, HealthyRun: room,
	}
}

// hold holds the last run against the protocol model.
func (a *arena) hold() {
	r := a.model.Check(&a.steps)
	a.held, a.unjudged = true, r.Unjudged
	a.divergence = r.Divergence
	if d := r.Divergence; d != nil {
		a.diverged = append(a.diverged, invariant.Violation{
			Invariant: invariant.Refines, Index: max(d.Event, 0), At: d.At, Operation: d.Operation, Sentence: d.Sentence(),
		})
	}
}

// violations are those of all invariants in the last run.
func (a *arena) violations() []invariant.Violation {
	all := a.checker.Violations()
	return append(all[:len(all):len(all)], a.diverged...)
}
