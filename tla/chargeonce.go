package tla

import (
	"fmt"
	"strings"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// chargeOnce is the twin of ChargeOnce.
var chargeOnce = parts[protocol.Config, protocol.State]{
	module:     "ChargeOnce",
	defects:    chargeOnceDefects(),
	set:        (*protocol.Config).Set,
	validate:   (*protocol.Config).Validate,
	initial:    protocol.Initial,
	next:       chargeOnceNext,
	actionName: func(a explore.Action) string { return protocol.ActionOf(uint16(a)).String() },
	invariants: chargeOnceInvariants(),
	steps:      chargeOnceSteps(),
	goals:      chargeOnceGoals(),
	situations: chargeOnceSituations(),
	fairness:   chargeOnceFairness,
	bounds:     chargeOnceBounds,
	facts:      chargeOnceFacts,
}

func chargeOnceDefects() (all []Term) {
	for d := range protocol.DefectCount {
		all = append(all, Term{d.String(), d.Doc()})
	}
	return all
}

func chargeOnceNext(c *protocol.Config, steps []explore.Step[protocol.State], s protocol.State) []explore.Step[protocol.State] {
	protocol.Next(c, s, func(a protocol.Action, next protocol.State) {
		steps = append(steps, explore.Step[protocol.State]{Action: explore.Action(a.Code()), Next: next})
	})
	return steps
}

func chargeOnceInvariants() (all []law[protocol.Config, protocol.State]) {
	for _, i := range protocol.Invariants {
		all = append(all, law[protocol.Config, protocol.State](i))
	}
	return all
}

func chargeOnceSteps() (all []stepLaw[protocol.Config, protocol.State]) {
	for _, i := range protocol.StepInvariants {
		all = append(all, stepLaw[protocol.Config, protocol.State](i))
	}
	return all
}

func chargeOnceGoals() (all []goal[protocol.Config, protocol.State]) {
	for _, g := range protocol.Goals {
		all = append(all, goal[protocol.Config, protocol.State]{g.Name, g.Doc, func(_ *protocol.Config, name string) explore.Property[protocol.State] {
			if g.Forever {
				return explore.EventuallyForever(name, g.Reached)
			}
			return explore.Eventually(name, g.Reached)
		}})
	}
	return all
}

func chargeOnceSituations() (all []law[protocol.Config, protocol.State]) {
	for _, s := range protocol.Situations {
		all = append(all, law[protocol.Config, protocol.State]{s.Name, s.Doc, s.Shows})
	}
	return all
}

func chargeOnceFairness(c *protocol.Config) (all []explore.Fairness) {
	for _, set := range protocol.Fairness(c) {
		f := explore.Fairness{Strength: explore.Weak}
		for _, a := range set {
			f.Actions = append(f.Actions, explore.Action(a.Code()))
		}
		all = append(all, f)
	}
	return all
}

func chargeOnceBounds(c *protocol.Config) string {
	bounds := fmt.Sprintf("handlers: %d, attempts with parameters p: %d, with others q: %d, faults: %d", c.Handlers, c.Attempts, c.Others, c.Faults)
	if c.Persistent {
		bounds += "; the client asks until it has its answer"
	}
	if c.Reconciles {
		bounds += fmt.Sprintf("; run %d is the reconciler", c.Handlers+1)
	}
	return bounds
}

func chargeOnceFacts(c *protocol.Config, s protocol.State) []Fact {
	all := []Fact{{"record", strings.TrimPrefix(s.Record().String(), "record ")}}
	slots := c.Handlers
	if c.Reconciles {
		slots++
	}
	for h := 1; h <= slots; h++ {
		if r := s.Run(protocol.Slot(h)); r.At != protocol.AtIdle {
			all = append(all, Fact{fmt.Sprintf("run %d", h), r.String()})
		}
	}
	for _, w := range s.Late() {
		all = append(all, Fact{"unapplied", w.String()})
	}
	for _, m := range s.Messages() {
		all = append(all, Fact{"on its way", "charge of " + m.String()})
	}
	for i, charge := range s.Ledger() {
		all = append(all, Fact{fmt.Sprintf("charge %d", i+1), charge.String()})
	}
	for _, key := range s.Refused() {
		all = append(all, Fact{"provider", fmt.Sprintf("keeps a decline under key %d", key)})
	}
	for _, t := range s.Told() {
		all = append(all, Fact{"told", fmt.Sprintf("%v: %v", t.Parameters, t.Reply)})
	}
	if !s.Asking() {
		all = append(all, Fact{"client", "asks no more"})
	}
	return append(all, Fact{"left", fmt.Sprintf("tries with p: %d, with q: %d, faults: %d", s.Tries(protocol.P), s.Tries(protocol.Q), s.Budget())})
}
