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
	defects:    each(chargeOnceDefects(), func(d protocol.Defect) Term { return Term{d.String(), d.Doc()} }),
	set:        (*protocol.Config).Set,
	validate:   (*protocol.Config).Validate,
	initial:    one(protocol.Initial),
	next:       nextOf(protocol.Next),
	actionName: func(a explore.Action) string { return protocol.ActionOf(uint16(a)).String() },
	invariants: each(protocol.Invariants, func(i protocol.Invariant) law[protocol.Config, protocol.State] {
		return law[protocol.Config, protocol.State](i)
	}),
	steps: each(protocol.StepInvariants, func(i protocol.StepInvariant) stepLaw[protocol.Config, protocol.State] {
		return stepLaw[protocol.Config, protocol.State](i)
	}),
	goals: each(protocol.Goals, chargeOnceGoal),
	situations: each(protocol.Situations, func(s protocol.Situation) law[protocol.Config, protocol.State] {
		return law[protocol.Config, protocol.State]{s.Name, s.Doc, s.Shows}
	}),
	canonical: protocol.Canonical,
	fairness:  fairnessOf(protocol.Fairness),
	bounds:    chargeOnceBounds,
	facts:     chargeOnceFacts,
}

func chargeOnceDefects() (all []protocol.Defect) {
	for d := range protocol.DefectCount {
		all = append(all, d)
	}
	return all
}

func chargeOnceGoal(g protocol.Goal) goal[protocol.Config, protocol.State] {
	return goal[protocol.Config, protocol.State]{g.Name, g.Doc, func(_ *protocol.Config, name string) explore.Property[protocol.State] {
		if g.Forever {
			return explore.EventuallyForever(name, g.Reached)
		}
		return explore.Eventually(name, g.Reached)
	}}
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
