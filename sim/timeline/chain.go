package timeline

import (
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Chain returns the numbers of the lines that the violation of a run rests
// on, in order: the event at which the invariant falls and every charge of
// its operation before it; for each of them the message that carried it, the
// write that permitted the message (a claim, a take-over), the request that
// began the handler's run, and what made the client send that request. The
// choices of the plan belong to it, since a small plan has none to spare.
//
// It follows messages and records, not the code: what a handler remembers or
// forgets is not to be seen in it.
func Chain(r *Run) []int {
	if r.Violation < 0 || r.Violation >= len(r.Events) {
		return nil
	}
	c := &chain{run: r, lines: make([]int, len(r.Events)), in: map[int]bool{}}
	for i := range r.Lines {
		switch l := &r.Lines[i]; l.Mark {
		case sim.MarkHistory:
			if l.Value < uint64(len(c.lines)) {
				c.lines[l.Value] = i
			}
		case sim.MarkChoice:
			c.in[i] = true
		}
	}
	c.event(r.Violation)
	operation := r.Events[r.Violation].Operation
	if operation == "" {
		operation = r.Operation
	}
	for i := range r.Violation {
		e := &r.Events[i]
		money := e.Kind == history.KindCharge || e.Kind == history.KindRefund
		if e.Operation == operation && operation != "" && (money || e.Kind == history.KindGiveUp) {
			c.event(i)
		}
	}
	all := make([]int, 0, len(c.in))
	for i := range c.in {
		all = append(all, i)
	}
	slices.Sort(all)
	return all
}

type chain struct {
	run   *Run
	lines []int // by number of the event
	in    map[int]bool
}

// add takes a line into the chain and reports whether it is new.
func (c *chain) add(i int) bool {
	if i < 0 || c.in[i] {
		return false
	}
	c.in[i] = true
	return true
}

// before returns the last line before another that fits, -1 if there is none.
func (c *chain) before(i int, fits func(*sim.Line) bool) int {
	for i--; i >= 0; i-- {
		if fits(&c.run.Lines[i]) {
			return i
		}
	}
	return -1
}

// event takes an event and what it rests on.
func (c *chain) event(n int) {
	i := c.lines[n]
	if !c.add(i) {
		return
	}
	switch e := &c.run.Events[n]; e.Kind {
	case history.KindCharge, history.KindAbsorbed, history.KindRefusal, history.KindRefund:
		// A charge may land long after its message: the line before it says
		// whose it is.
		s := c.run.Lines[max(i-1, 0)]
		c.carrier(c.before(i, func(l *sim.Line) bool {
			return l.Mark == sim.MarkDeliver && l.Who == plan.Provider && l.Peer == s.Peer && l.Step == s.Step && l.Attempt == s.Attempt
		}))
	case history.KindWrite, history.KindForget:
		who, _, _ := strings.Cut(e.Run, "/")
		c.carrier(c.before(i, func(l *sim.Line) bool {
			return l.Mark == sim.MarkDeliver && l.Who == plan.Registry && (who == "" || l.Peer.String() == who)
		}))
		if e.Insert {
			c.forgotten(n)
		}
	case history.KindReturn:
		c.answer(c.before(i, func(l *sim.Line) bool { return l.Mark == sim.MarkReturn && l.Who.String() == e.Process }))
	case history.KindUnanswered, history.KindGiveUp:
		c.add(c.before(i, func(l *sim.Line) bool { return l.Mark == sim.MarkTimeout && l.Who.String() == e.Process }))
	}
}

// forgotten takes the event that made room for a second insert.
func (c *chain) forgotten(n int) {
	e := &c.run.Events[n]
	for n--; n >= 0; n-- {
		if f := &c.run.Events[n]; f.Kind == history.KindForget && f.Operation == e.Operation {
			c.event(n)
			return
		}
	}
}

// carrier takes the message that arrived in a line, and what it rests on.
func (c *chain) carrier(delivered int) {
	if delivered < 0 {
		return
	}
	d := &c.run.Lines[delivered]
	sent := c.before(delivered, func(l *sim.Line) bool { return l.Mark == sim.MarkSend && l.Value == d.Value })
	if !c.add(sent) {
		return
	}
	l := &c.run.Lines[sent]
	switch {
	case l.Who.Kind() == plan.Client:
		c.reason(sent)
		return
	case l.Step == impl.StepCharge || l.Step == impl.StepRefund:
		c.permit(sent)
	case l.Step != impl.StepClaim:
		c.learned(sent)
	}
	c.request(sent)
}

// permit takes the write after which a charge may be sent: the last of the
// same run. Where there is none, it takes what the sender had learned.
func (c *chain) permit(sent int) {
	l := &c.run.Lines[sent]
	said := c.before(sent, func(o *sim.Line) bool {
		e := c.eventOf(o)
		return e != nil && e.Kind == history.KindSend && e.Process == l.Who.String()
	})
	if said < 0 {
		c.learned(sent)
		return
	}
	run := c.eventOf(&c.run.Lines[said]).Run
	wrote := c.before(sent, func(o *sim.Line) bool {
		e := c.eventOf(o)
		return e != nil && e.Kind == history.KindWrite && e.Run == run
	})
	if wrote < 0 {
		c.learned(sent)
		return
	}
	c.event(int(c.run.Lines[wrote].Value))
}

func (c *chain) eventOf(l *sim.Line) *history.Event {
	if l.Mark != sim.MarkHistory || l.Value >= uint64(len(c.run.Events)) {
		return nil
	}
	return &c.run.Events[l.Value]
}

// learned takes the last answer that the sender got in the same attempt.
func (c *chain) learned(sent int) {
	l := &c.run.Lines[sent]
	got := c.before(sent, func(o *sim.Line) bool {
		return (o.Mark == sim.MarkReturn || o.Mark == sim.MarkTimeout) && o.Who == l.Who && o.Attempt == l.Attempt
	})
	if got < 0 {
		return
	}
	o := &c.run.Lines[got]
	if o.Mark == sim.MarkTimeout {
		c.add(got)
		return
	}
	c.add(c.before(got, func(a *sim.Line) bool { return a.Mark == sim.MarkAnswer && a.Value == o.Value }))
}

// request takes the request that began the run of a message's sender.
func (c *chain) request(sent int) {
	l := &c.run.Lines[sent]
	c.carrier(c.before(sent, func(o *sim.Line) bool {
		return o.Mark == sim.MarkDeliver && o.Who == l.Who && o.Attempt == l.Attempt && o.Peer.Kind() == plan.Client
	}))
}

// reason takes what made a client send a request that is not its first.
func (c *chain) reason(sent int) {
	l := &c.run.Lines[sent]
	if l.Attempt.Try() == 1 {
		return
	}
	why := c.before(sent, func(o *sim.Line) bool {
		return o.Who == l.Who && (o.Mark == sim.MarkTimeout || o.Mark == sim.MarkReturn || o.Mark == sim.MarkRestart)
	})
	if why >= 0 && c.run.Lines[why].Mark == sim.MarkReturn {
		o := &c.run.Lines[why]
		why = c.before(why, func(a *sim.Line) bool { return a.Mark == sim.MarkAnswer && a.Value == o.Value })
	}
	c.add(why)
}

// answer takes the answer that a client got in a line, the last write of the
// server that gave it, and the request.
func (c *chain) answer(returned int) {
	if returned < 0 {
		return
	}
	r := &c.run.Lines[returned]
	given := c.before(returned, func(l *sim.Line) bool { return l.Mark == sim.MarkAnswer && l.Value == r.Value })
	if !c.add(given) {
		return
	}
	l := &c.run.Lines[given]
	c.learned(given)
	wrote := c.before(given, func(o *sim.Line) bool {
		e := c.eventOf(o)
		return e != nil && e.Kind == history.KindWrite && strings.HasPrefix(e.Run, l.Who.String()+"/")
	})
	if wrote >= 0 {
		c.event(int(c.run.Lines[wrote].Value))
	}
	c.request(given)
}
