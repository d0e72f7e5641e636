package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/kernel"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// ExhaustiveOptions bound an exhaustive search.
type ExhaustiveOptions struct {
	Subject    Subject
	Deviations int // search all plans with at most so many
	Target     invariant.Name
	Workers    int // 0: one for each processor
	Open       OpenStore
	Budget     int // stop after so many runs, undecided; 0 is no bound
	Resume     *Cursor
	Progress   func(Layer)
	Again      int // every Again-th plan runs twice; 0 is 1024
}

// Cursor says how far a search has come: every layer below Layer is done,
// and of that layer the units below Unit.
type Cursor struct {
	Layer int
	Unit  int
	Plans int // run so far
}

// Layer is all plans with a number of deviations.
type Layer struct {
	Deviations int
	Plans      int // how many there are; exact
	Done       int // how many were run
	Elapsed    time.Duration
}

// Proof is what an exhaustive search came to.
type Proof struct {
	Verdict   Verdict
	Reason    string
	Layers    []Layer
	Plans     int // run in all
	Complete  bool
	Elapsed   time.Duration // wall time; not reproducible
	Violation *Violation    // the first of the smallest
	Finding   *sim.Finding
	FindingAt *plan.Plan
	Next      Cursor // where to resume
}

// Sentence says what was shown.
func (p *Proof) Sentence(s *Subject) string {
	if p.Violation != nil {
		return fmt.Sprintf("a plan of %d deviations violates %v; no plan with fewer deviations violates", len(p.Violation.Plan.Deviations), p.Violation.Invariant)
	}
	k := -1
	for _, l := range p.Layers {
		if l.Done == l.Plans {
			k = l.Deviations
		}
	}
	return fmt.Sprintf("no plan of at most %d deviations violates", k)
}

// asked is a site that a run came by after its last deviation.
type asked struct {
	site plan.Site
	menu []plan.Choice
}

// branches is a chooser that follows a plan and notes where it could go on.
type branches struct {
	plan  []plan.Deviation
	met   int
	after []asked
	note  bool
}

func (b *branches) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	if b.met < len(b.plan) {
		if b.plan[b.met].Site == site { // deviations stand in the order in which they are met
			b.met++
			return b.plan[b.met-1].Choice
		}
		return plan.Choice{}
	}
	if b.note {
		b.after = append(b.after, asked{site, menu})
	}
	return plan.Choice{}
}

// offers returns how many plans extend the one that was followed, by one
// deviation each. Durations are not enumerated: a hold by a duration lies
// between two of the named holds.
func (b *branches) offers() (n int) {
	for i := range b.after {
		n += choices(b.after[i].menu)
	}
	return n
}

func choices(menu []plan.Choice) (n int) {
	for i := range menu {
		if menu[i].Bound != plan.BoundBy {
			n++
		}
	}
	return n
}

// Exhaust runs every plan with at most the given number of deviations, each
// once, by layers: a plan is extended only at sites that its run met after
// its last deviation, so that its parent is unique. The first violation is a
// smallest one, and the first in the order of the sites.
func Exhaust(ctx context.Context, opt ExhaustiveOptions) (*Proof, error) {
	if opt.Deviations < 0 {
		return nil, errors.New("search: want at least 0 deviations")
	}
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.Again == 0 {
		opt.Again = 1024
	}
	p := &Proof{Verdict: Held, Complete: true}
	began := time.Now()
	defer func() { p.Elapsed = time.Since(began) }()
	from := Cursor{}
	if opt.Resume != nil {
		from = *opt.Resume
		p.Plans = from.Plans
	}
	plans := 1 // of the present layer; the search of one layer counts the next
	for k := 0; k <= opt.Deviations; k++ {
		l := &layer{opt: &opt, k: k, ctx: ctx, began: time.Now(), plans: plans, before: p.Plans}
		if k < from.Layer {
			if k == from.Layer-1 {
				l.countOnly = true
				if err := l.run(0); err != nil {
					return nil, err
				}
				plans = int(l.next.Load())
			}
			continue
		}
		unit := 0
		if k == from.Layer {
			unit = from.Unit
		}
		if err := l.run(unit); err != nil {
			return nil, err
		}
		p.Plans += int(l.done.Load())
		p.Layers = append(p.Layers, Layer{Deviations: k, Plans: plans, Done: int(l.done.Load()), Elapsed: time.Since(l.began)})
		p.Next = Cursor{Layer: k, Unit: l.firstOpen(), Plans: p.Plans}
		if found := l.found(); found != nil {
			return p, l.tell(p, found)
		}
		if l.cut.Load() {
			p.Verdict, p.Complete = Undecided, false
			p.Reason = fmt.Sprintf("stopped in the layer of %d deviations after %d of its %d plans", k, l.done.Load(), plans)
			return p, nil
		}
		plans = int(l.next.Load())
		p.Next = Cursor{Layer: k + 1, Plans: p.Plans}
	}
	return p, nil
}

// layer runs all plans with exactly k deviations.
type layer struct {
	opt       *ExhaustiveOptions
	ctx       context.Context
	k         int
	plans     int
	before    int
	began     time.Time
	countOnly bool

	unit  atomic.Int64 // next unit: a first deviation
	limit atomic.Int64 // units from here on are not needed
	done  atomic.Int64 // plans of this layer that were run
	next  atomic.Int64 // plans of the next layer
	cut   atomic.Bool  // stopped early

	mu    sync.Mutex
	over  map[int]bool  // units that are done
	stops map[int]*stop // by unit
}

// run works through the units from one on.
func (l *layer) run(from int) error {
	l.over, l.stops = map[int]bool{}, map[int]*stop{}
	for u := range from {
		l.over[u] = true
	}
	l.unit.Store(int64(from))
	l.limit.Store(1 << 62)
	workers := l.opt.Workers
	if l.k == 0 {
		workers = 1
	}
	var crew sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		kernel.Elsewhere(func() { crew.Go(func() { errs[i] = l.work(i == 0) }) })
	}
	crew.Wait()
	return errors.Join(errs...)
}

// digger is one worker of a layer.
type digger struct {
	*layer
	a      *arena
	fresh  func() (*arena, error)
	follow branches
	plan   []plan.Deviation
	levels [][]asked // by depth: where its plan could go on
	count  int
	report bool
}

func (l *layer) work(report bool) error {
	registry, empty, shut, err := l.opt.Open()
	if err != nil {
		return err
	}
	defer shut()
	d := &digger{layer: l, fresh: func() (*arena, error) { return newArena(l.opt.Subject, registry, empty) }, levels: make([][]asked, l.k+1), report: report}
	if d.a, err = d.fresh(); err != nil {
		return err
	}
	defer func() { d.a.world.Close() }()
	if l.k == 0 {
		l.end(0, d.leaf())
		return nil
	}
	d.step(0, true) // the root's branches are the units
	root := d.levels[0]
	units := 0
	for i := range root {
		units += choices(root[i].menu)
	}
	for {
		u := l.unit.Add(1) - 1
		if u >= int64(units) || u >= l.limit.Load() || l.stopped() {
			return nil
		}
		d.plan = append(d.plan[:0], nth(root, int(u)))
		s := d.dig(1)
		if s == nil && l.stopped() {
			return nil
		}
		l.end(int(u), s)
	}
}

// nth returns the n-th deviation that a list of branches offers.
func nth(after []asked, n int) plan.Deviation {
	for i := range after {
		for _, c := range after[i].menu {
			if c.Bound == plan.BoundBy {
				continue
			}
			if n == 0 {
				return plan.Deviation{Site: after[i].site, Choice: c}
			}
			n--
		}
	}
	panic("search: there is no such branch")
}

func (l *layer) stopped() bool {
	if l.ctx.Err() != nil || l.opt.Budget > 0 && l.before+int(l.done.Load()) >= l.opt.Budget {
		l.cut.Store(true)
	}
	return l.cut.Load()
}

// end notes that a unit is over.
func (l *layer) end(unit int, s *stop) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over[unit] = true
	if s != nil {
		l.stops[unit] = s
		if int64(unit) < l.limit.Load() {
			l.limit.Store(int64(unit))
		}
	}
}

func (l *layer) firstOpen() int {
	for u := 0; ; u++ {
		if !l.over[u] {
			return u
		}
	}
}

// found returns the stop of the first unit that has one.
func (l *layer) found() *stop {
	first := -1
	for u := range l.stops {
		if first < 0 || u < first {
			first = u
		}
	}
	if first < 0 {
		return nil
	}
	return l.stops[first]
}

// step runs the plan so far, and notes its branches at a depth if asked to.
func (d *digger) step(depth int, note bool) *sim.Result {
	for try := 1; ; try++ {
		d.follow = branches{plan: d.plan, note: note, after: d.levels[depth][:0]}
		res := d.a.run(&d.follow, how{})
		d.levels[depth] = d.follow.after
		if res.Finding == nil || res.Finding.Kind != sim.GoroutineFinding || try == goroutineTries {
			return res
		}
		a, err := d.fresh()
		if err != nil {
			return res
		}
		d.a = a
	}
}

// dig runs all plans of the layer that begin with the plan so far.
func (d *digger) dig(depth int) *stop {
	if depth == d.k {
		return d.leaf()
	}
	d.step(depth, true)
	for i := 0; i < len(d.levels[depth]); i++ {
		at := d.levels[depth][i]
		for _, c := range at.menu {
			if c.Bound == plan.BoundBy {
				continue
			}
			d.plan = append(d.plan[:depth], plan.Deviation{Site: at.site, Choice: c})
			if s := d.dig(depth + 1); s != nil || d.cut.Load() {
				return s
			}
		}
	}
	d.plan = d.plan[:depth]
	return nil
}

// leaf runs a plan of the layer, judges it, and counts what extends it.
func (d *digger) leaf() *stop {
	if d.count++; d.count%64 == 0 {
		if d.stopped() {
			return nil
		}
		if d.report && d.opt.Progress != nil && d.count%8192 == 0 {
			d.opt.Progress(Layer{Deviations: d.k, Plans: d.plans, Done: int(d.done.Load()), Elapsed: time.Since(d.began)})
		}
	}
	res := d.step(d.k, d.k < d.opt.Deviations)
	d.next.Add(int64(d.follow.offers()))
	if d.countOnly {
		return nil
	}
	n := d.done.Add(1)
	broke := d.a.worst() != nil && (d.opt.Target == 0 || d.a.broke(d.opt.Target))
	if res.Finding == nil && !broke && int(n)%d.opt.Again != 0 {
		return nil
	}
	s := &stop{weather: 0, deviations: append([]plan.Deviation(nil), d.plan...)}
	s.plan = d.opt.Subject.Plan(0, s.deviations)
	switch {
	case res.Finding != nil:
		s.finding = res.Finding
		return s
	case broke:
		return s
	}
	if first, again := res.Hash, d.a.replay(0, s.deviations, how{}); again.Hash != first {
		s.verdict = Nondeterministic
		s.reason = fmt.Sprintf("the same plan gave the traces %016x and %016x", first, again.Hash)
		return s
	}
	return nil
}

// tell turns what was found into the proof's verdict.
func (l *layer) tell(p *Proof, s *stop) error {
	p.Complete = false
	c := campaign{opt: Options{Subjects: []Subject{l.opt.Subject}, Open: l.opt.Open, Target: l.opt.Target}}
	var r Report
	if err := c.explain(&r, s); err != nil {
		return err
	}
	p.Verdict, p.Reason, p.Violation, p.Finding, p.FindingAt = r.Verdict, r.Reason, r.Violation, r.Finding, r.FindingAt
	return nil
}
