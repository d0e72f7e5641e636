package plan_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// clocked are the kinds of processes that have a number and a clock.
var clocked = []plan.Process{plan.Client, plan.Server, plan.Reconciler}

func numbered(kinds []plan.Process) *rapid.Generator[plan.Process] {
	return rapid.Custom(func(t *rapid.T) plan.Process {
		return rapid.SampledFrom(kinds).Draw(t, "kind") | plan.Process(rapid.IntRange(1, plan.MaxIndex).Draw(t, "number"))
	})
}

func processes() *rapid.Generator[plan.Process] {
	return rapid.OneOf(numbered(clocked), rapid.SampledFrom([]plan.Process{plan.Registry, plan.Provider}))
}

func attempts() *rapid.Generator[plan.Attempt] {
	try := rapid.IntRange(1, plan.MaxTry)
	return rapid.Custom(func(t *rapid.T) plan.Attempt {
		if rapid.Bool().Draw(t, "sweep") {
			return plan.NewAttempt(numbered([]plan.Process{plan.Reconciler}).Draw(t, "actor"), 0, try.Draw(t, "try"))
		}
		actor := numbered([]plan.Process{plan.Client, plan.Reconciler}).Draw(t, "actor")
		return plan.NewAttempt(actor, rapid.IntRange(1, plan.MaxOrder).Draw(t, "order"), try.Draw(t, "try"))
	})
}

func steps() *rapid.Generator[impl.Step] {
	return rapid.Map(rapid.IntRange(1, int(impl.StepCount)-1), func(n int) impl.Step { return impl.Step(n) })
}

// sites draws any site that a world can ask at.
func sites() *rapid.Generator[plan.Site] {
	return rapid.Custom(func(t *rapid.T) plan.Site {
		what := plan.What(rapid.IntRange(int(plan.WhatMessage), int(plan.WhatClock)).Draw(t, "what"))
		who, peer := processes().Draw(t, "who"), plan.Process(0)
		switch what {
		case plan.WhatClock: // asked once, when a process starts
			return plan.NewSite(what, numbered(clocked).Draw(t, "who"), 0, 0, 0)
		case plan.WhatMessage:
			peer = processes().Draw(t, "peer")
		case plan.WhatServe:
			who = rapid.SampledFrom([]plan.Process{plan.Registry, plan.Provider}).Draw(t, "who")
		}
		site := plan.NewSite(what, who, peer, steps().Draw(t, "step"), attempts().Draw(t, "attempt"))
		return site.Nth(rapid.OneOf(rapid.Just(1), rapid.IntRange(1, plan.MaxOccurrence)).Draw(t, "occurrence"))
	})
}

// fitting lists what the vocabulary knows at a site: every class with every
// bound.
func fitting(site plan.Site) (fits []plan.Choice) {
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		for bound := plan.BoundNone; bound <= plan.BoundAfterRestart; bound++ {
			if c := (plan.Choice{Class: class, Bound: bound}); c.Fits(site) {
				fits = append(fits, c)
			}
		}
	}
	return fits
}

// deviations draws a site with a choice that fits it.
func deviations() *rapid.Generator[plan.Deviation] {
	return rapid.Custom(func(t *rapid.T) plan.Deviation {
		site := sites().Filter(func(s plan.Site) bool { return len(fitting(s)) > 0 }).Draw(t, "site")
		choice := rapid.SampledFrom(fitting(site)).Draw(t, "choice")
		switch choice.Bound {
		case plan.BoundUntil:
			choice.Step, choice.Who = steps().Draw(t, "until step"), processes().Draw(t, "until process")
		case plan.BoundBy:
			choice.By = time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "by"))
		}
		return plan.Deviation{Site: site, Choice: choice}
	})
}

// parts draws any part of a scenario.
func parts() *rapid.Generator[plan.Part] {
	return rapid.Custom(func(t *rapid.T) plan.Part {
		if rapid.Bool().Draw(t, "order") {
			return plan.Part{Order: rapid.IntRange(1, plan.MaxOrder).Draw(t, "number")}
		}
		return plan.Part{Process: numbered([]plan.Process{plan.Client, plan.Server}).Draw(t, "process")}
	})
}

// plans draws any plan.
func plans() *rapid.Generator[*plan.Plan] {
	return rapid.Custom(func(t *rapid.T) *plan.Plan {
		word := rapid.StringMatching(`[a-z][a-z0-9-]{0,20}`)
		p := &plan.Plan{
			Design: word.Draw(t, "design"), Scenario: word.Draw(t, "scenario"),
			Profile: rapid.OneOf(rapid.Just(""), word).Draw(t, "profile"),
			Weather: rapid.Uint64().Draw(t, "weather"),
			Expect:  rapid.SampledFrom([]string{"", "held", "SingleCharge"}).Draw(t, "expect"),
			Hash:    rapid.Uint64().Draw(t, "hash"),
			Deviations: rapid.SliceOfNDistinct(deviations(), 0, 12, func(d plan.Deviation) plan.Site { return d.Site }).
				Draw(t, "deviations"),
		}
		for _, a := range impl.Assumptions {
			if rapid.IntRange(0, 4).Draw(t, "break "+string(a)) == 0 {
				p.Break = append(p.Break, a)
			}
		}
		p.Absent = rapid.SliceOfNDistinct(parts(), 0, 4, rapid.ID).Draw(t, "absent")
		if len(p.Absent) == 0 {
			p.Absent = nil
		}
		if len(p.Deviations) == 0 {
			p.Deviations = nil
		}
		p.Sort()
		return p
	})
}
