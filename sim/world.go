package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/kernel"
	"github.com/chargeonce/chargeonce/sim/network"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// Chooser answers the world's questions. The menu lists what the world offers
// at the site, the benign choice aside; a choice of class hold with bound
// BoundBy gets its duration from the chooser. The same sites must get the
// same choices in every run that is to be equal.
type Chooser interface {
	Choose(site plan.Site, menu []plan.Choice) plan.Choice
}

// Kinds of kernel events.
const (
	evNone     uint8 = iota
	evDeliver        // A: message
	evTimeout        // A: call
	evResume         // A: run, B: its generation
	evRelease        // A: message that was held until a step
	evRestart        // A: process slot
	evStart          // A: process slot, a client's program begins
	evSweep          // A: process slot, B: number of the schedule
	evLand           // A: call whose charge is applied late
	evHeal           //
	evUnfreeze       // nothing; wakes what a frozen node kept
)

// Result is what one run came to.
type Result struct {
	Hash       uint64 // of the trace
	Sites      int    // questions asked
	Events     int    // kernel events
	Virtual    time.Duration
	Deviations []plan.Deviation // the choices that were not benign, in the order of the questions; only valid until the next run
	Chosen     Counts           // how often each class was chosen
	Effective  Counts           // how often it took effect
	Situations [SituationCount]int
	// Finding is not nil when the code under test broke the rules of the
	// house: it panicked, started a goroutine, or would not die.
	Finding *Finding
	// Limit says that the run was ended by its bound on virtual time.
	Limit bool
}

// Counts counts by fault class.
type Counts [plan.ClassCount]int

// Finding is a defect of the code under test that is no violation of an
// invariant.
type Finding struct {
	Kind    string // one of the kinds of findings
	Process string
	Message string // one line
	Detail  string // a stack, perhaps empty; not byte-stable
}

// Kinds of findings.
const (
	PanicFinding     = "panic"     // it panicked while alive
	GoroutineFinding = "goroutine" // it started a goroutine; one run alone may be mistaken
	UndeadFinding    = "undead"    // it would not end when its process had died
	StoreFinding     = "store"     // the real registry failed
	BlockedFinding   = "blocked"   // it blocks outside the ports
)

func (f *Finding) Error() string {
	return fmt.Sprintf("sim: %s in %s: %s", f.Kind, f.Process, f.Message)
}

// World is a simulated world. It is used for one run after the other and
// keeps its memory; it is not safe for concurrent use.
type World struct {
	cfg     Config
	service impl.Config
	store   impl.Registry // as the design's statements make it
	timing  Timing
	menus   menus
	orders  []order
	procs   []*process
	servers []plan.Process
	slots   [256]int8 // process → index in procs, -1 if there is none
	sweeper int       // slot of the reconciler, -1 if there is none

	k        kernel.Kernel
	net      network.Network
	provider provider.Provider
	records  []mirror
	states   slab[states] // of records
	replica  []copied     // all writes, oldest first, where a design reads a replica
	amounts  map[string]impl.Amount

	// Equal bodies mostly come one after the other, so what was worked out of
	// the last one is kept.
	lastReply   []byte
	lastAmount  impl.Amount
	lastRequest []byte
	lastDigest  uint64

	calls    slab[call]
	answers  slab[answer]
	runs     slab[run]
	messages slab[message]
	held     []int32 // messages that wait for a step
	asked    siteCounter

	chooser  Chooser
	sink     Sink
	untold   []history.Event // of the history, not yet sent to the sink
	steps    *history.Steps  // nil if nobody listens
	log      []Line
	hash     hash
	past     past
	keep     bool // keep the lines of the trace
	res      Result
	over     bool
	healed   bool
	calm     int64
	heal     int64
	limit    int64
	working  int // clients whose program has not ended
	sweepSeq int32
	sweepAt  int64
	current  *run
	deaths   []int8   // slots of processes that die as soon as the running coroutine parks
	frozen   [2]int64 // registry, provider: stand still until
	frozeFor [2]plan.Class
	lagUntil int64 // look-up shows nothing until then
	booting  bool  // a factory of the design runs
	marked   int   // lines of the trace so far
	told     int   // events of the history so far
	events   int
	names    names
}

// order is an order of the scenario, prepared.
type order struct {
	Order
	name        string
	scope       string
	body        []byte
	fingerprint string
	since       int64 // first attempt, -1 before it
	journal     string
	keysMade    int
	paid        bool
}

// epoch is the virtual time 0 as a wall clock shows it.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// New returns a world. It returns Validate's error for a bad configuration.
func New(cfg Config) (*World, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w := &World{cfg: cfg, service: cfg.service(), timing: cfg.timing(), untold: make([]history.Event, 0, 128)}
	if w.store = cfg.Store; cfg.Design.Registry != nil {
		w.store = cfg.Design.Registry(cfg.Store)
	}
	if err := w.prepareOrders(); err != nil {
		return nil, err
	}
	w.prepareProcesses()
	w.menus.prepare(&w.cfg, w.procs)
	return w, nil
}

// Header returns what the checkers are told about this world.
func (w *World) Header() history.Header { return w.cfg.Header() }

// Lines returns the trace of the last run if it was kept; valid until the
// next run.
func (w *World) Lines() []Line { return w.log }

// Close gives back what a world that is no longer used holds on to.
func (w *World) Close() { w.k.Close() }

// Options of a run.
type Options struct {
	Weather uint64
	Sink    Sink // may be nil
	Trace   bool // keep the lines of the trace
	Past    bool // keep what Past returns
	// Steps is filled with what the run did inside, for a judge that knows the
	// protocol; nil keeps none.
	Steps *history.Steps
}

// Run makes one run with the choices of the chooser.
func (w *World) Run(chooser Chooser, opt Options) *Result {
	w.reset(chooser, opt)
	if err := w.cfg.Empty(); err != nil {
		w.find(StoreFinding, plan.Registry, err.Error(), "")
		return &w.res
	}
	for i, p := range w.procs {
		w.boot(p)
		if p.id.Kind() == plan.Client {
			w.working++
			w.k.Schedule(0, evStart, int32(i), 0)
		}
	}
	w.k.Schedule(w.heal, evHeal, 0, 0)
	for w.over = false; !w.over; {
		w.k.Run(w)
		w.settle()
	}
	w.finish()
	return &w.res
}

// Next lets events happen until one of them lets a run go on, and returns its
// coroutine; nil when processes are to die, or the run of the world is over.
// The kernel calls it on the stack of the coroutine that has parked last.
func (w *World) Next() *kernel.Coroutine {
	for w.res.Finding == nil && len(w.deaths) == 0 {
		e, ok := w.k.Next()
		if !ok {
			break
		}
		if e.At > w.limit {
			w.res.Limit = true
			break
		}
		w.events++
		if r := w.dispatch(e); r != nil {
			r.wake++
			w.current = r
			return r.co
		}
	}
	return nil
}

// settle does what must not happen on the stack of a coroutine: it lets
// processes die. The run is over if none was to.
func (w *World) settle() {
	w.over = len(w.deaths) == 0
	for len(w.deaths) > 0 {
		slot := w.deaths[len(w.deaths)-1]
		w.deaths = w.deaths[:len(w.deaths)-1]
		w.kill(w.procs[slot])
	}
	if w.k.Rogue() {
		w.find(GoroutineFinding, w.current.p.id, "code behind the ports started a goroutine; use the ports instead, one handler runs per request", "")
		w.over = true
	}
}

func (w *World) reset(chooser Chooser, opt Options) {
	w.k.Reset()
	w.net.Reset(w.timing.network(), opt.Weather)
	w.provider.Reset(w.cfg.Profile)
	w.records = w.records[:0]
	w.states.reset()
	w.replica = w.replica[:0]
	w.calls.reset()
	w.answers.reset()
	w.runs.reset()
	w.messages.reset()
	w.held = w.held[:0]
	w.asked.reset()
	w.chooser, w.sink, w.keep, w.steps = chooser, opt.Sink, opt.Trace, opt.Steps
	if w.steps != nil {
		w.steps.Reset()
	}
	w.log, w.untold = w.log[:0], w.untold[:0]
	w.hash = 1
	w.past.reset(opt.Past)
	deviations := w.res.Deviations[:0]
	w.res = Result{Deviations: deviations}
	w.healed, w.calm, w.heal = false, int64(w.cfg.Scenario.Calm), int64(w.cfg.Scenario.Chaos)
	c := &w.service
	// Long enough for a client that comes back past the horizon, and for its
	// record to be forgotten again.
	w.limit = w.heal + int64(3*(c.RetryHorizon+c.MessageLifetime+c.Retention+2*c.ProviderWindow)+5*c.Lease)
	w.working, w.sweepSeq, w.sweepAt = 0, 0, -1
	w.current, w.deaths = nil, w.deaths[:0]
	w.frozen, w.lagUntil = [2]int64{}, 0
	w.told, w.events, w.booting, w.marked = 0, 0, false, 0
	for i := range w.orders {
		o := &w.orders[i]
		o.since, o.journal, o.keysMade, o.paid = -1, o.Key, 0, false
	}
	for _, p := range w.procs {
		p.reset()
	}
}

// finish ends the run: whatever still waits is taken down, without a trace.
func (w *World) finish() {
	w.mark(MarkEnd, 0, 0, 0, 0, uint64(len(w.records)))
	w.tellOf(history.KindEnd, "", "")
	w.tellAll()
	w.res.Virtual = time.Duration(w.k.Now())
	w.res.Events = w.events
	w.res.Hash = uint64(w.hash)
	if w.k.Rogue() {
		return // the kernel is lost; nothing on it may run again
	}
	for _, p := range w.procs {
		for _, r := range p.live {
			w.current = r
			if w.k.Kill(r.co) == kernel.Abandoned {
				w.findUndead(p)
			}
		}
		p.live = p.live[:0]
	}
	w.current = nil
}

func (w *World) find(kind string, who plan.Process, message, detail string) {
	if w.res.Finding == nil {
		w.res.Finding = &Finding{kind, who.String(), strings.Join(strings.Fields(message), " "), detail}
	}
}

// background is the context of calls on the store: it never ends.
var background = context.Background()

// now returns the virtual time.
func (w *World) now() int64 { return w.k.Now() }

// mark adds a line to the trace.
func (w *World) mark(m Mark, who, peer plan.Process, step impl.Step, of plan.Attempt, value uint64) {
	at := w.k.Now()
	w.marked++
	w.hash.word(uint64(at)<<8 | uint64(m))
	place := uint64(who)<<56 | uint64(peer)<<48 | uint64(step)<<40 | uint64(of)
	w.hash.word(place)
	w.hash.word(value)
	if w.past.on {
		w.seeMark(m, place, value)
	}
	if w.keep {
		l := w.newLine()
		l.At, l.Mark, l.Who, l.Peer, l.Step, l.Attempt, l.Value = at, m, who, peer, step, of, value
	}
}

// newLine adds a line to the log, to be filled in where it lies: a copy of
// something so small costs more than all of its fields.
func (w *World) newLine() *Line {
	if len(w.log) == cap(w.log) {
		w.log = append(w.log, Line{})
	} else {
		w.log = w.log[:len(w.log)+1]
	}
	return &w.log[len(w.log)-1]
}

// event begins an event of the history. Nobody listens if it returns nil;
// otherwise it is filled in and told.
func (w *World) event(kind history.Kind, process string) *history.Event {
	if w.sink == nil {
		return nil
	}
	if len(w.untold) == cap(w.untold) {
		w.tellAll()
	}
	w.untold = w.untold[:len(w.untold)+1]
	e := &w.untold[len(w.untold)-1]
	*e = history.Event{}
	e.Kind, e.Process = kind, process
	return e
}

// tell sends the event that was begun last to the sink.
//
// It gets there when the run is over, or there are many: a judge and the
// world are more code than a processor keeps at hand, and would drive each
// other out at every event.
func (w *World) tell() {
	w.untold[len(w.untold)-1].At = time.Duration(w.k.Now())
	if w.keep {
		l := w.newLine()
		l.At, l.Mark, l.Who, l.Peer, l.Step, l.Attempt, l.Value = w.k.Now(), MarkHistory, 0, 0, 0, 0, uint64(w.told)
	}
	w.told++
}

// tellAll lets the sink have what it was not told yet.
func (w *World) tellAll() {
	for i := range w.untold {
		w.sink.Event(&w.untold[i])
	}
	w.untold = w.untold[:0]
}

// tellOf tells an event that has nothing but these to say.
func (w *World) tellOf(kind history.Kind, process, operation string) {
	if e := w.event(kind, process); e != nil {
		e.Operation = operation
		w.tell()
	}
}

// ask asks the chooser at a site. In the calm, and after healing, no site is
// asked, but it is counted, so that a site's name does not depend on the phase.
func (w *World) ask(what plan.What, who, peer plan.Process, step impl.Step, of plan.Attempt) (plan.Site, plan.Choice) {
	site := plan.NewSite(what, who, peer, step, of)
	if !w.asked.fresh(site) {
		site = w.asked.next(site)
	}
	if w.healed || w.calm > w.k.Now() && what != plan.WhatClock {
		return site, plan.Choice{}
	}
	w.res.Sites++
	menu := w.menus.at(what, who, peer, step)
	if len(menu) == 0 {
		return site, plan.Choice{}
	}
	c := w.chooser.Choose(site, menu)
	if c.Class != plan.ClassNone {
		w.deviate(site, c)
	}
	return site, c
}

// deviate notes a choice that is not benign.
func (w *World) deviate(site plan.Site, c plan.Choice) {
	w.res.Deviations = append(w.res.Deviations, plan.Deviation{Site: site, Choice: c})
	w.res.Chosen[c.Class]++
	w.mark(MarkChoice, site.Who(), site.Peer(), site.Step(), site.Attempt(), uint64(len(w.res.Deviations)-1))
	w.hash.word(uint64(c.Class)<<56 | uint64(c.Bound)<<48 | uint64(c.Step)<<40 | uint64(c.Who)<<32)
	w.hash.word(uint64(c.By))
	w.seeChoice(site, c)
}

// took counts that a fault took effect.
func (w *World) took(c plan.Class) {
	if c != plan.ClassNone {
		w.res.Effective[c]++
	}
}

// met counts a situation.
func (w *World) met(s Situation) { w.res.Situations[s]++ }

func (w *World) process(id plan.Process) *process {
	if s := w.slots[id]; s >= 0 {
		return w.procs[s]
	}
	return nil
}

// dispatch lets one event happen. It returns the run that is to go on now, if
// any.
func (w *World) dispatch(e kernel.Event) *run {
	switch e.Kind() {
	case evDeliver:
		return w.deliver(w.messages.at(e.A), e)
	case evTimeout:
		return w.timeout(w.calls.at(e.A), e)
	case evResume:
		if r := w.runs.at(e.A); r.wake == e.B && !w.postpone(r.p, e) {
			return r
		}
	case evRelease:
		w.release(e.A, false)
	case evRestart:
		return w.restart(w.procs[e.A])
	case evStart:
		if p := w.procs[e.A]; p.up && !w.postpone(p, e) {
			return w.spawnClient(p)
		}
	case evSweep:
		if p := w.procs[e.A]; e.B == w.sweepSeq && !w.postpone(p, e) {
			w.sweepAt = -1
			return w.sweep(p)
		}
	case evLand:
		w.landLate(w.calls.at(e.A))
	case evHeal:
		w.healAll()
	}
	return nil
}

// postpone puts an event of a process that stands still off until it goes on.
func (w *World) postpone(p *process, e kernel.Event) bool {
	if p.pausedUntil <= w.k.Now() {
		return false
	}
	w.k.Schedule(p.pausedUntil, e.Kind(), e.A, e.B)
	return true
}

// healAll ends the chaos: everything up, links whole, no new faults. Messages
// that are held keep their time.
func (w *World) healAll() {
	w.healed = true
	w.net.Heal()
	w.mark(MarkHeal, 0, 0, 0, 0, 0)
	w.tellOf(history.KindHeal, "", "")
}
