package behaviour

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// always is after every charge.
const always = math.MaxInt64

// bodies are what is asked for, by parameters: other parameters are another
// amount.
var bodies = map[protocol.Parameters]string{
	protocol.P:                 `{"amount":1250,"currency":"EUR"}`,
	protocol.Q:                 `{"amount":1300,"currency":"EUR"}`,
	protocol.ForeignParameters: `{"amount":7,"currency":"EUR"}`,
}

func request(p protocol.Parameters) impl.Request {
	return impl.Request{Scope: impl.Scope("acme", "POST /payments"), Endpoint: "POST /payments", Key: "order-1", Body: []byte(bodies[p])}
}

// stage is where the code plays what the model says.
type stage struct {
	world    *World
	config   impl.Config
	claimed  map[protocol.Parameters]impl.Record // what a claim with the parameters writes, but for time and owner
	amounts  map[int64]protocol.Parameters       // by what they move
	registry *memory.Registry
	provider provider.Provider
	schedule schedule

	end      end
	runs     []*run
	slots    map[protocol.Slot]*run
	messages []impl.ChargeRequest
	writes   []unacknowledged
	tokens   int
	told     []protocol.Telling
	final    *impl.Reply // the first final reply that was told
}

func newStage(w *World) (*stage, error) {
	s := &stage{
		world: w, schedule: schedule{world: w, offers: w.timings()}, registry: memory.New(),
		claimed: map[protocol.Parameters]impl.Record{}, amounts: map[int64]protocol.Parameters{},
	}
	for _, t := range s.schedule.offers {
		cfg := w.deployment(t)
		if err := cfg.Validate(); err != nil {
			return nil, err
		}
	}
	for p := range bodies {
		rec, err := impl.Parse(request(p))
		if err != nil {
			return nil, err
		}
		amount, err := impl.ParseAmount(rec.Request)
		if err != nil {
			return nil, err
		}
		s.claimed[p], s.amounts[amount.Minor] = rec, p
	}
	return s, nil
}

// epoch is when scripts begin, or some hours before.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// instant returns a point in time of the schedule.
func (s *stage) instant(i int) time.Time { return epoch.Add(s.schedule.at[i]) }

// Divergence is an error: the code does not go where the model goes.
type Divergence struct {
	Script string // the actions, the last is where they part
	What   string
}

func (d *Divergence) Error() string {
	return fmt.Sprintf("behaviour: the code does not follow the model: %s\n%s", d.What, d.Script)
}

// play plays a script at the instants that the schedule has found. It returns
// a *Divergence where the code leaves it.
func (s *stage) play(all script, e end) error {
	s.open()
	s.end = e
	defer s.close()
	for i := range all {
		m := &s.schedule.steps[i]
		err := s.step(&all[i], m)
		if err == nil {
			err = s.agrees(&all[i].to, &m.rec)
		}
		if err != nil {
			return &Divergence{all[:i+1].String(), err.Error()}
		}
	}
	last := &all[len(all)-1].to
	err := s.refusesStrays(last)
	if err == nil {
		err = s.asksOn(last)
	}
	if err != nil {
		return &Divergence{all.String(), err.Error()}
	}
	return nil
}

// refusesStrays holds that no write is applied any more that the model has
// given up, since the version that it must find does not return.
func (s *stage) refusesStrays(to *protocol.State) error {
	rec := to.Record()
	if !rec.Exists() {
		return nil
	}
	for _, w := range s.writes {
		if w.apply != nil && w.version != uint64(rec.Version) {
			_ = w.apply() // that it is refused shows in the record
		}
	}
	return s.agreesOnRecord(rec, &s.schedule.moment().rec)
}

// afterClock is what a run asks for next that has read the clock at a place,
// if all is over by then: to read a clock says little.
var afterClock = map[protocol.Place]call{
	protocol.AtLookUp: lookUp, protocol.AtCharge: returned, protocol.AtComplete: update(impl.StepComplete),
	protocol.AtSettle: update(impl.StepSettle), protocol.AtReply: expired,
}

// asksOn holds that every run that is about to read its clock does so for what
// the model says.
func (s *stage) asksOn(to *protocol.State) error {
	for slot := protocol.Slot(1); slot <= s.world.reconciler(); slot++ {
		r, runs := s.slots[slot]
		if !runs || r.asks != readClock {
			continue
		}
		me := to.Run(slot)
		want := afterClock[me.At]
		if want == returned && !s.world.handles(slot) {
			want = readClock
		}
		r.at = epoch.Add(2 * far)
		if r.goOn(); r.asks != want {
			return fmt.Errorf("run %d is at %v, where after its clock it asks for %v; it asks for %v", slot, me.At, want, r.asks)
		}
	}
	return nil
}

// open makes everything new.
func (s *stage) open() {
	s.config = s.world.deployment(s.schedule.timing)
	s.registry.Reset()
	s.provider.Reset(s.world.profile(s.schedule.timing))
	s.runs, s.slots = s.runs[:0], map[protocol.Slot]*run{}
	s.messages, s.writes, s.told, s.final, s.tokens = s.messages[:0], s.writes[:0], s.told[:0], nil, 0
	if s.world.Model.Foreign {
		s.land(s.sends(protocol.ForeignParameters), s.schedule.landed[0], protocol.LandApproved)
	}
}

// close ends the runs that are not over.
func (s *stage) close() {
	for _, r := range s.runs {
		r.stop()
	}
}

// unacknowledged is a write that may be applied later.
type unacknowledged struct {
	version uint64       // that it must find, 0 for a claim
	apply   func() error // nil once it was
}

// sends is the charge request of an operation with the parameters.
func (s *stage) sends(p protocol.Parameters) impl.ChargeRequest {
	rec := s.claimed[p]
	req := impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request}
	if s.config.Provider.Keys {
		req.Key = rec.ProviderKey
	}
	return req
}

// land lets a charge request reach the provider.
func (s *stage) land(req impl.ChargeRequest, at int, verdict protocol.Kind) answer {
	l := s.provider.Charge(provider.Arrival{
		At: s.instant(at).UnixNano(), Request: req, Decline: verdict == protocol.LandDeclined,
	})
	switch l.Kind {
	case provider.Captured, provider.Absorbed:
		return answer{ChargeResult: impl.ChargeResult{Approved: true, ChargeID: l.ChargeID}}
	case provider.Refused:
		return answer{ChargeResult: impl.ChargeResult{Code: l.Code}}
	default:
		return answer{err: &impl.ProviderError{Status: l.Status}}
	}
}

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
