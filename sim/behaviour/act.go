package behaviour

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// calls are what a run asks for in an action, one after the other.
var calls = [protocol.KindCount][]call{
	protocol.Claim:           {readClock, claim},
	protocol.ClaimBehind:     {readClock, claim},
	protocol.ClaimUnanswered: {readClock, claim},
	protocol.Wait:            {doze, readBack},
	protocol.WaitBehind:      {doze, readBack},
	protocol.ReadBack:        {readBack},
	protocol.ReadBackBehind:  {readBack},
	protocol.TakeOver:        {update(impl.StepTakeOver)},
	protocol.MarkSent:        {update(impl.StepMarkSent)},
	protocol.SendCharge:      {readClock},
	protocol.ChargeBehind:    {readClock},
	protocol.TimeOut:         {send},
	protocol.TimeOutEarly:    {send},
	protocol.LookUp:          {readClock, lookUp},
	protocol.LookUpLags:      {readClock, lookUp},
	protocol.LookUpBehind:    {readClock, lookUp},
	protocol.Complete:        {readClock, update(impl.StepComplete)},
	protocol.Settle:          {readClock, update(impl.StepSettle)},
	protocol.Review:          {update(impl.StepReview)},
	protocol.Sweep:           {readClock, unfinished},
}

// atPlace is what a run asks for next where the model says that it is.
var atPlace = [protocol.AtInsert + 1]call{
	protocol.AtWait:     doze,
	protocol.AtReadBack: readBack,
	protocol.AtLookUp:   readClock,
	protocol.AtTakeOver: update(impl.StepTakeOver),
	protocol.AtMarkSent: update(impl.StepMarkSent),
	protocol.AtCharge:   readClock,
	protocol.AtSent:     send,
	protocol.AtComplete: readClock,
	protocol.AtSettle:   readClock,
	protocol.AtReview:   update(impl.StepReview),
	protocol.AtReply:    returned,
}

// updates are what a run writes at a place.
var updates = map[protocol.Place]protocol.Kind{
	protocol.AtTakeOver: protocol.TakeOver, protocol.AtMarkSent: protocol.MarkSent, protocol.AtComplete: protocol.Complete,
	protocol.AtSettle: protocol.Settle, protocol.AtReview: protocol.Review,
}

// silence is how it looks if the provider does not answer: the message was
// lost, or somebody on the way says nothing of the money.
var silence = []error{impl.ErrUnknown, impl.ErrNotSent, &impl.ProviderError{Status: 503}}

// step lets one action of the model happen to the code.
func (s *stage) step(a *step, m *moment) error {
	switch a.Kind {
	case protocol.Claim, protocol.ClaimUnanswered, protocol.ClaimBehind:
		s.begin(a.slot, func(service *impl.Service) (impl.Reply, error) {
			return service.Handle(context.Background(), request(a.Parameters))
		})
	case protocol.Sweep:
		s.begin(a.slot, reconcile)
	case protocol.LandApproved, protocol.LandDeclined:
		s.arrives(a, m)
	case protocol.Duplicate:
		s.messages = append(s.messages, s.messages[a.item])
	case protocol.LandLate:
		w := s.writes[a.item]
		s.writes[a.item].apply = nil
		return w.apply()
	case protocol.Collect:
		return s.collect(m)
	}
	if r, acts := s.slots[a.slot]; acts {
		return s.act(a, r, m.readings)
	}
	return nil
}

// failing are the calls of a run that would only have read. If they fail it
// ends without effect, as if it crashed.
var failing = map[protocol.Place][]call{
	protocol.AtWait: {doze}, protocol.AtReadBack: {readBack}, protocol.AtLookUp: {readClock, lookUp},
}

// act lets a run take one action. Where the model sees no difference between
// two ways in which something fails, it is one at the latest instants and the
// other at the earliest.
func (s *stage) act(a *step, r *run, readings []int) error {
	expected := calls[a.Kind]
	r.fault, r.answer.err = noFault, impl.ErrUnknown
	switch a.Kind {
	case protocol.ClaimUnanswered, protocol.UpdateUnanswered:
		if r.fault = unanswered; !a.applied && s.end == earliest {
			r.fault = refused
		}
		if a.Kind == protocol.UpdateUnanswered {
			expected = calls[updates[a.before().At]]
		}
	case protocol.LookUpLags, protocol.LookUpBehind:
		r.fault = hidden
	case protocol.TimeOut:
		r.answer.err = silence[len(s.runs)%len(silence)]
	case protocol.Crash:
		return s.crash(a, r)
	case protocol.Reply:
		delete(s.slots, a.slot)
		if s.world.handles(a.slot) {
			return s.tell(a, r)
		}
		expected = []call{readClock, expired, returned}
	}
	if err := s.lets(r, readings, expected...); err != nil {
		return err
	}
	if want := s.sends(a.from.Record().Parameters); r.asks == send && !same(s.messages[len(s.messages)-1], want) {
		return fmt.Errorf("the run sends %q, want %q", s.messages[len(s.messages)-1], want)
	}
	return nil
}

// crash is that the run's process dies, or that all that it would have read
// fails.
func (s *stage) crash(a *step, r *run) error {
	delete(s.slots, a.slot)
	defer r.stop()
	reads := failing[a.before().At]
	if reads == nil || s.end == latest {
		return nil
	}
	r.fault = fails
	r.at = s.instant(s.schedule.steps[0].at)
	for _, c := range reads {
		if r.asks != c {
			return fmt.Errorf("want %v, the run asks for %v", c, r.asks)
		}
		r.goOn()
	}
	switch told := s.answered(r); {
	case !s.world.handles(a.slot) && r.asks != readClock:
		return fmt.Errorf("a read has failed, and the run asks for %v", r.asks)
	case s.world.handles(a.slot) && (r.asks != returned || told.Says != protocol.InProgress):
		return fmt.Errorf("a read has failed, and the run asks for %v and tells %v", r.asks, told)
	}
	return nil
}

func same(a, b impl.ChargeRequest) bool {
	return a.Key == b.Key && a.Ref == b.Ref && bytes.Equal(a.Body, b.Body)
}

func reconcile(service *impl.Service) (impl.Reply, error) {
	return impl.Reply{}, service.Reconcile(context.Background())
}

func (s *stage) begin(slot protocol.Slot, body func(*impl.Service) (impl.Reply, error)) *run {
	r := s.start(body)
	s.runs = append(s.runs, r)
	s.slots[slot] = r
	return r
}

// lets a run have the answers to its calls, which must be these, and after
// them the readings of its clock that are left.
func (s *stage) lets(r *run, readings []int, expected ...call) error {
	for i := 0; i < len(expected) || len(readings) > 0; i++ {
		want := readClock
		if i < len(expected) {
			want = expected[i]
		}
		if r.asks != want {
			return fmt.Errorf("want %v, the run asks for %v", want, r.asks)
		}
		if want == readClock {
			r.at, readings = s.instant(readings[0]), readings[1:]
		}
		if want != returned {
			r.goOn()
		} else if r.err != nil {
			return fmt.Errorf("the run returns %v", r.err)
		}
	}
	return nil
}

// arrives is that a message reaches the provider; its sender hears of it if
// the model says that it still waits.
func (s *stage) arrives(a *step, m *moment) {
	heard := s.land(s.messages[a.item], m.at, a.Kind)
	by := a.Message.By
	if by == protocol.Gone || a.from.Run(by) == a.to.Run(by) {
		return
	}
	r := s.slots[by]
	r.answer = heard
	r.goOn()
}

// collect lets a collector sweep until the record is forgotten.
func (s *stage) collect(m *moment) error {
	for i, drops := range [][]call{{update(impl.StepCollect)}, {}, {bury}} {
		r := s.begin(protocol.Gone, reconcile)
		delete(s.slots, protocol.Gone)
		expected := append([]call{readClock, unfinished, readClock, expired}, drops...)
		if err := s.lets(r, m.readings[2*i:2*i+2], append(expected, returned)...); err != nil {
			return err
		}
	}
	return nil
}

// tell takes the reply of a run that has returned.
func (s *stage) tell(a *step, r *run) error {
	told, me := s.answered(r), a.before()
	if told != me.Answer {
		return fmt.Errorf("the run tells %v, want %v", told, me.Answer)
	}
	if !told.Final() {
		return nil
	}
	if replays := me.Step == protocol.StepReplay; r.reply.Replayed != replays {
		return fmt.Errorf("the reply is marked as replayed: %v, want %v", r.reply.Replayed, replays)
	}
	if s.final == nil {
		s.final = &r.reply
	} else if !s.final.Equal(&r.reply) {
		return fmt.Errorf("the reply is %q, and it was %q", r.reply.Body, s.final.Body)
	}
	if t := (protocol.Telling{Parameters: a.before().Parameters, Reply: told}); !slices.Contains(s.told, t) {
		s.told = append(s.told, t)
	}
	return nil
}
