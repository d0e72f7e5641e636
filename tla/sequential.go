package tla

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/lockstep"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// PropertySequential is what is judged in the worlds of [Sequential].
const PropertySequential = "Sequential"

// sequential is the twin of ChargeOnce, each behaviour of which is followed by
// the sequential specification.
var sequential = parts[protocol.Config, lockstep.State]{
	module:     chargeOnce.module,
	defects:    chargeOnce.defects,
	set:        chargeOnce.set,
	validate:   chargeOnce.validate,
	initial:    one(lockstep.Initial),
	next:       nextOf(lockstep.Next),
	actionName: chargeOnce.actionName,
	invariants: []law[protocol.Config, lockstep.State]{{
		Name: PropertySequential,
		Doc:  "Whatever clients and the ledger can see happened as if one thing had come after the other, each as the sequential specification allows.",
		Hold: func(_ *protocol.Config, s lockstep.State) bool { return s.Refused() == model.Allowed },
	}},
	situations: each(protocol.Situations, func(s protocol.Situation) law[protocol.Config, lockstep.State] {
		return law[protocol.Config, lockstep.State]{s.Name, s.Doc, func(c *protocol.Config, at lockstep.State) bool { return s.Shows(c, at.Protocol) }}
	}),
	bounds: chargeOnce.bounds,
	facts: func(c *protocol.Config, s lockstep.State) []Fact {
		all := chargeOnceFacts(c, s.Protocol)
		if why := s.Refused(); why != model.Allowed {
			all = append(all, Fact{"refused", fmt.Sprint(why)})
		}
		return all
	},
}

// Sequential returns the twin of ChargeOnce that is held against the sequential
// specification of package model, history by history. Its worlds have the
// constants of the cfg file and judge PropertySequential, whatever else the
// file asks. TLC knows nothing of it.
func Sequential() Twin {
	t := sequential.twin()
	world := t.world
	t.world = func(c Config) (World, error) {
		c.Specification, c.Invariants, c.Properties = "Spec", []string{PropertySequential}, nil
		return world(c)
	}
	return t
}
