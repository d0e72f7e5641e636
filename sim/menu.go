package sim

import (
	"slices"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// menus are what the world offers at each kind of site, the same in every
// run. The table is by kind of site, kinds of process, and step; 0 is the
// empty menu.
type menus struct {
	table [8 * 8 * 8 * 16]uint8
	lists [][]plan.Choice
}

func menuIndex(s plan.Site) int {
	return ((int(s.What())*8+int(s.Who()>>4))*8+int(s.Peer()>>4))*16 + int(s.Step())
}

func (m *menus) at(s plan.Site) []plan.Choice { return m.lists[m.table[menuIndex(s)]] }

// untilSteps are the steps that a message can be held until: those at which
// somebody else learns or changes something.
var untilSteps = []impl.Step{impl.StepClaim, impl.StepReadBack, impl.StepTakeOver, impl.StepCharge, impl.StepLookUp, impl.StepComplete, impl.StepSettle}

func (m *menus) prepare(cfg *Config, procs []*process) {
	m.lists = [][]plan.Choice{nil}
	kinds := []plan.Process{0, plan.Client | 1, plan.Server | 1, plan.Reconciler | 1, plan.Registry, plan.Provider}
	for what := plan.WhatMessage; what <= plan.WhatClock; what++ {
		for _, who := range kinds {
			for _, peer := range kinds {
				for step := range impl.StepCount {
					s := plan.NewSite(what, who, peer, step, 0)
					m.put(s, m.offer(cfg, procs, s))
				}
			}
		}
	}
}

// put notes the menu of a kind of site; equal menus are kept once.
func (m *menus) put(s plan.Site, menu []plan.Choice) {
	at := slices.IndexFunc(m.lists, func(l []plan.Choice) bool { return slices.Equal(l, menu) })
	if at < 0 {
		at = len(m.lists)
		m.lists = append(m.lists, menu)
	}
	m.table[menuIndex(s)] = uint8(at)
}

// offer lists what the world offers at a site.
func (m *menus) offer(cfg *Config, procs []*process, s plan.Site) (menu []plan.Choice) {
	if s.What() == plan.WhatMessage && s.Peer() == 0 {
		return nil
	}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		if !cfg.Classes[class] || !cfg.meaning(class, s) {
			continue
		}
		bounds := class.Bounds()
		if len(bounds) == 0 {
			bounds = []plan.Bound{plan.BoundNone}
		}
		for _, b := range bounds {
			c := plan.Choice{Class: class, Bound: b}
			switch {
			case b == plan.BoundUntil:
				menu = m.until(menu, procs, s, c)
			case c.Fits(s):
				menu = append(menu, c)
			}
		}
	}
	return menu
}

// meaning reports whether a class means something at a site of this world
// that no other class means.
func (c *Config) meaning(class plan.Class, s plan.Site) bool {
	answer := isAnswer(s)
	toProvider := s.What() == plan.WhatMessage && s.Peer().Kind() == plan.Provider
	collapses := c.Profile.Keys && c.Profile.StoresDeclines
	switch class {
	case plan.ClassDuplicate:
		// The second copy of an answer is never looked at. A second copy of a
		// charge is within the assumptions only where the provider collapses it.
		return !answer && (!toProvider || s.Step() != impl.StepCharge || collapses)
	case plan.ClassDuplicateUnstored:
		return !collapses
	case plan.ClassSkew, plan.ClassJump, plan.ClassSkewBeyond:
		return s.Who().Kind() == plan.Server || s.Who().Kind() == plan.Reconciler
	case plan.ClassForgetKeys:
		return c.Profile.Keys
	case plan.ClassHoldBeyond:
		return toProvider && s.Step() == impl.StepCharge
	case plan.ClassCrash, plan.ClassPause:
		return s.What() != plan.WhatBefore || s.Who().Kind() != plan.Client
	}
	return true
}

func isAnswer(s plan.Site) bool {
	who, peer := s.Who().Kind(), s.Peer().Kind()
	return who == plan.Registry || who == plan.Provider || peer == plan.Client
}

// until adds the choices that hold a message until a step of a process.
func (m *menus) until(menu []plan.Choice, procs []*process, s plan.Site, c plan.Choice) []plan.Choice {
	if s.Who().Kind() == plan.Client || s.Peer().Kind() == plan.Client {
		return menu
	}
	for _, p := range procs {
		if k := p.id.Kind(); k != plan.Server && k != plan.Reconciler {
			continue
		}
		for _, step := range untilSteps {
			c.Step, c.Who = step, p.id
			menu = append(menu, c)
		}
	}
	return menu
}
