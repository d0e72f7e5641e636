package tla

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/window"
)

// windowParts is the twin of Window.
var windowParts = parts[window.Config, window.State]{
	module:     "Window",
	defects:    each(window.Defects, func(d window.Defect) Term { return Term(d) }),
	set:        setField[window.Config],
	validate:   (*window.Config).Validate,
	initial:    one(window.Initial),
	next:       nextOf(window.Next),
	actionName: func(a explore.Action) string { return window.ActionOf(uint16(a)).String() },
	invariants: each(window.Invariants, func(i window.Invariant) law[window.Config, window.State] { return law[window.Config, window.State](i) }),
	goals:      each(window.Goals, windowGoal),
	situations: each(window.Situations, func(s window.Situation) law[window.Config, window.State] {
		return law[window.Config, window.State]{s.Name, s.Doc, s.Shows}
	}),
	fairness: fairnessOf(window.Fairness),
	bounds:   windowBounds,
	facts:    windowFacts,
}

func windowGoal(g window.Goal) goal[window.Config, window.State] {
	return goal[window.Config, window.State]{g.Name, g.Doc, func(_ *window.Config, name string) explore.Property[window.State] {
		return explore.LeadsTo(name, g.From, g.To)
	}}
}

func windowBounds(c *window.Config) string {
	bounds := fmt.Sprintf("runs: %d; in ticks, lease: %d, life of a message: %d, skew: %d, lag of look-up: %d, window: %d", c.Runs, c.Lease, c.Life, c.Skew, c.Lag, c.Window)
	if c.Crashes {
		bounds += "; runs may die at any point"
	}
	return bounds
}

func windowFacts(c *window.Config, s window.State) []Fact {
	var all []Fact
	add := func(of, format string, args ...any) { all = append(all, Fact{of, fmt.Sprintf(format, args...)}) }
	switch s.Record.State {
	case window.NoRecord:
		add("record", "none")
	default:
		add("record", "%v, from %s, lease until %s", s.Record.State, instant(s.Record.From, c.FarFrom()), instant(s.Record.Until, c.FarUntil()))
	}
	for h := 1; h <= c.Runs; h++ {
		r := s.Run(window.Slot(h))
		text := "at " + r.At.String()
		switch r.At {
		case window.AtIdle:
			continue
		case window.AtCharge:
			text += ", its lease until " + instant(r.Until, c.FarUntil())
		case window.AtLookUp, window.AtTakeOver:
			text += ", its reading " + instant(r.Read, c.FarRead())
		}
		for _, mark := range []struct {
			on   bool
			text string
		}{
			{r.Can, "may send"}, {r.Dead, "no send can land"}, {r.Found, "has seen a charge"},
			{r.First, "first sender"}, {!r.Fresh, "the record has changed"},
		} {
			if mark.on {
				text += ", " + mark.text
			}
		}
		add(fmt.Sprintf("run %d", h), "%s", text)
	}
	for _, m := range s.Messages() {
		text := "charge by run %d, lives for %d"
		if m.Waits {
			text += ", is waited for"
		}
		add("on its way", text, m.By, m.Life)
	}
	if s.Age >= 0 {
		add("provider", "knows the key for %d", s.Age)
	}
	add("charges", "%d", s.Charges)
	return all
}

// instant writes a distance from now; those from far on are all one.
func instant(t, far int8) string {
	switch {
	case t == far:
		return "long ago"
	case t == 0:
		return "now"
	case t < 0:
		return fmt.Sprintf("%d ago", -t)
	default:
		return fmt.Sprintf("in %d", t)
	}
}
