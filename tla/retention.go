package tla

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/retention"
)

// retentionParts is the twin of Retention.
var retentionParts = parts[retention.Config, retention.State]{
	module:     "Retention",
	defects:    each(retention.Defects, func(d retention.Defect) Term { return Term(d) }),
	set:        setField[retention.Config],
	validate:   (*retention.Config).Validate,
	initial:    retention.Initial,
	next:       nextOf(retention.Next),
	actionName: func(a explore.Action) string { return retention.ActionOf(uint16(a)).String() },
	invariants: each(retention.Invariants, func(i retention.Invariant) law[retention.Config, retention.State] {
		return law[retention.Config, retention.State](i)
	}),
	steps: each(retention.StepInvariants, func(i retention.StepInvariant) stepLaw[retention.Config, retention.State] {
		return stepLaw[retention.Config, retention.State](i)
	}),
	goals: each(retention.Goals, retentionGoal),
	situations: each(retention.Situations, func(s retention.Situation) law[retention.Config, retention.State] {
		return law[retention.Config, retention.State]{s.Name, s.Doc, s.Shows}
	}),
	fairness: fairnessOf(retention.Fairness),
	bounds:   retentionBounds,
	facts:    retentionFacts,
}

func retentionGoal(g retention.Goal) goal[retention.Config, retention.State] {
	return goal[retention.Config, retention.State]{g.Name, g.Doc, func(_ *retention.Config, name string) explore.Property[retention.State] {
		return explore.LeadsTo(name, g.From, g.To)
	}}
}

func retentionBounds(c *retention.Config) string {
	bounds := fmt.Sprintf("in ticks, horizon: %d, life of a message: %d, skew: %d, retention: %d, tombstone: %d, window: %d",
		c.Horizon, c.Life, c.Skew, c.Retention(), c.Tombstone, c.Window)
	if c.Late > 0 {
		bounds += fmt.Sprintf("; somebody asks until %d after the horizon", c.Late)
	}
	if c.Others {
		bounds += "; the key comes with other parameters, too"
	}
	if c.Reuses {
		bounds += "; a forgotten key is used again"
	}
	return bounds
}

func retentionFacts(c *retention.Config, s retention.State) []Fact {
	var all []Fact
	add := func(of, format string, args ...any) { all = append(all, Fact{of, fmt.Sprintf(format, args...)}) }
	if s.Record.Exists() {
		add("record", "%s", retentionRecord(s.Record))
	} else {
		add("record", "none")
	}
	if s.Until > c.FarUntil() {
		add("client", "horizon ends %s", instant(s.Until, c.FarUntil()))
	} else {
		add("client", "asks no more")
	}
	for w := range s.Requests {
		if lives := s.Requests[w]; lives != retention.Over {
			add(fmt.Sprintf("request %v", retention.Sender(w)), "lives for %d", lives)
		}
		if lives := s.Inserts[w]; lives != retention.Over {
			add(fmt.Sprintf("insert %v", retention.Sender(w)), "lives for %d", lives)
		}
	}
	switch age := int(s.Key.Age); {
	case age < 0:
	case age < c.Window:
		add("provider", "knows the key for %d, for %v", age, s.Key.Of)
	default:
		add("provider", "has forgotten the key")
	}
	if c.Reuses {
		add("charges", "%d of the first operation, %d of the second", s.Charges[0], s.Charges[1])
	} else {
		add("charges", "%d", s.Charges[0])
	}
	for _, t := range s.Told() {
		text := fmt.Sprintf("%v: %v", t.To, t.Says)
		if t.Of != t.To {
			text += fmt.Sprintf(", by the record of %v", t.Of)
		}
		add("told", "%s", text)
	}
	if s.Stale {
		add("unapplied", "a write of somebody who was overtaken")
	}
	return all
}

func retentionRecord(r retention.Record) string {
	text := fmt.Sprintf("%v, of %v", r.State, r.By)
	if r.Landed {
		text += ", charged"
	}
	switch {
	case r.Tomb && r.Print:
		text += ", a tombstone"
	case r.Tomb:
		text += ", a tombstone without fingerprint"
	}
	switch {
	case !r.Terminal():
	case r.Expires == retention.Over:
		text += ", expired"
	default:
		text += ", expires " + instant(r.Expires, retention.Over)
	}
	return text
}
