package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// ExhaustiveOptions bound an exhaustive search.
type ExhaustiveOptions struct {
	Subject    Subject
	Deviations int            // run all plans with at most so many
	Target     invariant.Name // only its fall counts; 0 is any invariant
	Workers    int            // 0: one for each processor
	Open       OpenStore
	Budget     int     // stop after so many plans of this call, undecided; 0 is no bound
	Resume     *Cursor // from an earlier search of the same subject and target; nil begins
	// Progress is called now and then from one of the workers; may be nil.
	Progress func(Layer, Cursor)
	// Again is how rarely a plan is run a second time, in another world: about
	// every Again-th; 0 is 1024.
	Again int

	seen  func([]plan.Deviation, *arena) // for tests: every plan that was run, and where
	whole bool                           // for tests: run what another run stands for, too
}

// Cursor says how far a search has come. The layers below Layer are done, of
// that layer the units below Unit, and of that unit the first Skip plans: a
// unit is all plans of the layer with the same first deviation.
type Cursor struct {
	Layer, Unit, Skip int
	Plans             int // run in all layers, up to here
	Of                int // plans of the layer
	Done              int // those of them that lie before the cursor
	Pruned            int // plans with as many deviations that are none of the layer: others stand for them
	PrunedBelow       int // such plans of the layers below
	Next              int // plans of the layer after it that extend those
	NextPruned        int // and those that are none of it
}

// begin is the cursor of a search that has not begun: there is one plan
// without deviations.
func begin() Cursor { return Cursor{Of: 1} }

// Layer is all plans with a number of deviations.
type Layer struct {
	Deviations int
	Plans      int // how many there are to run; exact
	Pruned     int // how many more extend plans of the layer below, and come to what others come to
	Done       int // how many were run; where a plan violates, up to that one
	Elapsed    time.Duration
}

// Proof is what an exhaustive search came to.
type Proof struct {
	Target    invariant.Name // as asked; 0 is any
	Verdict   Verdict
	Reason    string        // one sentence for undecided, nondeterministic and findings
	Layers    []Layer       // those of this call
	Plans     int           // run in all, earlier calls included
	Pruned    int           // not run in the layers that were begun, as others stand for them; what extends them is not counted
	Complete  bool          // every plan within the bound was run
	Effective sim.Counts    // how often each class took effect, in this call
	Elapsed   time.Duration // wall time of this call; not reproducible
	Violation *Violation    // the first of the smallest
	Finding   *sim.Finding
	FindingAt *plan.Plan
	// Next is where to resume. Unless a plan violates, its Of is the exact
	// number of plans of the layer that comes next.
	Next Cursor
}

// Held returns up to how many deviations all plans were run and held, -1 if
// not even the one without any.
func (p *Proof) Held() int { return p.Next.Layer - 1 }

// Sentence says what was shown, as a theorem about the code that was run.
func (p *Proof) Sentence(s *Subject) string {
	what := "any invariant"
	if p.Target != 0 {
		what = p.Target.String()
	}
	k := p.Held()
	if k < 0 {
		return "nothing is shown: not all plans without deviations were run"
	}
	sentence := fmt.Sprintf("no plan of at most %d deviations out of %s, each at any site that its run comes by while faults may happen, violates %s",
		k, s.classNames(), what)
	if n := p.Next.PrunedTo(k); n > 0 {
		sentence += fmt.Sprintf(" (%d plans, and all that extend them, were not run: each goes on from the very state of one that was)", n)
	}
	return sentence
}

// PrunedTo is how many plans with at most so many deviations were not to be
// run in the layers that were begun, as others stand for them.
func (c *Cursor) PrunedTo(deviations int) int {
	if c.Layer > deviations {
		return c.PrunedBelow
	}
	return c.PrunedBelow + c.Pruned
}

func (s *Subject) classNames() string {
	var all []string
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if s.Classes[c] {
			all = append(all, c.String())
		}
	}
	if len(all) == 0 {
		return "no class"
	}
	return strings.Join(all, ", ")
}

// asked is a site that a run came by after its last deviation.
type asked struct {
	site  plan.Site
	menu  []plan.Choice
	state uint64 // of the run, unsettled if something is left of its choices
}

// branches is a chooser that follows a plan and notes where it could go on.
type branches struct {
	plan  []plan.Deviation // in the order in which they are met
	met   int
	world *sim.World
	after []asked
}

// Choose answers with the plan, and benign everywhere else.
func (b *branches) Choose(site plan.Site, menu []plan.Choice) plan.Choice {
	if b.met < len(b.plan) {
		if b.plan[b.met].Site == site {
			b.met++
			return b.plan[b.met-1].Choice
		}
		return plan.Choice{}
	}
	state := uint64(unsettled)
	if seen, settled := b.world.Past(); settled {
		state = plan.Mix(seen^plan.Mix(uint64(site))) | 1
	}
	b.after = append(b.after, asked{site, menu, state})
	return plan.Choice{}
}

// offers is how many deviations sites offer.
func offers(after []asked) (n int) {
	for i := range after {
		n += choices(after[i].menu)
	}
	return n
}

// enumerated reports whether a choice is one of those that are tried. A hold
// by a duration is not: there is no end of them, and each lies between two of
// the named holds.
func enumerated(c *plan.Choice) bool { return c.Bound != plan.BoundBy }

// choices counts the choices of a menu that are tried. A menu is in the order
// of the classes, and only a hold can be by a duration.
func choices(menu []plan.Choice) int {
	for i := range menu {
		if !enumerated(&menu[i]) {
			return len(menu) - 1
		}
		if menu[i].Class > plan.ClassHold {
			break
		}
	}
	return len(menu)
}

// Exhaust runs every plan with at most the given number of deviations, each
// once, by layers: a plan is extended only at sites that its run came by
// after its last deviation, so that the plan which it extends is unique. From
// where its run is in the same state as that of a plan which differs in its
// last deviation alone, or has none there, it is not extended at all: what the
// extensions come to, those of the other do. The first violation is a smallest
// one, and of those the first in the order of the sites, whatever the number
// of workers.
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
	began := time.Now()
	p := &Proof{Target: opt.Target, Verdict: Held, Complete: true, Next: begin()}
	defer func() { p.Elapsed, p.Pruned = time.Since(began), p.Next.PrunedTo(opt.Deviations) }()
	if opt.Resume != nil {
		p.Next = *opt.Resume
	}
	p.Plans = p.Next.Plans
	first := p.Plans
	var roots roots
	for p.Next.Layer <= opt.Deviations {
		if p.Next.Of == 0 { // no plan has so many deviations
			p.Next.Layer++
			continue
		}
		l := newLayer(ctx, &opt, p.Next, p.Plans-first)
		l.roots = &roots
		if err := l.run(); err != nil {
			return nil, err
		}
		p.Layers = append(p.Layers, l.summary())
		add(&p.Effective, &l.effective)
		if found := l.found(); found != nil {
			p.Plans = l.from.Plans - l.from.Done + l.summary().Done
			return p, l.tell(p, found)
		}
		p.Next = l.cursor()
		p.Plans = p.Next.Plans
		if l.cut.Load() {
			done := l.summary().Done
			p.Plans += done - p.Next.Done
			p.Verdict, p.Complete = Undecided, false
			p.Reason = fmt.Sprintf("stopped after %d of the %d plans with %s", done, l.from.Of, Deviations(l.from.Layer))
			return p, nil
		}
		p.Next = Cursor{Layer: p.Next.Layer + 1, Plans: p.Plans, Of: p.Next.Next, Pruned: p.Next.NextPruned, PrunedBelow: p.Next.PrunedBelow + p.Next.Pruned}
	}
	return p, nil
}

// Deviations says how many deviations, in words.
func Deviations(n int) string {
	if n == 1 {
		return "1 deviation"
	}
	return fmt.Sprintf("%d deviations", n)
}

// Root is a checksum of where a search of the subject begins: of the run
// without deviations and of what may deviate in it. A cursor is good only for
// a search with the same root.
func Root(s Subject, open OpenStore) (uint64, error) {
	registry, empty, shut, err := open()
	if err != nil {
		return 0, err
	}
	defer shut()
	a, err := newArena(s, registry, empty)
	if err != nil {
		return 0, err
	}
	defer a.world.Close()
	b := branches{world: a.world}
	sum := plan.Mix(a.run(&b, how{}).Hash)
	for i := range b.after {
		sum = plan.Mix(sum ^ uint64(b.after[i].site))
		for _, c := range b.after[i].menu {
			sum = plan.Mix(sum ^ uint64(c.Class)<<48 ^ uint64(c.Bound)<<32 ^ uint64(c.Step)<<16 ^ uint64(c.Who))
		}
	}
	return sum, nil
}
