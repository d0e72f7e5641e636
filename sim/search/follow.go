package search

import (
	"fmt"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Followed is a run in the words of the protocol model.
type Followed struct {
	Plan   *plan.Plan // of FollowAll
	Result sim.Result
	Unmet  []plan.Deviation // deviations whose site the run did not come by
	Model  protocol.Config  // that the run was followed in
	Steps  *history.Steps
	// Taken are the actions of the model, of all operations, as they happened.
	Taken      []refine.Taken
	Divergence *refine.Divergence // the first step that is none of the model's, and the last that was followed; nil if there is none
	Unjudged   int                // operations that outgrew the model, so that the rest of them is not in Taken
}

// Follow makes the run of a plan and follows it in the protocol model, whether
// or not its design claims to follow the protocol. It returns an error for a
// plan that breaks an assumption: the model has none that does not hold.
func Follow(s Subject, p *plan.Plan, open OpenStore) (*Followed, error) {
	s.Scenario.Absent = nil
	s, err := s.without(p.Absent...)
	if err != nil {
		return nil, err
	}
	registry, empty, shut, err := open()
	if err != nil {
		return nil, err
	}
	defer shut()
	w, err := newFollower(s, registry, empty)
	if err != nil {
		return nil, err
	}
	defer w.arena.world.Close()
	res := w.arena.replay(p.Weather, p.Deviations, how{})
	w.told.Unmet = w.arena.fixed.Unmet()
	return w.end(res), nil
}

// FollowAll makes the runs of a campaign one after the other and follows each
// in the protocol model, until visit returns false. The run that visit is told of
// is only valid until it returns.
func FollowAll(opt Options, visit func(run int, f *Followed) bool) error {
	registry, empty, shut, err := opt.Open()
	if err != nil {
		return err
	}
	defer shut()
	if opt.Strategy.New == nil {
		opt.Strategy = Strategies[0]
	}
	crew := make([]*follower, len(opt.Subjects))
	sources := make([]Source, len(opt.Subjects))
	for i, s := range opt.Subjects {
		if crew[i], err = newFollower(s, registry, empty); err != nil {
			return err
		}
		defer crew[i].arena.world.Close()
		sources[i] = opt.Strategy.New()
	}
	for run := range opt.Runs {
		at := run % len(crew)
		res, weather := crew[at].arena.draw(sources[at], opt.Seed, uint64(run), how{})
		f := crew[at].end(res)
		f.Plan = opt.Subjects[at].Plan(weather, res.Deviations)
		if !visit(run, f) {
			break
		}
	}
	return nil
}

// follower is an arena in which runs are followed.
type follower struct {
	arena *arena
	told  Followed
}

func newFollower(s Subject, registry impl.Registry, empty func() error) (*follower, error) {
	if len(s.Break) > 0 {
		return nil, fmt.Errorf("the plan breaks %v, and the protocol model keeps every assumption", s.Break)
	}
	s.Design.Refines = true
	a, err := newArena(s, registry, empty)
	if err != nil {
		return nil, err
	}
	w := &follower{arena: a, told: Followed{Model: a.model.Model(), Steps: &a.steps}}
	a.model.Tell(func(t refine.Taken) { w.told.Taken = append(w.told.Taken, t) })
	return w, nil
}

// end takes what was told of the last run.
func (w *follower) end(res *sim.Result) *Followed {
	f := w.told
	f.Result, f.Divergence, f.Unjudged = *res, w.arena.divergence, w.arena.unjudged
	w.told.Taken = w.told.Taken[:0]
	return &f
}

// Behaviours are the actions by operation, in the order of the operations of
// Steps.
func (f *Followed) Behaviours() [][]protocol.Action {
	all := make([][]protocol.Action, len(f.Steps.Operations))
	for _, t := range f.Taken {
		all[t.Operation] = append(all[t.Operation], t.Action)
	}
	return all
}
