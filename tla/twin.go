package tla

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// TwinModule is the module that model/protocol is the twin of.
const TwinModule = "ChargeOnce"

// Twin returns the model in Go that a cfg file of TwinModule asks about, with
// the same properties, and its configuration. It returns an error if a
// constant or a property is not known there.
func Twin(c Config) (*protocol.Config, explore.Model[protocol.State], error) {
	cfg := new(protocol.Config)
	m := explore.Model[protocol.State]{
		Initial: func() []protocol.State { return []protocol.State{protocol.Initial(cfg)} },
		Next: func(steps []explore.Step[protocol.State], s protocol.State) []explore.Step[protocol.State] {
			protocol.Next(cfg, s, func(a protocol.Action, next protocol.State) {
				steps = append(steps, explore.Step[protocol.State]{Action: explore.Action(a.Code()), Next: next})
			})
			return steps
		},
		ActionName: func(a explore.Action) string { return protocol.ActionOf(uint16(a)).String() },
	}
	for _, name := range c.Names {
		if err := cfg.Set(name, c.Constants[name]); err != nil {
			return nil, m, err
		}
	}
	if err := cfg.Validate(); err != nil {
		return nil, m, err
	}
	for _, name := range append(c.Invariants[:len(c.Invariants):len(c.Invariants)], c.Properties...) {
		if name == "TypeOK" { // Go's types say it
			continue
		}
		p, ok := property(cfg, name)
		if !ok {
			return nil, m, fmt.Errorf("tla: the Go model has no property %s", name)
		}
		m.Properties = append(m.Properties, p)
	}
	if c.Specification == "FairSpec" {
		m.Fairness = fairness(cfg)
	}
	return cfg, m, nil
}

// property returns the twin of an INVARIANT line (an invariant, or the denial
// of a situation) or of a PROPERTY line.
func property(cfg *protocol.Config, name string) (p explore.Property[protocol.State], ok bool) {
	for _, i := range protocol.Invariants {
		if i.Name == name {
			return explore.Always(name, func(s protocol.State) bool { return i.Hold(cfg, s) }), true
		}
	}
	for _, situation := range protocol.Situations {
		if situation.Name == name {
			return explore.Always(name, func(s protocol.State) bool { return !situation.Shows(cfg, s) }), true
		}
	}
	for _, i := range protocol.StepInvariants {
		if i.Name == name {
			return stepProperty(cfg, i), true
		}
	}
	for _, g := range protocol.Goals {
		switch {
		case g.Name == name && g.Forever:
			return explore.EventuallyForever(name, g.Reached), true
		case g.Name == name:
			return explore.Eventually(name, g.Reached), true
		}
	}
	return p, false
}

func stepProperty(cfg *protocol.Config, i protocol.StepInvariant) explore.Property[protocol.State] {
	return explore.AlwaysStep(i.Name, func(from protocol.State, _ explore.Action, to protocol.State) bool {
		return i.Hold(cfg, from, to)
	})
}

func fairness(cfg *protocol.Config) (all []explore.Fairness) {
	for _, set := range protocol.Fairness(cfg) {
		f := explore.Fairness{Strength: explore.Weak}
		for _, a := range set {
			f.Actions = append(f.Actions, explore.Action(a.Code()))
		}
		all = append(all, f)
	}
	return all
}
