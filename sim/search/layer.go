package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/kernel"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// layer runs all plans with the same number of deviations.
type layer struct {
	opt   *ExhaustiveOptions
	ctx   context.Context
	from  Cursor
	spent int // plans of this call in the layers before
	roots *roots
	began time.Time

	unit    atomic.Int64 // the next to take
	limit   atomic.Int64 // units from here on are not needed
	started atomic.Int64 // plans of this call in this layer
	cut     atomic.Bool  // stopped early

	mu        sync.Mutex
	units     map[int]*unit
	effective sim.Counts
}

// unit is what the plans of a layer with the same first deviation came to.
type unit struct {
	done         int
	next, pruned int // plans of the next layer
	effective    sim.Counts
	over         bool
	stop         *stop
}

func newLayer(ctx context.Context, opt *ExhaustiveOptions, from Cursor, spent int) *layer {
	l := &layer{ctx: ctx, opt: opt, from: from, spent: spent, began: time.Now(), units: map[int]*unit{}}
	l.unit.Store(int64(from.Unit))
	l.limit.Store(1 << 62)
	return l
}

// run works through the units.
func (l *layer) run() error {
	workers := l.opt.Workers
	if l.from.Layer == 0 {
		workers = 1
	} else if err := l.meet(); err != nil {
		return err
	}
	var crew sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		kernel.Elsewhere(func() { crew.Go(func() { errs[i] = l.work(i == 0) }) })
	}
	crew.Wait()
	return errors.Join(errs...)
}

// summary is the layer for people. Where a unit was stopped, those before it
// are counted and its own plans up to that one.
func (l *layer) summary() Layer {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Layer{Deviations: l.from.Layer, Plans: l.from.Of, Pruned: l.from.Pruned, Done: l.from.Done, Elapsed: time.Since(l.began)}
	first := l.first()
	for at, u := range l.units {
		if first < 0 || at <= first {
			s.Done += u.done
		}
	}
	return s
}

// cursor says where to resume: at the first plan that was not run.
func (l *layer) cursor() Cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.from
	for {
		u := l.units[c.Unit]
		if u == nil {
			return c
		}
		c.Done += u.done
		c.Plans += u.done
		c.Next += u.next
		c.NextPruned += u.pruned
		if !u.over {
			c.Skip += u.done
			return c
		}
		c.Unit, c.Skip = c.Unit+1, 0
	}
}

// first is the number of the first unit that was stopped, -1 if none was.
func (l *layer) first() int {
	first := -1
	for at, u := range l.units {
		if u.stop != nil && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// found returns why the first unit that was stopped was, nil if none was.
func (l *layer) found() *stop {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.first(); first >= 0 {
		return l.units[first].stop
	}
	return nil
}

// digger is one worker of a layer.
type digger struct {
	*layer
	a, other *arena // other is for second runs
	fresh    func() (*arena, error)
	follow   branches
	plan     []plan.Deviation
	levels   [][]asked // by depth: where its plan could go on
	kin      []kin     // by depth: the runs of the plans of that depth that extend one
	number   int       // of the unit
	unit     *unit
	skip     int  // plans of the unit that an earlier call has run
	ended    bool // the unit must be left as it is
	count    int
	reports  bool
}

// newDigger returns a worker and how to end it.
func (l *layer) newDigger() (d *digger, end func(), err error) {
	registry, empty, shut, err := l.opt.Open()
	if err != nil {
		return nil, nil, err
	}
	d = &digger{
		layer: l, levels: make([][]asked, l.from.Layer+1), kin: make([]kin, l.from.Layer+1),
		fresh: func() (*arena, error) { return newArena(l.opt.Subject, registry, empty) },
	}
	if d.a, err = d.fresh(); err != nil {
		return nil, nil, errors.Join(err, shut())
	}
	if d.other, err = d.fresh(); err != nil {
		d.a.world.Close()
		return nil, nil, errors.Join(err, shut())
	}
	return d, func() { d.a.world.Close(); d.other.world.Close(); _ = shut() }, nil
}

// roots are what the run without deviations comes by, and for each deviation
// there, which begins a unit, how far the plan of it alone is to be extended.
type roots struct {
	after []asked
	cuts  []int
}

// meet makes the runs with one deviation, to know which units are alike. All
// layers have the same.
func (l *layer) meet() error {
	if l.roots.cuts != nil {
		return nil
	}
	d, end, err := l.newDigger()
	if err != nil {
		return err
	}
	defer end()
	d.step(0)
	l.roots.after = slices.Clone(d.levels[0])
	d.begin(0)
	for u := 0; ; u++ {
		deviation, ok := nth(l.roots.after, u)
		if !ok {
			return nil
		}
		d.plan = append(d.plan[:0], deviation)
		d.step(1)
		l.roots.cuts = append(l.roots.cuts, d.join(1))
	}
}

func (l *layer) work(reports bool) error {
	d, end, err := l.newDigger()
	if err != nil {
		return err
	}
	defer end()
	d.reports = reports
	if l.from.Layer == 0 {
		d.take(0, nil)
		return nil
	}
	for {
		u := l.unit.Add(1) - 1
		deviation, ok := nth(l.roots.after, int(u))
		if !ok || u >= l.limit.Load() || l.stopped() {
			return nil
		}
		d.take(int(u), &deviation)
	}
}

// take runs a unit: all plans that begin with a deviation.
func (d *digger) take(number int, first *plan.Deviation) {
	d.number, d.unit, d.ended, d.plan = number, &unit{}, false, d.plan[:0]
	d.skip = 0
	if number == d.from.Unit {
		d.skip = d.from.Skip
	}
	depth := 0
	if first != nil {
		d.plan, depth = append(d.plan, *first), 1
	}
	s := d.dig(depth)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unit.stop, d.unit.over = s, s == nil && !d.ended
	d.units[number] = d.unit
	add(&d.layer.effective, &d.unit.effective)
	if s != nil && int64(number) < d.limit.Load() {
		d.limit.Store(int64(number))
	}
}

// nth returns the n-th deviation that a list of sites offers.
func nth(after []asked, n int) (d plan.Deviation, ok bool) {
	for i := range after {
		menu := after[i].menu
		if here := choices(menu); n >= here {
			n -= here
			continue
		}
		for j := range menu {
			if !enumerated(&menu[j]) {
				continue
			}
			if n == 0 {
				return plan.Deviation{Site: after[i].site, Choice: menu[j]}, true
			}
			n--
		}
	}
	return d, false
}

// stopped reports whether the layer must end before it is done.
func (l *layer) stopped() bool {
	if l.ctx.Err() != nil {
		l.cut.Store(true)
	}
	return l.cut.Load()
}

// step runs the plan so far and notes where it could go on.
func (d *digger) step(depth int) *sim.Result {
	for try := 1; ; try++ {
		d.follow = branches{plan: d.plan, world: d.a.world, after: d.levels[depth][:0]}
		res := d.a.run(&d.follow, how{past: true, skip: depth < d.from.Layer || d.unit == nil})
		d.levels[depth] = d.follow.after
		if res.Finding == nil || res.Finding.Kind != sim.GoroutineFinding || try == goroutineTries {
			return res
		}
		a, err := d.fresh()
		if err != nil {
			return res
		}
		d.a.world.Close()
		d.a = a
	}
}

// begin makes the run that was made last the first of those that are compared
// with the runs of the plans that extend its own.
func (d *digger) begin(depth int) {
	seen, _ := d.a.world.Past()
	d.kin[depth+1].reset()
	d.kin[depth+1].join(d.levels[depth], seen)
}

// join returns how many of the sites of the run that was made last, of that
// depth, its plan is to be extended at.
func (d *digger) join(depth int) int {
	switch {
	case d.opt.whole || depth == 0:
		return len(d.levels[depth])
	case depth == 1 && d.unit != nil:
		return d.roots.cuts[d.number]
	}
	seen, _ := d.a.world.Past()
	return d.kin[depth].join(d.levels[depth], seen)
}

// dig runs all plans of the layer that begin with the plan so far.
func (d *digger) dig(depth int) *stop {
	if depth == d.from.Layer {
		return d.leaf()
	}
	d.step(depth)
	sites := d.join(depth)
	if depth == d.from.Layer-1 {
		// All plans that a run before this call has come to need not be made
		// again, unless one of them is like one of those to come.
		if n := offers(d.levels[depth][:sites]); n <= d.skip {
			d.skip -= n
			return nil
		}
	}
	d.begin(depth)
	for i := range sites {
		at := d.levels[depth][i]
		for j := range at.menu {
			if !enumerated(&at.menu[j]) {
				continue
			}
			d.plan = append(d.plan[:depth], plan.Deviation{Site: at.site, Choice: at.menu[j]})
			if s := d.dig(depth + 1); s != nil || d.ended {
				return s
			}
		}
	}
	d.plan = d.plan[:depth]
	return nil
}

// permitted reports whether one more plan may be run.
func (d *digger) permitted() bool {
	if n := d.started.Add(1); d.opt.Budget > 0 && d.spent+int(n) > d.opt.Budget {
		d.cut.Store(true)
		return false
	}
	if d.count++; d.count%64 != 0 {
		return !d.cut.Load()
	}
	if d.reports && d.count%4096 == 0 && d.opt.Progress != nil {
		d.opt.Progress(Layer{
			Deviations: d.from.Layer, Plans: d.from.Of, Done: d.from.Done + int(d.started.Load()) - 1, Elapsed: time.Since(d.began),
		}, d.cursor())
	}
	return !d.stopped() && int64(d.number) < d.limit.Load()
}

// leaf runs a plan of the layer, judges it, and counts what extends it.
func (d *digger) leaf() *stop {
	if d.skip > 0 {
		d.skip--
		d.step(d.from.Layer)
		d.join(d.from.Layer)
		return nil
	}
	if !d.permitted() {
		d.ended = true
		return nil
	}
	res := d.step(d.from.Layer)
	after := d.levels[d.from.Layer]
	sites := d.join(d.from.Layer)
	d.unit.done++
	d.unit.next += offers(after[:sites])
	d.unit.pruned += offers(after[sites:])
	add(&d.unit.effective, &res.Effective)
	if d.opt.seen != nil {
		d.opt.seen(d.plan, d.a)
	}
	broke := d.a.worst() != nil && (d.opt.Target == 0 || d.a.broke(d.opt.Target))
	ends := !res.Limit || d.a.worst() != nil
	if res.Finding == nil && !broke && ends && d.from.Layer > 0 && plan.Mix(res.Hash)%uint64(d.opt.Again) != 0 {
		return nil
	}
	s := &stop{deviations: append([]plan.Deviation(nil), d.plan...)}
	s.plan = d.opt.Subject.Plan(0, s.deviations)
	switch {
	case res.Finding != nil:
		s.finding = res.Finding
		return s
	case broke:
		return s
	case !ends:
		s.verdict, s.reason = Undecided, restless
		return s
	}
	if first, again := res.Hash, d.other.replay(0, s.deviations, how{}); again.Hash != first && again.Finding == nil {
		s.verdict = Nondeterministic
		s.reason = fmt.Sprintf("the same plan gave the traces %016x and %016x", first, again.Hash)
		return s
	}
	return nil
}

// tell turns what was found into the proof's verdict.
func (l *layer) tell(p *Proof, s *stop) error {
	p.Complete = false
	if s.verdict != "" {
		p.Verdict, p.Reason, p.FindingAt = s.verdict, s.reason, s.plan
		return nil
	}
	c := campaign{opt: Options{Subjects: []Subject{l.opt.Subject}, Open: l.opt.Open, Target: l.opt.Target}}
	var r Report
	if err := c.explain(&r, s); err != nil {
		return err
	}
	p.Verdict, p.Reason, p.Violation, p.Finding, p.FindingAt = r.Verdict, r.Reason, r.Violation, r.Finding, r.FindingAt
	return nil
}
