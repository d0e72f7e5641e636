// Package kernel is the machine under the simulator: virtual time, one queue
// of events, and processes as coroutines.
//
// Events fire in the order of their time, ties in the order of insertion.
// Exactly one coroutine runs at a time, and only between Resume and the next
// Park; so code on coroutines needs no locks and a run has no data race. What
// an event means is the caller's: the kernel hands back the numbers it was
// given.
//
// It also guards its own ground. A coroutine that is killed unwinds by a
// panic at its next Park or Enter, and one that will not end is abandoned. A
// goroutine that code on a coroutine starts is found, since it could
// otherwise run beside the kernel and take over a coroutine's yield.
//
// The rule it keeps: the same calls give the same order of events, always;
// nothing here reads a wall clock, draws a random number or depends on an
// address.
package kernel

import "math"

// Event is something that is due.
type Event struct {
	At    int64  // virtual nanoseconds since the start of the run
	order uint64 // of insertion, and the kind in the lowest byte
	A, B  int32  // the caller's
}

// Kind returns the event's kind, the caller's.
func (e *Event) Kind() uint8 { return uint8(e.order) }

// Kernel is the queue of events, the clock and the coroutines of one run. It is
// made ready for the next run by Reset and keeps its memory.
type Kernel struct {
	now   int64
	seq   uint64
	queue []Event // the one that is due first is the last
	lanes [lanes]lane

	current   *Coroutine // the one whose task runs; nil while the scheduler decides
	turn      *Coroutine // the one that is to run; nil for the caller of Run
	scheduler Scheduler
	failure   func() // what the scheduler did instead of returning
	idle      []*Coroutine

	// When goroutines were counted last:
	entered    int64 // the counter of goroutines elsewhere
	goroutines int   // how many there were
	quiet      bool  // none began elsewhere
	rogue      bool
}

// lanes is how many lanes there are.
const lanes = 2

// lane is a queue of events whose times never fall: time-outs of one length.
// Most of them are over before they are due, so they stay out of the way.
type lane struct {
	queue []Event
	head  int
}

// first returns the event of the lane that is due first.
func (l *lane) first() *Event {
	if l.head < len(l.queue) {
		return &l.queue[l.head]
	}
	return &never
}

// never is an event that is due after all others.
var never = Event{At: math.MaxInt64, order: math.MaxUint64}

// Now returns the virtual time in nanoseconds.
func (k *Kernel) Now() int64 { return k.now }

// Reset forgets all events and turns the clock back to 0. All coroutines must
// have ended or been abandoned.
func (k *Kernel) Reset() {
	k.now, k.seq, k.queue, k.current, k.rogue = 0, 0, k.queue[:0], nil, false
	for i := range k.lanes {
		k.lanes[i].queue, k.lanes[i].head = k.lanes[i].queue[:0], 0
	}
}

// Schedule makes an event due at a time, or now if that is past.
//
// The few events that wait are kept in order: to find the place of a new one
// is to look at those that come before it, which are fewer still. A heap is
// slower until there are hundreds.
func (k *Kernel) Schedule(at int64, kind uint8, a, b int32) {
	at = max(at, k.now)
	k.seq++
	k.queue = append(k.queue, never)
	q := k.queue
	i := len(q) - 1
	for ; i > 0 && q[i-1].At <= at; i-- {
		q[i] = q[i-1]
	}
	e := &q[i]
	e.At, e.order, e.A, e.B = at, k.seq<<8|uint64(kind), a, b
}

// ScheduleLane does the same for an event of a lane, 0 or 1. Where the lane
// has a later one already it is an event like any other.
func (k *Kernel) ScheduleLane(n int, at int64, kind uint8, a, b int32) {
	l := &k.lanes[n]
	if at < k.now || len(l.queue) > l.head && l.queue[len(l.queue)-1].At > at {
		k.Schedule(at, kind, a, b)
		return
	}
	k.seq++
	l.queue = append(l.queue, Event{at, k.seq<<8 | uint64(kind), a, b})
}

// Next removes the event that is due first and moves the clock to it. It
// reports false when nothing is due.
func (k *Kernel) Next() (e Event, ok bool) {
	first, last := &never, len(k.queue)-1
	if last >= 0 {
		first = &k.queue[last]
	}
	one, two := k.lanes[0].first(), k.lanes[1].first()
	switch {
	case before(first, one) && before(first, two):
		k.queue = k.queue[:last]
	case before(one, two):
		first = one
		k.lanes[0].head++
	case two != &never:
		first = two
		k.lanes[1].head++
	default:
		return Event{}, false
	}
	k.now = first.At
	return *first, true
}

func before(a, b *Event) bool { return a.At < b.At || a.At == b.At && a.order < b.order }
