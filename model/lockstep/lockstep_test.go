package lockstep

import (
	"context"
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// world is one in which other parameters come too, declines are stored and
// charges are shown.
func world() protocol.Config {
	return protocol.Config{
		Handlers: 2, Attempts: 2, Others: 1, Faults: 2,
		Keys: true, StoresDeclines: true, Declines: true, Lookups: true, Ages: true, GivesUp: true, Collects: true,
	}
}

// search returns why something was refused first, in the fewest steps, and
// whether anything was.
func search(t *testing.T, c *protocol.Config) (model.Reason, explore.Verdict) {
	t.Helper()
	r, err := explore.Explore(context.Background(), explore.Model[State]{
		Initial: func() []State { return []State{Initial(c)} },
		Next: func(steps []explore.Step[State], s State) []explore.Step[State] {
			Next(c, s, func(a protocol.Action, to State) {
				steps = append(steps, explore.Step[State]{Action: explore.Action(a.Code()), Next: to})
			})
			return steps
		},
		Properties: []explore.Property[State]{explore.Always("allowed", func(s State) bool { return s.Refused() == model.Allowed })},
	}, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != explore.Violated {
		return model.Allowed, r.Verdict
	}
	return r.Trace.States[len(r.Trace.States)-1].State.Refused(), r.Verdict
}

func TestTheProtocolRefinesTheSpecification(t *testing.T) {
	c := world()
	if why, verdict := search(t, &c); verdict != explore.Held {
		t.Errorf("%v: %v", verdict, why)
	}
}

// What is wrong to a client's eyes is refused, for the reason that it is wrong
// for. What only the records show is not.
func TestDefects(t *testing.T) {
	for _, tt := range []struct {
		defect protocol.Defect
		change func(*protocol.Config)
		whys   []model.Reason // any of those that come equally soon
	}{
		{protocol.UnknownMeansFailed, nil, []model.Reason{model.NotChargedWithCharge, model.LateCharge}},
		{protocol.OwnReply, func(c *protocol.Config) { c.StoresDeclines = false }, []model.Reason{model.NotChargedWithCharge, model.LateCharge}},
		{protocol.BreakA1, nil, []model.Reason{model.SecondCharge}},
		{protocol.NoFingerprint, nil, []model.Reason{model.OtherParameters}},
		{protocol.CheckThenInsert, nil, []model.Reason{model.ChargedOtherParameters, model.NoMismatch, model.OtherParameters}},
		{protocol.AcceptForeign, func(c *protocol.Config) { c.Foreign = true }, []model.Reason{model.PaidWithoutCharge}},
		{protocol.CollectUnfinished, nil, []model.Reason{model.Allowed}},
	} {
		t.Run(tt.defect.String(), func(t *testing.T) {
			c := world()
			c.Defects = c.Defects.With(tt.defect)
			if tt.change != nil {
				tt.change(&c)
			}
			if why, verdict := search(t, &c); !slices.Contains(tt.whys, why) {
				t.Errorf("%v: %v; want one of %v", verdict, why, tt.whys)
			}
		})
	}
}

// TestNothingFollowsARefusal: what is impossible promises nothing.
func TestNothingFollowsARefusal(t *testing.T) {
	c := world()
	s := Initial(&c)
	s.refused = model.SecondCharge
	Next(&c, s, func(a protocol.Action, to State) { t.Errorf("%v leads to %v", a, to) })
}

// TestNothingIsLost keeps every state that the specification can be in here.
func TestNothingIsLost(t *testing.T) {
	for _, bound := range []protocol.Parameters{protocol.NoParameters, protocol.P, protocol.Q} {
		for final := range uint8(len(names) + 1) {
			for charge := range uint8(len(names)) {
				was := State{bound: bound, final: final, charge: charge}
				now := was
				now.pack(was.unpack())
				if now != was {
					t.Errorf("%+v comes back as %+v", was, now)
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("two net charges are kept as one, and nobody says so")
		}
	}()
	var s State
	full := s.unpack()
	full.Order.Net[0], full.Order.Net[1] = name(1), name(2)
	s.pack(full)
}
