package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// law reads a trace from its beginning to its end and says what is wrong with
// it. The laws hold of every run of every design.
type law struct {
	heal   int64
	healed bool
	until  [256]int64 // a process stands still until
	down   [256]bool
	lives  [256]uint64 // how often it has died
	back   [256]int64  // when it must be up again
	calls  map[uint64]*callTold
	timing sim.Timing
}

// callTold is what the trace tells of a call.
type callTold struct {
	who      plan.Process
	life     uint64 // which of its caller's
	sent     int64
	answered int64 // when the first answer left, -1 before that
	arrivals int
	ended    bool
}

func newLaw(cfg *sim.Config) *law {
	return &law{heal: int64(cfg.Scenario.Chaos), calls: map[uint64]*callTold{}, timing: sim.DefaultTiming}
}

// line judges the next line.
func (l *law) line(at *sim.Line) error {
	who := at.Who
	acts := at.Mark == sim.MarkDeliver || at.Mark == sim.MarkReturn || at.Mark == sim.MarkTimeout || at.Mark == sim.MarkStray
	switch {
	case acts && l.until[who] > at.At:
		return fmt.Errorf("%v happens to %v, which stands still until %d", at.Mark, who, l.until[who])
	case (acts || at.Mark == sim.MarkSend || at.Mark == sim.MarkPause) && l.down[who]:
		return fmt.Errorf("%v happens to %v, which is down", at.Mark, who)
	case l.healed && (at.Mark == sim.MarkChoice || at.Mark == sim.MarkCrash || at.Mark == sim.MarkPause):
		return fmt.Errorf("a %v after the faults are over", at.Mark)
	case at.Mark == sim.MarkLost && at.At > l.heal:
		return fmt.Errorf("a message of %v to %v is lost after the faults are over", who, at.Peer)
	}
	c := l.calls[at.Value]
	switch at.Mark {
	case sim.MarkSend:
		if c != nil {
			return fmt.Errorf("call %d is sent twice", at.Value)
		}
		l.calls[at.Value] = &callTold{who: who, life: l.lives[who], sent: at.At, answered: -1}
	case sim.MarkDeliver:
		if c.arrivals++; at.At < c.sent+int64(min(l.timing.HopLow, l.timing.Hop)) {
			return fmt.Errorf("call %d arrives after %d", at.Value, at.At-c.sent)
		}
	case sim.MarkAnswer:
		if c.arrivals == 0 {
			return fmt.Errorf("call %d is answered before it arrived", at.Value)
		}
		if c.answered < 0 {
			c.answered = at.At
		}
	case sim.MarkReturn, sim.MarkTimeout:
		if c.ended {
			return fmt.Errorf("call %d ends twice", at.Value)
		}
		if c.ended = true; c.who != who || c.life != l.lives[who] {
			return fmt.Errorf("call %d of life %d of %v ends in life %d of %v", at.Value, c.life, c.who, l.lives[who], who)
		}
		if at.Mark == sim.MarkReturn && (c.answered < 0 || at.At < c.answered+int64(min(l.timing.HopLow, l.timing.Hop))) {
			return fmt.Errorf("call %d returns at %d, and its answer left at %d", at.Value, at.At, c.answered)
		}
	case sim.MarkStray:
		if !c.ended && c.life == l.lives[who] {
			return fmt.Errorf("the answer to call %d goes astray, and %v waits for it", at.Value, who)
		}
	case sim.MarkCrash:
		if l.lives[who]++; at.Value != l.lives[who] {
			return fmt.Errorf("incarnation %d of %v dies, want %d", at.Value, who, l.lives[who])
		}
		l.down[who], l.until[who] = true, 0
		l.back[who] = min(at.At+int64(l.timing.Restart), max(l.heal, at.At))
	case sim.MarkRestart:
		if !l.down[who] || at.At != l.back[who] || at.Value != l.lives[who] {
			return fmt.Errorf("%v starts again at %d after incarnation %d, want %d after %d", who, at.At, at.Value, l.back[who], l.lives[who])
		}
		l.down[who] = false
	case sim.MarkPause:
		l.until[who] = int64(at.Value)
	case sim.MarkHeal:
		if l.healed || at.At != l.heal {
			return fmt.Errorf("it heals at %d, want %d", at.At, l.heal)
		}
		l.healed = true
	case sim.MarkEnd:
		if !l.healed {
			return fmt.Errorf("the run ends before it heals")
		}
		for p, down := range l.down {
			if down {
				return fmt.Errorf("%v is down at the end", plan.Process(p))
			}
		}
	}
	return nil
}

// TestLawsOfTheTrace holds on random runs what every run must keep: nothing
// happens to a process that is down or stands still, nobody hears what was not
// said, every call ends once and in the life that made it, who dies is back in
// time, and once the faults are over nothing is lost and all are up.
func TestLawsOfTheTrace(t *testing.T) {
	for _, cfg := range worlds(t, impl.Assumptions...) {
		s := newStage(t, cfg)
		for n := range 3 * runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			res := s.run(c, weather)
			l := newLaw(&cfg)
			last := int64(0)
			all := s.Lines()
			for i := range all {
				err := l.line(&all[i])
				if all[i].At < last {
					err = fmt.Errorf("time goes back from %d to %d", last, all[i].At)
				}
				if last = all[i].At; err != nil {
					t.Fatalf("%s: line %d: %v\n%s%v", title(&cfg), i, err, lines(all[:i+1]), res.Deviations)
				}
			}
			if end := all[len(all)-2:]; end[0].Mark != sim.MarkEnd || end[1].Mark != sim.MarkHistory {
				t.Fatalf("%s: the trace ends with\n%s", title(&cfg), lines(end))
			}
		}
	}
}

// Faults happen only during the chaos: afterwards no site is asked.
func TestNoSiteIsAskedAfterHealing(t *testing.T) {
	for _, cfg := range worlds(t, impl.Assumptions...) {
		s := newStage(t, cfg)
		for n := range runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			seen := 0
			s.run(chooserFunc(func(site plan.Site, menu []plan.Choice) plan.Choice {
				for _, l := range s.Lines()[seen:] {
					if l.Mark == sim.MarkHeal {
						t.Fatalf("%s: %q is asked after healing", title(&cfg), site)
					}
				}
				seen = len(s.Lines())
				return c.Choose(site, menu)
			}), weather)
		}
	}
}

// Whatever happens within the assumptions, a charge lands at most
// MessageLifetime after the handler asked for it, that is after the clock
// reading by which it was allowed to.
func TestWithinTheAssumptionsNoChargeOutlivesItsLifetime(t *testing.T) {

	for _, name := range []string{"reference", "journal-and-wait", "journal-and-compensate"} {
		for _, p := range design(t, name).Profiles {
			cfg := world(t, name, "retry-other-replica")
			cfg.Profile = profile(t, p)
			lifetime := int64(sim.ServiceConfig(cfg.Profile).MessageLifetime)
			var s *stage
			asked := map[asker][]int64{}
			inner := cfg.Design.Handler
			cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
				ports.Provider = &listener{ports.Provider, func() {
					now, in, of := s.Running()
					asked[asker{in, of}] = append(asked[asker{in, of}], now)
				}}
				return inner(c, ports)
			}
			s = newStage(t, cfg)
			for n := range 400 * runsPerWorld(t) {
				clear(asked)
				c, weather := swarm(&cfg, n)
				res := s.run(c, weather)
				permit := map[uint64]int64{} // by call
				for _, l := range s.Lines() {
					switch {
					case l.Step != impl.StepCharge:
					case l.Mark == sim.MarkSend:
						for _, at := range asked[asker{l.Who, l.Attempt}] {
							if at <= l.At {
								permit[l.Value] = at
							}
						}
					case l.Mark == sim.MarkDeliver && l.At-permit[l.Value] > lifetime:
						t.Fatalf("%s in run %d: the charge of %v was allowed at %v and lands at %v\n%v", title(&cfg), n,
							l.Attempt, time.Duration(permit[l.Value]), time.Duration(l.At), res.Deviations)
					}
				}
			}
		}
	}
}

// asker is who asks for a charge, and for whose attempt.
type asker struct {
	in plan.Process
	of plan.Attempt
}

// listener hears every charge that a handler asks for.
type listener struct {
	impl.Provider
	heard func()
}

func (l *listener) Charge(ctx context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	l.heard()
	return l.Provider.Charge(ctx, step, req)
}
