package search

import (
	"slices"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// moves notes which moves of the protocol a run makes: what an event did to
// the state of its operation, as far as the recorded history tells of it.
// Times, names and numbers beyond a few do not count, so that there are some
// hundred of them and a new one is news.
type moves struct {
	seen       map[uint64]bool
	made       []uint64
	operations []operation
}

// operation is the state of one operation.
type operation struct {
	name    string
	state   history.State
	version uint8 // up to few
	gone    bool  // its body was dropped, or all of it
	sends   uint8 // up to few, as all counts
	charges uint8
	refused uint8
	refunds uint8
	heard   uint8 // a bit for each kind of answer
}

// few is as far as moves count.
const few = 3

func newMoves() *moves { return &moves{seen: map[uint64]bool{}} }

func (m *moves) reset() {
	clear(m.seen)
	m.made, m.operations = m.made[:0], m.operations[:0]
}

// Event takes the next event of the run.
func (m *moves) Event(e *history.Event) {
	if e.Operation == "" && e.Kind != history.KindCrash {
		return
	}
	if e.Kind == history.KindCrash { // it is every operation's
		for i := range m.operations {
			m.note(e.Kind, &m.operations[i], m.operations[i])
		}
		return
	}
	i := slices.IndexFunc(m.operations, func(o operation) bool { return o.name == e.Operation })
	if i < 0 {
		i = len(m.operations)
		m.operations = append(m.operations, operation{name: e.Operation})
	}
	before := m.operations[i]
	m.operations[i].take(e)
	m.note(e.Kind, &before, m.operations[i])
}

func (o *operation) take(e *history.Event) {
	one := func(n *uint8) { *n = min(*n+1, few) }
	switch e.Kind {
	case history.KindReturn:
		o.heard |= 1 << (e.Outcome & 7)
	case history.KindSend:
		one(&o.sends)
	case history.KindCharge:
		one(&o.charges)
	case history.KindRefusal:
		one(&o.refused)
	case history.KindRefund:
		one(&o.refunds)
	case history.KindWrite:
		o.state, o.version, o.gone = e.State, uint8(min(e.Version, few)), e.Tombstone
	case history.KindForget:
		o.gone = true
	}
}

func (m *moves) note(kind history.Kind, before *operation, after operation) {
	move := plan.Mix(uint64(kind) ^ plan.Mix(before.word()^plan.Mix(after.word())))
	if !m.seen[move] {
		m.seen[move] = true
		m.made = append(m.made, move)
	}
}

func (o *operation) word() uint64 {
	w := uint64(o.state)<<40 | uint64(o.version)<<32 | uint64(o.sends)<<24 | uint64(o.charges)<<16 | uint64(o.heard)
	w |= uint64(o.refused)<<48 | uint64(o.refunds)<<52
	if o.gone {
		w |= 1 << 60
	}
	return w
}
