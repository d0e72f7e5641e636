package behaviour

import (
	"math/bits"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// times are the instants that a record holds.
type times struct {
	state   protocol.RecordState
	claimed int // read at the claim, or none
	leased  int // read at the claim or the take-over
	ended   int // read when it was finished
}

// unclaimed is what no record holds.
var unclaimed = times{claimed: none, leased: none, ended: none}

// schedule is when each step of a script happens, and what clocks say then.
//
// A fact of the model comes true when the first clock says so, and a run that
// reads its own must be told what leads it to where the model goes. All clocks
// go at most the skew apart, a message lands within its life, and so on: each
// is a requirement on the distance of two instants. So there is a schedule or
// there is none.
type schedule struct {
	instants
	world  *World
	offers []impl.Config // the deployments that are tried
	config *impl.Config  // the one that is
	choice int           // which of several sayings is taken, a bit for each question
	asked  int           // how many such questions there were

	nowhere reasons // why no clock leads where the model goes, whatever the instants

	steps     []moment
	runs      []runTimes
	now       int     // when the step happens that is looked at
	rec       times   // what the registry holds then
	sent      []int   // of each message
	kept      []times // what each unanswered write would leave
	landed    []int   // of each charge, the foreign one included
	refuse    int     // when the first decline was stored
	attempted int     // when the first attempt came
}

// moment is one step in time.
type moment struct {
	at       int   // when it happens
	readings []int // what the run's clock says, in the order of its questions
	rec      times // what the record holds afterwards
}

type runTimes struct {
	rec   times // the record as the run knows it
	last  int   // its last reading
	began int   // when it resolved, by its clock
	slept int   // since when it waits
}

// find finds instants for a script. If no deployment and no choice of sayings
// has any, it returns the reasons of the smallest contradiction that it met.
func (c *schedule) find(all script) (contradiction reasons, ok bool) {
	contradiction = ^reasons(0)
	for i := range c.offers {
		c.config = &c.offers[i]
		for c.choice, c.asked = 0, 0; c.choice == 0 || c.choice < 1<<c.asked; c.choice++ {
			if c.require(all); c.nowhere != 0 {
				return c.nowhere, false
			}
			why, ok := c.solve(latest)
			if ok {
				return 0, true
			}
			if why &^= closeClocks; bits.OnesCount32(uint32(why)) < bits.OnesCount32(uint32(contradiction)) {
				contradiction = why
			}
		}
	}
	return contradiction, false
}

// require writes down what a script asks of time.
func (c *schedule) require(all script) {
	c.reset()
	c.steps, c.runs, c.sent, c.kept, c.landed = c.steps[:0], c.runs[:0], c.sent[:0], c.kept[:0], c.landed[:0]
	c.now, c.rec, c.refuse, c.attempted, c.asked, c.nowhere = none, unclaimed, none, none, 0, 0
	if c.world.Model.Foreign {
		c.tick()
		c.landed = append(c.landed, c.now)
	}
	for i := range all {
		c.steps = append(c.steps, moment{})
		if c.tick(); i == 0 {
			c.instants.first = c.now
		}
		c.moment().at = c.now
		c.step(&all[i])
		c.moment().rec = c.rec
	}
}

func (c *schedule) moment() *moment { return &c.steps[len(c.steps)-1] }

// tick lets time pass: what follows happens later.
func (c *schedule) tick() {
	was := c.now
	c.now = c.add()
	if was != none {
		c.atLeast(c.now, was, 0, closeClocks)
	}
}

// someone's clock is read. It says that bounds of a record are behind or
// ahead.
func (c *schedule) someone(rec times, says saying) int {
	r := c.add()
	c.atLeast(r, c.now, 0, closeClocks)
	c.atMost(r, c.now, c.config.MaxClockSkew, closeClocks)
	for _, b := range says.behind {
		if of, d := c.bound(b, rec); c.known(of) {
			c.atLeast(r, of, d+1, b.behind())
		}
	}
	for _, b := range says.ahead {
		if of, d := c.bound(b, rec); c.known(of) {
			c.atMost(r, of, d, b.ahead())
		}
	}
	return r
}

// known reports whether the record holds the instant of a bound. If it does
// not, no clock can be compared with it.
func (c *schedule) known(of int) bool {
	if of == none {
		c.nowhere = otherFacts
	}
	return of != none
}

// read is that the run of a step reads its clock. It says one of several
// things that lead to where the model goes.
func (c *schedule) read(s *step, says ...saying) int {
	me := &c.runs[s.run]
	r := c.someone(me.rec, c.oneOf(s, says))
	if me.last != none {
		c.atLeast(r, me.last, 0, closeClocks)
	}
	me.last = r
	m := c.moment()
	m.readings = append(m.readings, r)
	return r
}

// oneOf takes a saying that agrees with the facts.
func (c *schedule) oneOf(s *step, says []saying) saying {
	if s.given != nil {
		return *s.given
	}
	says = slices.DeleteFunc(says, func(one saying) bool { return !agrees(s, one) })
	switch len(says) {
	case 0:
		c.nowhere = otherFacts
		if s.stale() {
			c.nowhere = otherRecord
		}
		return whatever
	case 1:
		return says[0]
	}
	bit := c.choice >> c.asked & 1
	c.asked++
	return says[bit]
}

// bound is the last instant before a bound of a record: so long after one of
// the instants that it holds.
func (c *schedule) bound(b bound, rec times) (of int, after time.Duration) {
	cfg := c.config
	closes := cfg.ProviderWindow - cfg.MessageLifetime - cfg.MaxClockSkew - 1
	switch b {
	case leaseEnd:
		return rec.leased, cfg.Lease
	case sendEnd:
		return rec.leased, cfg.Lease - 1
	case death:
		return rec.leased, cfg.Lease + cfg.MessageLifetime + cfg.LookupLag + cfg.MaxClockSkew
	case roomEnd:
		return rec.claimed, closes - cfg.HealthyRun
	case guardEnd:
		return rec.claimed, closes
	case horizonEnd:
		return rec.claimed, cfg.RetryHorizon + cfg.MessageLifetime + cfg.MaxClockSkew
	default: // expiry
		return rec.ended, cfg.Retention
	}
}

// step says what one step asks of time.
func (c *schedule) step(s *step) {
	if begins(s.Kind) {
		c.runs = append(c.runs, runTimes{last: none, rec: c.rec})
	}
	switch s.Kind {
	case protocol.Claim, protocol.ClaimBehind:
		r := c.attempt(s)
		if s.writes() {
			c.rec = times{protocol.Claimed, r, r, none}
			c.runs[s.run].rec = c.rec
			return
		}
		c.follow(s)
	case protocol.ClaimUnanswered:
		r := c.attempt(s)
		c.kept = append(c.kept, times{protocol.Claimed, r, r, none})
	case protocol.Wait, protocol.WaitBehind:
		c.atLeast(c.now, c.runs[s.run].slept, c.config.InProgressWait, closeClocks)
		c.runs[s.run].rec = c.rec
		c.follow(s)
	case protocol.ReadBack, protocol.ReadBackBehind:
		c.runs[s.run].rec = c.rec
		if s.before().Step == protocol.StepClaim && s.after().At != protocol.AtCharge && s.after().At != protocol.AtMarkSent {
			c.follow(s)
		}
	case protocol.LookUp, protocol.LookUpLags, protocol.LookUpBehind:
		c.runs[s.run].began = c.read(s, c.leads(s)...)
		if hides(s.Kind) {
			for _, landed := range c.landed {
				c.atMost(c.now, landed, c.config.LookupLag, lookupLag)
			}
		}
	case protocol.SendCharge, protocol.ChargeBehind:
		if s.after().At != protocol.AtSent {
			c.read(s, past(sendEnd), past(guardEnd))
			return
		}
		c.read(s, not(sendEnd, guardEnd))
		c.sent = append(c.sent, c.now)
	case protocol.TakeOver, protocol.MarkSent, protocol.Complete, protocol.Settle, protocol.Review:
		if rec := c.written(s, s.before().At); s.writes() {
			c.rec, c.runs[s.run].rec = rec, rec
		}
	case protocol.UpdateUnanswered:
		c.kept = append(c.kept, c.written(s, s.before().At))
	case protocol.LandLate:
		c.rec = c.kept[s.item]
	case protocol.Sweep:
		c.read(s, past(leaseEnd))
	case protocol.Reply:
		if c.world.handles(s.slot) {
			return
		}
		if c.runs[s.run].rec = c.rec; s.from.Record().Terminal() {
			c.read(s, not(expiry))
			return
		}
		c.read(s, whatever)
	case protocol.Collect:
		c.collect()
	case protocol.Duplicate:
		c.atMost(c.now, c.sent[s.item], c.config.MessageLifetime, shortLife)
		c.sent = append(c.sent, c.sent[s.item])
	case protocol.LandApproved, protocol.LandDeclined:
		c.land(s)
	case protocol.LeaseEnds, protocol.LeaseEndsEarly, protocol.SendsDie, protocol.WindowCloses, protocol.HorizonEnds:
		c.someone(c.rec, past(facts[s.Kind]))
	case protocol.Forget:
		for _, landed := range c.landed {
			c.atLeast(c.now, landed, c.config.ProviderWindow, keyWindow)
		}
		if c.refuse != none {
			c.atLeast(c.now, c.refuse, c.config.ProviderWindow, keyWindow)
		}
	}
}

// attempt is that an attempt arrives, and claims with a reading of the clock.
func (c *schedule) attempt(s *step) int {
	if c.attempted == none {
		c.attempted = c.now
	}
	c.atMost(c.now, c.attempted, c.config.RetryHorizon+c.config.MessageLifetime, askingHorizon)
	return c.read(s, whatever)
}

// follow is that a run asks its clock whether the lease of another is over,
// where it asks for that at all.
func (c *schedule) follow(s *step) {
	rec := s.from.Record()
	if !rec.Exists() || rec.Parameters != s.parameters() || rec.Terminal() || rec.State == protocol.InReview {
		return
	}
	if s.after().At == protocol.AtLookUp {
		c.read(s, past(leaseEnd))
		return
	}
	c.read(s, not(leaseEnd))
	c.runs[s.run].slept = c.now
}

// written is what an update of the run writes, which was at a place.
func (c *schedule) written(s *step, at protocol.Place) times {
	me := &c.runs[s.run]
	rec := me.rec
	switch at {
	case protocol.AtTakeOver:
		rec.leased = me.began
	case protocol.AtMarkSent:
		rec.state = protocol.Sent
	case protocol.AtReview:
		rec.state = protocol.InReview
	default:
		rec.ended = c.read(s, whatever)
	}
	return rec
}

// land is that a message reaches the provider.
func (c *schedule) land(s *step) {
	c.atMost(c.now, c.sent[s.item], c.config.MessageLifetime, shortLife)
	if c.world.Model.Foreign && c.world.Model.Keys && s.from.Ledger()[0].Known {
		c.atMost(c.now, c.landed[0], c.config.ProviderWindow-1, keyWindow)
	}
	if len(s.to.Ledger()) > len(s.from.Ledger()) {
		c.landed = append(c.landed, c.now)
	}
	if len(s.to.Refused()) > len(s.from.Refused()) {
		c.refuse = c.now
	}
}

// collect is three sweeps of a collector: one drops the body of what has
// expired, one finds nothing yet, and one drops the tombstone. Each asks its
// clock before it looks for the unfinished, and again for the expired.
func (c *schedule) collect() {
	m := c.moment()
	sweep := func(says saying) int {
		r := c.someone(c.rec, whatever)
		again := c.someone(c.rec, says)
		c.atLeast(again, r, 0, closeClocks)
		m.readings = append(m.readings, r, again)
		c.tick()
		return again
	}
	dropped := sweep(past(expiry))
	c.atMost(sweep(whatever), dropped, c.config.ProviderWindow, closeClocks)
	c.atLeast(sweep(whatever), dropped, c.config.ProviderWindow+1, expiry.behind())
	c.rec = unclaimed
}
