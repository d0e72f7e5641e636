package sim

import (
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// mirror is what the world remembers of a record, to know when something is
// due and whose order it is.
type mirror struct {
	id          impl.ID
	providerKey string
	order       int
	state       impl.State
	version     uint64
	owner       string
	lease       int64 // virtual nanoseconds, as written
	expires     int64 // 0 if never
	gone        bool
	states      *states // where stale reads are on
}

// states are those of a record before and after the last write.
type states struct {
	hasBefore    bool
	before, last impl.Record
}

// orderOf returns the order that a record or a reference belongs to, 0 if
// nobody has claimed it.
func (w *World) orderOf(id impl.ID, ref string) int {
	for i := len(w.records) - 1; i >= 0; i-- {
		m := &w.records[i]
		if id.Key != "" && m.is(id) || id.Key == "" && ref != "" && m.providerKey == ref {
			return m.order
		}
	}
	return 0
}

func (w *World) orderOfCharge(id string) int {
	ledger := w.provider.Ledger()
	for i := range ledger {
		if ledger[i].ID == id {
			return ledger[i].Intent
		}
	}
	return 0
}

// is compares the keys first: the scopes are mostly the same.
func (m *mirror) is(id impl.ID) bool { return m.id.Key == id.Key && m.id.Scope == id.Scope }

func (w *World) mirrorOf(id impl.ID) *mirror {
	for i := range w.records {
		if m := &w.records[i]; m.is(id) && !m.gone {
			return m
		}
	}
	return nil
}

// serveRegistry lets a request reach the store: the real one.
func (w *World) serveRegistry(c *call) {
	_, choice := w.ask(plan.WhatServe, plan.Registry, 0, c.step, c.attempt)
	a := w.newAnswer()
	switch choice.Class {
	case plan.ClassRefuse:
		w.took(choice.Class)
		a.err = impl.ErrNotApplied
	case plan.ClassLoseWrite:
		w.pretend(c, a)
	case plan.ClassStaleRead:
		w.readStale(c, a)
	case plan.ClassLag:
		w.readReplica(c, a)
	case plan.ClassFreeze:
		w.freeze(plan.Registry, choice, c)
		return
	default:
		w.apply(c, a)
	}
	if c.told >= 0 {
		w.tellStored(c, a)
	}
	w.postAnswer(c, a)
}

// freeze makes a node stand still, from this request on.
func (w *World) freeze(node plan.Process, choice plan.Choice, c *call) {
	i := frozenIndex(node)
	w.frozen[i] = min(w.now()+w.span(choice, int64(w.timing.CallTimeout)), w.heal)
	w.frozeFor[i] = choice.Class
	_, index := w.newMessage(c.run.p.id, node, c, nil, c.permit+int64(w.service.MessageLifetime))
	w.k.Schedule(w.now(), evDeliver, index, 0)
}

// apply does what was asked, on the store.
func (w *World) apply(c *call, a *answer) {
	store := w.store
	switch c.op {
	case opInsert:
		a.rec, a.ok, a.err = store.Insert(background, c.step, c.rec)
		if a.err == nil && a.ok {
			w.wrote(c, &a.rec, 1, nil)
		}
	case opGet:
		a.rec, a.ok, a.err = store.Get(background, c.step, c.id)
	case opUpdate:
		a.err = store.Update(background, c.step, c.fence, c.rec)
		if a.err == nil {
			m := w.mirrorOf(c.rec.ID)
			w.wrote(c, &c.rec, m.version+1, m)
		}
	case opDelete:
		a.err = store.Delete(background, c.step, c.id, c.fence)
		if a.err == nil {
			w.forgot(c)
		}
	case opUnfinished:
		a.list, a.err = store.Unfinished(background, c.step, c.before, c.after, c.limit)
	case opExpired:
		a.list, a.err = store.Expired(background, c.step, c.before, c.limit)
	}
	switch {
	case a.err == nil:
	case errors.Is(a.err, impl.ErrConflict):
		w.met(LostRace)
	case errors.Is(a.err, impl.ErrNotApplied):
	default:
		w.find(StoreFinding, plan.Registry, a.err.Error(), "")
	}
}

// pretend answers a write as if it had been applied, and loses it.
func (w *World) pretend(c *call, a *answer) {
	now, ok, err := w.store.Get(background, c.step, c.targetID())
	switch {
	case err != nil:
		a.err = err
	case c.op == opInsert && !ok:
		a.rec, a.ok = c.rec, true
		a.rec.Version = 1
		w.took(plan.ClassLoseWrite)
	case (c.op == opUpdate || c.op == opDelete) && ok && now.Fence() == c.fence:
		w.took(plan.ClassLoseWrite)
	default:
		w.apply(c, a)
	}
}

func (c *call) targetID() impl.ID {
	if c.op == opInsert || c.op == opUpdate {
		return c.rec.ID
	}
	return c.id
}

// readStale answers a read with the state before the last write.
func (w *World) readStale(c *call, a *answer) {
	m := w.mirrorOf(c.id)
	if m == nil {
		w.apply(c, a)
		return
	}
	if m.states != nil {
		a.rec, a.ok = m.states.before, m.states.hasBefore
	}
	w.took(plan.ClassStaleRead)
}

// copied is a record as it was from an instant on, on its way to a replica.
type copied struct {
	id  impl.ID
	at  int64
	rec impl.Record
	ok  bool
}

// copy lets a write go on to the replica, if there is one.
func (w *World) copy(id impl.ID, rec *impl.Record, version uint64) {
	if !w.cfg.Design.ReadsReplica {
		return
	}
	c := copied{id: id, at: w.now()}
	if rec != nil {
		c.rec, c.ok = *rec, true
		c.rec.Version = version
	}
	w.replica = append(w.replica, c)
}

// readReplica answers a read with what a replica has that is as far behind as
// it may be.
func (w *World) readReplica(c *call, a *answer) {
	before := w.now() - int64(w.service.MessageLifetime)
	for i := range w.replica {
		switch r := &w.replica[i]; {
		case r.id != c.id:
		case r.at > before:
			w.took(plan.ClassLag)
			return
		default:
			a.rec, a.ok = r.rec, r.ok
		}
	}
}

// nanos translates an instant that code under test wrote into virtual time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return int64(t.Sub(epoch))
}

// wrote follows a write that the store has applied: the record has this
// version now, whatever it says itself.
func (w *World) wrote(c *call, rec *impl.Record, version uint64, m *mirror) {
	insert := m == nil
	if insert {
		w.records = append(w.records, mirror{})
		m = &w.records[len(w.records)-1]
		m.id, m.order, m.providerKey = rec.ID, c.order, rec.ProviderKey
	}
	w.note(c, rec, m, insert)
	if w.cfg.breaks(impl.A3) {
		if insert {
			m.states, _ = w.states.take()
			*m.states = states{}
		}
		s := m.states
		s.before, s.hasBefore = s.last, !insert
		s.last = *rec
		s.last.Version = version
	}
	w.copy(rec.ID, rec, version)
	m.state, m.version, m.owner = rec.State, version, rec.Owner
	m.lease, m.expires = nanos(rec.LeaseUntil), nanos(rec.ExpiresAt)
	if c.done || c.run.ended {
		w.met(LostAnswer)
	}
	c.run.wrote = true
	body := uint64(0)
	if rec.State.Terminal() && !rec.Tombstone {
		body = digestReply(&rec.Reply)
	}
	request := uint64(0)
	if len(rec.Request) > 0 {
		request = w.digestRequest(rec.Request)
	}
	windowFrom := nanos(rec.WindowFrom)
	h := hash(3)
	h.word(uint64(rec.State)<<32 | version)
	h.text(rec.Owner)
	h.words(uint64(m.lease), uint64(windowFrom), body^request)
	h.text(rec.ChargeID)
	w.mark(MarkSettle, plan.Registry, c.run.p.id, c.step, c.attempt, uint64(h))
	if e := w.event(history.KindWrite, c.run.p.id.String()); e != nil {
		e.Operation, e.Scope, e.Key, e.Fingerprint = w.orderName(m.order), rec.Scope, rec.Key, rec.Fingerprint
		e.ProviderKey, e.Request, e.Charge = rec.ProviderKey, request, rec.ChargeID
		e.State, e.Version, e.Owner, e.Run = history.State(rec.State), version, rec.Owner, c.run.name
		e.Insert, e.Tombstone = insert, rec.Tombstone
		e.WindowFrom, e.LeaseUntil = time.Duration(windowFrom), time.Duration(m.lease)
		if rec.State.Terminal() {
			e.Outcome, e.Status, e.Body = outcomes[rec.Reply.Outcome], rec.Reply.Status, body
		}
		w.tell()
	}
	w.scheduleSweep()
}

var outcomes = [...]history.Outcome{
	impl.OutcomeNone: history.OutcomeNone, impl.OutcomePaid: history.OutcomePaid, impl.OutcomeDeclined: history.OutcomeDeclined,
}

func (w *World) orderName(n int) string {
	if n == 0 {
		return ""
	}
	return w.orders[n-1].name
}

// note counts the situation that a write is.
func (w *World) note(c *call, rec *impl.Record, m *mirror, insert bool) {
	r := c.run
	switch {
	case insert:
		return
	case rec.Tombstone:
		w.met(BodyDropped)
	case rec.State == impl.StateReview:
		w.met(HandedOver)
	case rec.State == impl.StateSent && m.state == impl.StateClaimed:
		w.met(MarkedSent)
	case !rec.State.Terminal() && rec.Owner != m.owner && m.owner != "":
		w.met(TakeOver)
	case rec.State.Terminal() && !m.state.Terminal():
		if r.looked && !r.charged {
			w.met(ResolvedByLookUp)
			if rec.State == impl.StateDeclined {
				w.met(Settled)
			}
		}
		if r.kind == runReconcile {
			w.met(ReconcilerResolved)
		}
	}
}

func (w *World) forgot(c *call) {
	m := w.mirrorOf(c.id)
	if m == nil {
		return
	}
	m.gone = true
	w.copy(c.id, nil, 0)
	w.met(Forgotten)
	w.mark(MarkSettle, plan.Registry, c.run.p.id, c.step, c.attempt, m.version)
	if e := w.event(history.KindForget, c.run.p.id.String()); e != nil {
		e.Operation, e.Scope, e.Key, e.Version = w.orderName(m.order), m.id.Scope, m.id.Key, m.version
		w.tell()
	}
}

func (c *Config) breaks(a impl.Assumption) bool {
	for _, b := range c.Break {
		if b == a {
			return true
		}
	}
	return false
}

// anyExpired reports whether a terminal record's time is over by a clock.
func (w *World) anyExpired(before time.Time) bool {
	at := nanos(before)
	for i := range w.records {
		if m := &w.records[i]; !m.gone && m.state.Terminal() && m.expires > 0 && m.expires < at {
			return true
		}
	}
	return false
}

// due returns the earliest instant of the reconciler's clock after which a
// sweep finds something; ok is false if there is none.
func (w *World) due() (at int64, ok bool) {
	for i := range w.records {
		m := &w.records[i]
		t := int64(-1)
		switch {
		case m.gone:
		case m.state == impl.StateClaimed || m.state == impl.StateSent:
			t = m.lease
		case m.state.Terminal() && m.expires > 0 && (w.working > 0 || w.cfg.Scenario.Collect):
			t = m.expires
		}
		if t >= 0 && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at + 1, ok
}

// scheduleSweep wakes the reconciler when something is due: at the lease's
// end, and after that by its interval.
func (w *World) scheduleSweep() {
	if w.sweeper < 0 {
		return
	}
	p := w.procs[w.sweeper]
	at, ok := w.due()
	if !ok || !p.up || len(p.live) > 0 {
		return
	}
	at = max(at-p.offset, w.now(), p.sweptAt+int64(w.service.ReconcileInterval))
	if w.sweepAt >= 0 && w.sweepAt <= at {
		return
	}
	w.sweepAt = at
	w.sweepSeq++
	w.k.Schedule(at, evSweep, int32(p.slot), w.sweepSeq)
}

// sweep starts the reconciler, if by its clock something is due.
func (w *World) sweep(p *process) *run {
	if !p.up || len(p.live) > 0 {
		return nil
	}
	if at, ok := w.due(); !ok || at > w.now()+p.offset {
		w.scheduleSweep()
		return nil
	}
	p.sweeps++
	p.sweptAt = w.now()
	r := w.spawn(p, runReconcile, plan.NewAttempt(p.id, 0, p.sweeps))
	w.tellBegin(r)
	return r
}
