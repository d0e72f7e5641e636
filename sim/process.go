package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/fingerprint"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/kernel"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// process is a simulated process. The registry and the provider are processes
// without code under test.
type process struct {
	w    *World
	id   plan.Process
	slot int8

	up          bool
	incarnation int
	offset      int64 // its clock minus the true one
	clockClass  plan.Class
	pausedUntil int64
	tokens      int
	runSeq      int
	sweeps      int
	sweptAt     int64
	live        []*run

	handler    impl.Handler
	reconciler impl.Reconciler
	client     impl.Client
	journal    func(key string)
	locks      []lock

	// A client's progress through its program survives a crash, as its
	// journal does.
	program  []Pay
	step     int
	finished bool
	tries    []int // by order
}

// lock is a mutex in the memory of one incarnation.
type lock struct {
	name    string
	held    bool
	waiters []*run
}

// runKind is what a run is for.
type runKind uint8

const (
	runHandle runKind = iota
	runReconcile
	runPay
)

// run is one run of code under test on a coroutine: of a handler, of the
// reconciler, of a client's program. It is also the context of that run, with
// no end and no channel.
type run struct {
	w       *World
	p       *process
	co      *kernel.Coroutine
	kind    runKind
	index   int32
	wake    int32 // generation of the resume event that it waits for
	attempt plan.Attempt
	name    string
	in      *call // the request that a handler answers
	order   int   // which order it works on; 0 is none
	call    *call // the call that is out

	ended bool
	told  int32 // its number in the steps, history.Nowhere if nobody listens
	// What this run did, for the situations.
	wrote, looked, charged bool
}

// Deadline makes a run a context.Context; there is none.
func (r *run) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done returns nil: a run is never cancelled.
func (r *run) Done() <-chan struct{} { return nil }

// Err returns nil.
func (r *run) Err() error { return nil }

// Value returns nil.
func (r *run) Value(any) any { return nil }

var _ context.Context = (*run)(nil)

// prepareOrders renders each order once.
func (w *World) prepareOrders() error {
	for i, o := range w.cfg.Scenario.Orders {
		if o.Endpoint == "" {
			o.Endpoint = "POST /payments"
		}
		body, err := json.Marshal(struct {
			Amount   int64  `json:"amount"`
			Currency string `json:"currency"`
			Source   string `json:"source"`
		}{o.Amount, o.Currency, o.Source})
		if err != nil {
			return err
		}
		print, err := fingerprint.Of(o.Endpoint, body)
		if err != nil {
			return fmt.Errorf("sim: order %d: %w", i+1, err)
		}
		w.orders = append(w.orders, order{
			Order: o, name: "order-" + strconv.Itoa(i+1), scope: impl.Scope(o.Tenant, o.Endpoint),
			body: body, fingerprint: print.Digest,
		})
	}
	return nil
}

func (w *World) prepareProcesses() {
	for i := range w.slots {
		w.slots[i] = -1
	}
	w.sweeper = -1
	add := func(id plan.Process) *process {
		p := &process{w: w, id: id, slot: int8(len(w.procs)), tries: make([]int, len(w.orders)+1)}
		p.journal = p.saveKey
		w.slots[id] = p.slot
		w.procs = append(w.procs, p)
		return p
	}
	for i := range w.cfg.Scenario.Clients {
		if program := w.cfg.Scenario.program(i + 1); len(program) > 0 {
			add(plan.Client | plan.Process(i+1)).program = program
		}
	}
	w.servers = w.cfg.Scenario.servers()
	for _, id := range w.servers {
		add(id)
	}
	if w.cfg.Design.Reconciler != nil {
		w.sweeper = int(add(plan.Reconciler | 1).slot)
	}
	add(plan.Registry)
	add(plan.Provider)
}

func (p *process) reset() {
	p.up, p.incarnation, p.offset, p.pausedUntil = true, 0, 0, 0
	p.clockClass, p.tokens, p.runSeq, p.sweeps, p.sweptAt = 0, 0, 0, 0, -int64(p.w.service.ReconcileInterval)
	p.live, p.locks = p.live[:0], p.locks[:0]
	p.step, p.finished = 0, false
	clear(p.tries)
}

// boot starts a process: memory is new. Only its first start asks for its
// clock, which belongs to the machine.
func (w *World) boot(p *process) {
	p.incarnation++
	p.locks = p.locks[:0]
	ports := impl.Ports{Registry: p, Provider: p, Clock: p, IDs: p, Locks: p}
	w.build(p, ports)
	if p.incarnation > 1 || p.id.Kind() != plan.Server && p.id.Kind() != plan.Reconciler {
		return
	}
	if _, c := w.ask(plan.WhatClock, p.id, 0, 0, 0); c.Class != plan.ClassNone {
		w.setClock(p, c)
	}
}

// build calls the design's factory. One that panics is a finding.
func (w *World) build(p *process, ports impl.Ports) {
	w.booting = true
	defer func() {
		w.booting = false
		if v := recover(); v != nil {
			w.find(PanicFinding, p.id, fmt.Sprint("the design's factory: ", v), string(debug.Stack()))
		}
	}()
	d := &w.cfg.Design
	switch p.id.Kind() {
	case plan.Server:
		p.handler = d.Handler(w.service, ports)
	case plan.Reconciler:
		p.reconciler = d.Reconciler(w.service, ports)
	case plan.Client:
		p.client = d.Client(w.service, impl.ClientPorts{Transport: p, Clock: p, IDs: p, Journal: p.journal})
	}
}

// setClock puts a process's clock ahead or behind.
func (w *World) setClock(p *process, c plan.Choice) {
	half := int64(w.service.MaxClockSkew) / 2
	far := int64(2*w.service.MessageLifetime + w.service.Lease + w.service.ProviderWindow)
	switch c.Bound {
	case plan.BoundFast:
		p.offset = half
	case plan.BoundSlow:
		p.offset = -half
	case plan.BoundFastBeyond:
		p.offset = far
	case plan.BoundSlowBeyond:
		p.offset = -far
	}
	p.clockClass = c.Class
}

// spawn starts a run on a process.
func (w *World) spawn(p *process, kind runKind, of plan.Attempt) *run {
	r, index := w.runs.take()
	*r = run{w: w, p: p, kind: kind, index: index, attempt: of, order: of.Order(), told: history.Nowhere}
	p.runSeq++
	r.name = w.names.run(p.id, p.runSeq)
	r.co = w.k.Spawn(r)
	p.live = append(p.live, r)
	w.see(seeBegin, uint64(index)<<8|uint64(p.id))
	return r
}

// Ended notes that a run has ended. The kernel calls it.
func (w *World) Ended(t kernel.Task, status kernel.Status) {
	r := t.(*run)
	if status == kernel.Panicked {
		v, stack := r.co.Panic()
		w.find(PanicFinding, r.p.id, fmt.Sprint(v), string(stack))
	}
	for i, l := range r.p.live {
		if l == r {
			r.p.live = append(r.p.live[:i], r.p.live[i+1:]...)
			break
		}
	}
	w.ended(r)
}

func (w *World) ended(r *run) {
	r.ended = true
	w.see(seeEnd, uint64(r.index))
	r.wake++
	if r.kind == runReconcile {
		w.scheduleSweep()
	}
}

// kill ends a process: its memory and all its runs are gone.
func (w *World) kill(p *process) {
	if !p.up {
		return
	}
	p.up = false
	if len(p.live) > 0 {
		w.took(plan.ClassCrash)
	}
	w.mark(MarkCrash, p.id, 0, 0, 0, uint64(p.incarnation))
	w.tellOf(history.KindCrash, p.id.String(), "")
	for len(p.live) > 0 {
		r := p.live[len(p.live)-1]
		p.live = p.live[:len(p.live)-1]
		w.current = r
		w.tellDied(r)
		if w.k.Kill(r.co) == kernel.Abandoned {
			w.findUndead(p)
		}
		w.ended(r)
	}
	p.pausedUntil = 0
	w.k.Schedule(min(w.now()+int64(w.timing.Restart), max(w.heal, w.now())), evRestart, int32(p.slot), 0)
}

func (w *World) findUndead(p *process) {
	w.find(UndeadFinding, p.id, "a handler did not end though every port said that its process is dead", "")
}

// restart starts a process again. It returns the client's run, if it is one
// that has not done all that it wants.
func (w *World) restart(p *process) (r *run) {
	p.up = true
	w.mark(MarkRestart, p.id, 0, 0, 0, uint64(p.incarnation))
	w.boot(p)
	if p.id.Kind() == plan.Client && !p.finished {
		r = w.spawnClient(p)
	}
	w.scheduleSweep()
	return r
}

// Run is the body of a coroutine.
func (r *run) Run() {
	w := r.w
	switch r.kind {
	case runHandle:
		w.pass(r, plan.WhatAfter, impl.StepRequest)
		reply, err := r.p.handler.Handle(r, r.in.req)
		w.reply(r, reply, err)
	case runReconcile:
		// Its error is for the operator; what it did not reach comes again.
		_ = r.p.reconciler.Reconcile(r)
		w.k.Enter()
		w.tellEnd(r, nil, nil)
	case runPay:
		w.pay(r)
	}
}

// pass asks whether the running process stops here, before, during or after
// a step. It returns what was chosen once the process goes on; a process that
// dies here unwinds.
func (w *World) pass(r *run, what plan.What, step impl.Step) plan.Class {
	_, c := w.ask(what, r.p.id, 0, step, r.attempt)
	switch c.Class {
	case plan.ClassCrash:
		w.deaths = append(w.deaths, r.p.slot)
		w.k.Park()
	case plan.ClassPause, plan.ClassPauseBeyond, plan.ClassPastHorizon:
		w.pause(r, c)
	case plan.ClassJump:
		w.setClock(r.p, c)
	}
	return c.Class
}

// pause stops the running process for a time.
func (w *World) pause(r *run, c plan.Choice) {
	p := r.p
	until := w.now() + w.span(c, int64(w.timing.CallTimeout))
	if c.Class == plan.ClassPause {
		until = min(until, max(w.heal, w.now()))
	}
	if c.Class == plan.ClassPastHorizon && r.order > 0 {
		until = max(until, w.orders[r.order-1].since+w.span(c, 0))
	}
	p.pausedUntil = until
	w.leave(until, nil)
	w.mark(MarkPause, p.id, 0, 0, r.attempt, uint64(until))
	before := w.marked
	r.wake++
	w.k.Schedule(until, evResume, r.index, r.wake)
	w.k.Park()
	if w.marked > before || c.Class != plan.ClassPause {
		w.took(c.Class)
	}
}

// span translates a bound into nanoseconds. The time-out is that of whoever
// waits.
func (w *World) span(c plan.Choice, timeout int64) int64 {
	s := &w.service
	switch c.Bound {
	case plan.BoundShort:
		return 6 * int64(w.timing.Hop)
	case plan.BoundPastTimeout:
		return timeout + 2*int64(w.timing.Hop)
	case plan.BoundPastLease:
		return int64(s.Lease + s.MaxClockSkew + 4*w.timing.Hop)
	case plan.BoundToMaximum:
		return int64(s.MessageLifetime)
	case plan.BoundPastMaximum:
		return int64(s.RetryHorizon + 4*s.MessageLifetime + s.Lease + s.LookupLag)
	case plan.BoundPastWindow:
		return int64(s.ProviderWindow + s.MessageLifetime)
	case plan.BoundPastHorizon:
		return int64(max(s.RetryHorizon+s.MessageLifetime, s.Retention+2*s.ProviderWindow+s.MessageLifetime))
	case plan.BoundBy:
		return int64(c.By)
	}
	return 0
}

// names are strings that come again in every run.
type names struct {
	runs, owners [256][]string
	keys         [][]string
}

// numbered returns the i-th name that begins so.
func numbered(cache *[]string, i int, prefix ...string) string {
	for len(*cache) < i {
		*cache = append(*cache, strings.Join(prefix, "")+strconv.Itoa(len(*cache)+1))
	}
	return (*cache)[i-1]
}

func (n *names) run(p plan.Process, i int) string {
	return numbered(&n.runs[p], i, p.String(), "/")
}

func (n *names) owner(p plan.Process, i int) string {
	return numbered(&n.owners[p], i, "token-", p.String(), "-")
}

func (n *names) key(order, i int) string {
	for len(n.keys) <= order {
		n.keys = append(n.keys, nil)
	}
	return numbered(&n.keys[order], i, "key-", strconv.Itoa(order), "-")
}
