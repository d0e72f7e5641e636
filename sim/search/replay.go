package search

import (
	"fmt"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Replay is one run of a plan, with everything that can be told of it.
type Replay struct {
	Verdict    Verdict
	Reason     string // one sentence for vacuous, nondeterministic, and for findings
	Result     sim.Result
	Violations []invariant.Violation // the gravest first
	Unmet      []plan.Deviation      // deviations whose site the run did not come by
	Idle       []plan.Class          // classes that the plan chose and that had no effect
	Header     history.Header
	Events     []history.Event
	Lines      []sim.Line
}

// Run runs a plan, judges it by all checkers, and runs it once more in a
// fresh world to compare the traces. What the plan leaves out of its scenario
// is left out. One that expects Refines to fall is held against the protocol
// model whatever its design claims.
func Run(s Subject, p *plan.Plan, open OpenStore) (*Replay, error) {
	if p.Expect == invariant.Refines.String() {
		s.Design.Refines = true
	}
	s.Scenario.Absent = nil
	s, err := s.without(p.Absent...)
	if err != nil {
		return nil, err
	}
	once := func() (*arena, *sim.Result, error) {
		registry, empty, shut, err := open()
		if err != nil {
			return nil, nil, err
		}
		defer shut()
		a, err := newArena(s, registry, empty)
		if err != nil {
			return nil, nil, err
		}
		defer a.world.Close()
		return a, a.replay(p.Weather, p.Deviations, how{record: true, trace: true}), nil
	}
	a, res, err := once()
	if err != nil {
		return nil, err
	}
	_, again, err := once()
	if err != nil {
		return nil, err
	}
	r := &Replay{Result: *res, Unmet: a.fixed.Unmet(), Header: a.header, Events: a.events, Lines: a.world.Lines()}
	if worst := a.worst(); worst != nil {
		r.Violations = append(r.Violations, *worst)
		for _, v := range a.violations() {
			if v.Invariant != worst.Invariant {
				r.Violations = append(r.Violations, v)
			}
		}
	}
	for class, n := range res.Chosen {
		if n > 0 && res.Effective[class] == 0 {
			r.Idle = append(r.Idle, plan.Class(class))
		}
	}
	r.judge(again.Hash, a.disagreement())
	return r, nil
}

func (r *Replay) judge(again uint64, disagreement string) {
	switch {
	case r.Result.Hash != again:
		r.Verdict, r.Reason = Nondeterministic, fmt.Sprintf("two runs of the plan gave the traces %016x and %016x", r.Result.Hash, again)
	case disagreement != "":
		r.Verdict, r.Reason = Undecided, disagree+disagreement
	case r.Result.Finding != nil:
		r.Verdict, r.Reason = Violated, r.Result.Finding.Error()
	case len(r.Violations) > 0:
		r.Verdict = Violated
	case r.Result.Limit:
		r.Verdict, r.Reason = Undecided, restless
	case len(r.Unmet) > 0:
		r.Verdict, r.Reason = Vacuous, fmt.Sprintf("the run does not come by %d of the plan's sites, the first is %q", len(r.Unmet), r.Unmet[0].Site)
	case len(r.Idle) > 0:
		r.Verdict, r.Reason = Vacuous, fmt.Sprintf("the fault %s was chosen and had no effect", r.Idle[0])
	default:
		r.Verdict = Held
	}
}
