package behaviour

import (
	"fmt"
	"maps"
	"slices"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// Readings is what came of all that clocks may say.
type Readings struct {
	States int // that the code was led to
	Asked  int // what a clock might say there to a run that goes by it
	Given  int // what it can say within the assumptions
}

// String returns the numbers, one a line.
func (r Readings) String() string {
	return fmt.Sprintf("%d states\n%6d readings\n%6d given\n", r.States, r.Asked, r.Given)
}

// Read leads the code to every state of the world. There it gives each run that
// goes by its clock whatever that clock may say, and holds that the model has a
// step for what the run does then, perhaps after facts have come true and
// messages are lost. So the code does nothing beyond the model either, as far
// as clocks have a say. It returns the errors of [Tour].
func Read(w World) (Readings, error) {
	var report Readings
	if err := w.Validate(); err != nil {
		return report, err
	}
	t, err := newTour(&w, w.deployments())
	if err != nil {
		return report, err
	}
	if err := t.visitAll(); err != nil {
		return report, err
	}
	report.States = len(t.nodes)
	for i := range t.nodes {
		for _, q := range t.questions(&t.nodes[i].state) {
			given, err := t.ask(i, q)
			if err != nil {
				return report, err
			}
			if report.Asked++; given {
				report.Given++
			}
		}
	}
	return report, nil
}

// question is an action in which a run goes by its clock, and what that says.
type question struct {
	protocol.Action
	saying
}

// questions are all that come up in a state.
func (t *tour) questions(s *protocol.State) (all []question) {
	ask := func(a protocol.Action, bounds ...bound) {
		for is := range 1 << len(bounds) {
			q := question{Action: a}
			for i, b := range bounds {
				if is>>i&1 == 1 {
					q.behind = append(q.behind, b)
				} else {
					q.ahead = append(q.ahead, b)
				}
			}
			all = append(all, q)
		}
	}
	rec := s.Record()
	owned := rec.State == protocol.Claimed || rec.State == protocol.Sent
	for h := protocol.Slot(1); h <= t.world.reconciler(); h++ {
		switch me := s.Run(h); {
		case me.At == protocol.AtLookUp:
			ask(protocol.Action{Kind: protocol.LookUp, Slot: h}, death, roomEnd, horizonEnd)
			if len(s.Ledger()) > 0 && t.world.Model.Lookups {
				ask(protocol.Action{Kind: protocol.LookUpLags, Slot: h}, death, roomEnd, horizonEnd)
			}
		case me.At == protocol.AtCharge:
			ask(protocol.Action{Kind: protocol.SendCharge, Slot: h}, sendEnd, guardEnd)
		case me.At == protocol.AtWait && owned:
			ask(protocol.Action{Kind: protocol.Wait, Slot: h}, leaseEnd)
		case me.At == protocol.AtReadBack && me.Step == protocol.StepClaim && owned && rec.Owner != h:
			ask(protocol.Action{Kind: protocol.ReadBack, Slot: h}, leaseEnd)
		case me.At == protocol.AtIdle && owned && s.Asking() && t.world.handles(h):
			ask(protocol.Action{Kind: protocol.Claim, Slot: h, Parameters: rec.Parameters}, leaseEnd)
		}
	}
	return all
}

// ask puts a question to the code in a state, if there are instants for it.
func (t *tour) ask(at int, q question) (given bool, err error) {
	from := &t.nodes[at]
	all := t.script(node{from.state, at, q.Action, from.steps + 1})
	all[from.steps].given = &q.saying
	if _, ok := t.stage.schedule.find(all); !ok {
		return false, nil
	}
	for _, e := range []end{latest, earliest} {
		t.stage.schedule.solve(e)
		me, err := t.stage.improvise(all, e)
		if err != nil {
			return true, err
		}
		if !t.permits(from.state, q.Action, me) {
			return true, &Divergence{all.String(), fmt.Sprintf("the run goes on to %v, and the model does not", me)}
		}
	}
	return true, nil
}

// improvise plays a script but for what comes of its last step, and returns
// where the run has gone in that.
func (s *stage) improvise(all script, e end) (protocol.Run, error) {
	defer s.close()
	last := len(all) - 1
	if err := s.follow(all[:last], e); err != nil {
		return protocol.Run{}, err
	}
	if err := s.step(&all[last], &s.schedule.steps[last]); err != nil {
		return protocol.Run{}, &Divergence{all.String(), err.Error()}
	}
	slot := all[last].slot
	r := s.slots[slot]
	if r.asks == returned {
		return protocol.Run{At: protocol.AtReply, Answer: s.answered(r)}, nil
	}
	for place, asks := range atPlace {
		if asks == r.asks && asks != readClock {
			return protocol.Run{At: protocol.Place(place)}, nil
		}
	}
	r.at = epoch.Add(2 * far)
	r.goOn()
	for _, place := range slices.Sorted(maps.Keys(afterClock)) {
		if afterClock[place] == r.asks {
			return protocol.Run{At: place}, nil
		}
	}
	return protocol.Run{}, &Divergence{all.String(), fmt.Sprintf("the run asks for %v", r.asks)}
}

// alike are the actions that differ only in what a clock says.
var alike = map[protocol.Kind][]protocol.Kind{
	protocol.LookUp:     {protocol.LookUp, protocol.LookUpBehind},
	protocol.LookUpLags: {protocol.LookUpLags, protocol.LookUpBehind},
	protocol.SendCharge: {protocol.SendCharge, protocol.ChargeBehind},
	protocol.Wait:       {protocol.Wait, protocol.WaitBehind},
	protocol.ReadBack:   {protocol.ReadBack, protocol.ReadBackBehind},
	protocol.Claim:      {protocol.Claim, protocol.ClaimBehind},
}

// permits reports whether an action of the model, or one that is like it, leads
// the run to where the code went. Time may go on before, and messages be lost.
func (t *tour) permits(from protocol.State, a protocol.Action, went protocol.Run) bool {
	model := t.world.Model
	model.Unbounded = true // what the code does costs no budget
	states := []protocol.State{from}
	for i := 0; i < len(states); i++ {
		s := states[i]
		for _, kind := range alike[a.Kind] {
			b := a
			if b.Kind = kind; kind == protocol.LookUp || kind == protocol.LookUpLags || kind == protocol.LookUpBehind {
				b.To = went.At
			}
			if to, ok := protocol.Take(&model, s, b); ok {
				me := to.Run(a.Slot)
				if me.At == went.At && (went.At != protocol.AtReply || !t.world.handles(a.Slot) || me.Answer == went.Answer) {
					return true
				}
			}
		}
		for fact := range facts {
			states = appendNew(states, &model, s, protocol.Action{Kind: fact})
		}
		for _, m := range s.Messages() {
			states = appendNew(states, &model, s, protocol.Action{Kind: protocol.Lose, Message: m})
		}
	}
	return false
}

// appendNew appends the state that an action leads to, if it is not there yet.
func appendNew(states []protocol.State, model *protocol.Config, from protocol.State, a protocol.Action) []protocol.State {
	if to, ok := protocol.Take(model, from, a); ok && !slices.Contains(states, to) {
		return append(states, to)
	}
	return states
}
