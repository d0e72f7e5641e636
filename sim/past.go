package sim

import "github.com/chargeonce/chargeonce/sim/plan"

// What a run may still come to depends on its past in two ways: through what
// was seen of it, by the code under test and by whoever judges it, and through
// what the choices of its plan have left behind and nobody has seen yet: a
// message that is late, a link that is cut. Two runs of one world that have
// the same seen past, and in which nothing is left behind, are in the same
// state, and go on in the same way whatever is chosen from there on.
//
// Seen is the time at which anything is sent, arrives, or is served, whose it
// is, and when code under test goes on; which answer it goes on with; and each
// choice that changes what is said rather than when. With the same inputs it
// does the same, so the calls, the records and the charges are the same. Not
// seen is what happens to an answer for which nobody waits any more.

// What is seen beside the lines of the trace.
const (
	seeBegin  = uint64(markCount) + iota // code under test begins to run
	seeEnd                               // it ends
	seeAnswer                            // a port call returns to it
	seeAwake                             // it goes on after a sleep, or with a lock
)

// past is the digest of what was seen in a run, and what is left behind in it.
type past struct {
	on      bool
	seen    hash
	left    []leftover
	forever bool // an assumption is broken, and what comes of that is not followed
}

// leftover is what a choice leaves behind: until an instant has passed, or
// nobody waits for the answer any more that it was about.
type leftover struct {
	until  int64
	answer *call // nil if it is not only about an answer
}

func (p *past) reset(on bool) {
	p.on, p.seen, p.left, p.forever = on, 1, p.left[:0], false
}

// Past returns a digest of what was seen of the run up to now, and whether
// nothing else is left of its choices. It is for choosers, and for the end of
// the run; and for a run with Options.Past.
func (w *World) Past() (seen uint64, settled bool) {
	if w.past.forever {
		return uint64(w.past.seen), false
	}
	for _, l := range w.past.left {
		// After healing a run may come to its end, and when that is depends on
		// the last message, even on one that nobody waits for.
		dead := l.answer != nil && (l.answer.done || l.answer.run.ended) && l.until <= w.heal
		if l.until >= w.now() && !dead {
			return uint64(w.past.seen), false
		}
	}
	return uint64(w.past.seen), true
}

// leave notes that a choice is not over until an instant, or until nobody
// waits for the message, if that is an answer; m may be nil.
func (w *World) leave(until int64, m *message) {
	if !w.past.on {
		return
	}
	l := leftover{until: until}
	if m != nil && m.answer != nil {
		l.answer = m.call
	}
	w.past.left = append(w.past.left, l)
}

// see adds to what was seen.
func (w *World) see(a, b uint64) {
	if w.past.on {
		w.past.seen.words(uint64(w.now()), a, b)
	}
}

// seeMark adds a line of the trace. A choice shows in what it does; so does a
// pause, whose process answers later.
func (w *World) seeMark(m Mark, place, value uint64) {
	switch m {
	case MarkChoice, MarkPause, MarkStray, MarkLost: // lose sees what is lost
		return
	}
	w.past.seen.words(uint64(w.now())<<8|uint64(m), place, value)
}

// seeChoice adds a choice that changes what a process is told, and not only
// when something happens.
func (w *World) seeChoice(site plan.Site, c plan.Choice) {
	switch {
	case !w.past.on:
	case c.Class.Breaks() != "":
		w.past.forever = true
	case site.What() == plan.WhatMessage, c.Class == plan.ClassPause, c.Class == plan.ClassCrash:
	default:
		w.past.seen.words(uint64(site), uint64(c.Class)<<8|uint64(c.Bound), uint64(c.By))
	}
}
