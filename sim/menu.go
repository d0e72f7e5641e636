package sim

import (
	"slices"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// menus are what the world offers at each site, the same in every run. A menu
// depends on the kind of the site, on its processes and on the step; 0 is the
// empty menu.
type menus struct {
	table  []uint8 // by what, step, who, peer
	lists  [][]plan.Choice
	places [256]uint8 // of a process in the table: from 1, 0 is none
	stride int
}

func (m *menus) index(what plan.What, who, peer plan.Process, step impl.Step) int {
	return ((int(what)*16+int(step))*m.stride+int(m.places[who]))*m.stride + int(m.places[peer])
}

func (m *menus) at(what plan.What, who, peer plan.Process, step impl.Step) []plan.Choice {
	return m.lists[m.table[m.index(what, who, peer, step)]]
}

// untilSteps are the steps of a server, and of the reconciler, that a message
// of somebody else can be held until: those at which it learns or changes
// something.
var (
	untilSteps      = []impl.Step{impl.StepClaim, impl.StepTakeOver, impl.StepCharge, impl.StepLookUp, impl.StepComplete}
	untilSweepSteps = []impl.Step{impl.StepLookUp, impl.StepComplete, impl.StepSettle}
)

func (m *menus) prepare(cfg *Config, procs []*process) {
	m.lists, m.stride = [][]plan.Choice{nil}, len(procs)+1
	m.table = make([]uint8, 8*16*m.stride*m.stride)
	ids := []plan.Process{0}
	for i, p := range procs {
		ids = append(ids, p.id)
		m.places[p.id] = uint8(i + 1)
	}
	for what := plan.WhatMessage; what <= plan.WhatClock; what++ {
		for _, who := range ids {
			for _, peer := range ids {
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
	m.table[m.index(s.What(), s.Who(), s.Peer(), s.Step())] = uint8(at)
}

// offer lists what the world offers at a site.
func (m *menus) offer(cfg *Config, procs []*process, s plan.Site) (menu []plan.Choice) {
	if (s.What() == plan.WhatMessage) == (s.Peer() == 0) || s.Who() == 0 {
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
	collapses := c.collapses(s.Step())
	switch class {
	case plan.ClassDuplicate:
		// The second copy of an answer is never looked at. A second copy of what
		// moves money is within the assumptions only where the provider collapses it.
		return !answer && (!toProvider || collapses)
	case plan.ClassDuplicateUnstored:
		return !collapses
	case plan.ClassSkew, plan.ClassJump, plan.ClassSkewBeyond:
		return s.Who().Kind() == plan.Server || s.Who().Kind() == plan.Reconciler
	case plan.ClassLag:
		return s.Who().Kind() == plan.Provider || c.Design.ReadsReplica
	case plan.ClassForgetKeys:
		return c.Profile.Keys
	case plan.ClassHoldBeyond:
		return toProvider && s.Step() == impl.StepCharge
	case plan.ClassCrash, plan.ClassPause:
		return s.What() != plan.WhatBefore || s.Who().Kind() != plan.Client
	}
	return true
}

// collapses reports whether the provider takes a second copy of a request for
// the first.
func (c *Config) collapses(step impl.Step) bool {
	switch step {
	case impl.StepCharge:
		return c.Profile.Keys && c.Profile.StoresDeclines
	case impl.StepRefund:
		return c.Profile.RefundsOnce || c.Profile.RefundKeys
	}
	return true
}

func isAnswer(s plan.Site) bool {
	who, peer := s.Who().Kind(), s.Peer().Kind()
	return who == plan.Registry || who == plan.Provider || peer == plan.Client
}

// until adds the choices that hold a message until a step of a process other
// than the one whose call it belongs to.
func (m *menus) until(menu []plan.Choice, procs []*process, s plan.Site, c plan.Choice) []plan.Choice {
	if s.What() != plan.WhatMessage || s.Who().Kind() == plan.Client || s.Peer().Kind() == plan.Client {
		return menu
	}
	for _, p := range procs {
		steps := untilSteps
		switch {
		case p.id == s.Who() || p.id == s.Peer():
			continue
		case p.id.Kind() == plan.Reconciler:
			steps = untilSweepSteps
		case p.id.Kind() != plan.Server:
			continue
		}
		for _, step := range steps {
			c.Until = plan.Until{Step: step, Who: p.id}
			menu = append(menu, c)
		}
	}
	return menu
}
