package behaviour

import (
	"fmt"
	"math"
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

func newStage(w *World, offers []impl.Config) (*stage, error) {
	s := &stage{
		world: w, schedule: schedule{world: w, offers: offers}, registry: memory.New(),
		claimed: map[protocol.Parameters]impl.Record{}, amounts: map[int64]protocol.Parameters{},
	}
	for i := range s.schedule.offers {
		if err := s.schedule.offers[i].Validate(); err != nil {
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
	defer s.close()
	if err := s.follow(all, e); err != nil {
		return err
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

// follow plays a script from the beginning, and leaves the runs where they are.
func (s *stage) follow(all script, e end) error {
	s.open()
	s.end = e
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

// open makes everything new.
func (s *stage) open() {
	s.config = *s.schedule.config
	s.registry.Reset()
	s.provider.Reset(provider.Profile{Profile: s.config.Provider, Window: s.config.ProviderWindow})
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
