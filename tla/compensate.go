package tla

import (
	"fmt"
	"strings"

	"github.com/chargeonce/chargeonce/model/compensate"
	"github.com/chargeonce/chargeonce/model/explore"
)

// compensateParts is the twin of Compensate.
var compensateParts = parts[compensate.Config, compensate.State]{
	module:     "Compensate",
	defects:    each(compensate.Defects, func(d compensate.Defect) Term { return Term(d) }),
	set:        setField[compensate.Config],
	validate:   (*compensate.Config).Validate,
	initial:    one(compensate.Initial),
	next:       nextOf(compensate.Next),
	actionName: func(a explore.Action) string { return compensate.ActionOf(uint16(a)).String() },
	invariants: each(compensate.Invariants, func(i compensate.Invariant) law[compensate.Config, compensate.State] {
		return law[compensate.Config, compensate.State](i)
	}),
	steps: each(compensate.StepInvariants, func(i compensate.StepInvariant) stepLaw[compensate.Config, compensate.State] {
		return stepLaw[compensate.Config, compensate.State](i)
	}),
	goals: each(compensate.Goals, compensateGoal),
	situations: each(compensate.Situations, func(s compensate.Situation) law[compensate.Config, compensate.State] {
		return law[compensate.Config, compensate.State]{s.Name, s.Doc, s.Shows}
	}),
	fairness: fairnessOf(compensate.Fairness),
	bounds:   compensateBounds,
	facts:    compensateFacts,
}

func compensateGoal(g compensate.Goal) goal[compensate.Config, compensate.State] {
	return goal[compensate.Config, compensate.State]{g.Name, g.Doc, func(_ *compensate.Config, name string) explore.Property[compensate.State] {
		if g.Forever {
			return explore.EventuallyForever(name, g.Reached)
		}
		return explore.Eventually(name, g.Reached)
	}}
}

func compensateBounds(c *compensate.Config) string {
	bounds := fmt.Sprintf("handlers: %d, reconcilers: %d, attempts: %d, faults: %d", c.Handlers, c.Reconcilers, c.Attempts, c.Faults)
	if c.Persistent {
		bounds += "; the client asks until it has its answer"
	}
	if c.Reconcilers > 0 {
		bounds += fmt.Sprintf("; from run %d on it is the reconciler", c.Handlers+1)
	}
	return bounds
}

func compensateFacts(c *compensate.Config, s compensate.State) []Fact {
	var all []Fact
	add := func(of, format string, args ...any) { all = append(all, Fact{of, fmt.Sprintf(format, args...)}) }
	all = append(all, compensateRecords(s)...)
	for h := 1; h <= c.Handlers+c.Reconcilers; h++ {
		if r := *s.Run(compensate.Slot(h)); r.At != compensate.AtIdle {
			add(fmt.Sprintf("run %d", h), "%s", compensateRun(r))
		}
	}
	for _, w := range s.Late() {
		text := fmt.Sprintf("%v", w.Step)
		if w.Reply.Says != compensate.Nothing {
			text += " of " + w.Reply.String()
		}
		add("late write", "%s", text)
	}
	if s.Stray > 0 {
		add("on its way", "%s that nobody waits for", times(s.Stray, "charge request"))
	}
	for i := uint8(1); i <= s.Made; i++ {
		text := "stands"
		switch s.Charge(i).Refunds {
		case 0:
		case 1:
			text = "was given back"
		default:
			text = "was given back more than once"
		}
		add(fmt.Sprintf("charge %d", i), "%s", text)
		if n := s.Charge(i).Loose; n > 0 {
			add("on its way", "%s of charge %d that nobody waits for", times(n, "refund"), i)
		}
	}
	for _, a := range s.Told() {
		add("told", "%v", a)
	}
	if !s.Asking {
		add("client", "gave up")
	}
	add("left", "%s, %s", times(s.Tries, "attempt"), times(s.Budget, "fault"))
	return all
}

// times counts things of one kind.
func times(n uint8, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// compensateRecords tells the operation's record and the audit's.
func compensateRecords(s compensate.State) []Fact {
	r := s.Record
	record := r.State.String()
	if r.State != compensate.NoState {
		record += ", lease " + r.Lease.String()
	}
	if r.Owner != compensate.Gone {
		record += fmt.Sprintf(", of run %d", r.Owner)
	}
	if r.Window == compensate.WindowClosed {
		record += ", time to try over"
	}
	if r.Eager {
		record += ", may be sent again at once"
	}
	if r.Terminal() {
		record += ", reply " + r.Reply.String()
	}
	audit := s.Audit.State.String()
	if s.Audit.Lease != compensate.NoLease {
		audit += ", lease " + s.Audit.Lease.String()
	}
	return []Fact{{"record", record}, {"audit", audit}}
}

func compensateRun(r compensate.Run) string {
	text := "at " + r.At.String()
	if r.Step != compensate.NoStep {
		text += " after " + r.Step.String()
	}
	if r.Answer.Says != compensate.Nothing {
		text += " with " + r.Answer.String()
	}
	if r.Alone {
		text += ", no other send can land"
	}
	writes := r.At != compensate.AtReply && r.At != compensate.AtReadBack && r.At != compensate.AtTidy
	if writes && !r.Fresh {
		text += ", the record has changed"
	}
	if r.Todo != 0 {
		charges := each(r.Todo.Charges(), func(i uint8) string { return fmt.Sprintf("charge %d", i) })
		text += ", gives back " + strings.Join(charges, " and ")
	}
	return text
}
