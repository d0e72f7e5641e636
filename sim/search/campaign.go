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

// Options of a campaign.
type Options struct {
	Subjects []Subject // run i takes subject i modulo their number
	Runs     int       // how many; at least 1
	Seed     uint64
	Workers  int // 0: one for each processor
	Open     OpenStore
	// Strategy draws the runs; the zero value is the first of [Strategies].
	Strategy Strategy
	// Target is the invariant that is to fall: the campaign goes on past runs
	// in which only others do, and tells of the first of them if the target
	// holds to the end. 0 is any invariant.
	Target invariant.Name
	// Asked are classes that must take effect: if the campaign finds nothing
	// and one of them never did, it is vacuous.
	Asked []plan.Class
	// Again is how rarely a run is made a second time, from its plan and in
	// a fresh world: every Again-th; 0 is 256.
	Again int
	// Linearize is how rarely a run is also judged by the sequential
	// specification, and by the protocol model if its design claims to follow
	// it: every Linearize-th; 0 is 4. The violation that is told always is.
	Linearize int
	// Progress is called now and then from one goroutine, and when all runs are
	// made; may be nil.
	Progress func(Progress)
	// Patience is how long one run may take on the wall clock before it is
	// taken for stuck outside the ports; 0 is 20 s.
	Patience time.Duration
}

// Progress is how far a campaign is.
type Progress struct {
	Runs, Of   int
	Violations int // runs in which an invariant fell, which goes on past those that do not break the target
	Elapsed    time.Duration
}

// Verdict is what a campaign or a run came to.
type Verdict string

// The verdicts.
const (
	Held             Verdict = "held"
	Violated         Verdict = "violated"
	Undecided        Verdict = "undecided"
	Vacuous          Verdict = "vacuous"
	Nondeterministic Verdict = "nondeterministic"
)

// Report is what a campaign came to.
type Report struct {
	Verdict    Verdict
	Reason     string // one sentence for undecided, vacuous and nondeterministic
	Runs       int    // how many were made, the violating one included
	Planned    int
	Elapsed    time.Duration // wall time; not reproducible
	Chosen     sim.Counts
	Effective  sim.Counts
	Situations [sim.SituationCount]int
	HandedOver int // operations that ended with a person
	Refined    int // runs that were held against the protocol model
	Unjudged   int // operations in them that outgrew it, so that of their rest nothing is said
	Violation  *Violation
	Finding    *sim.Finding // the code under test broke the rules of the house
	FindingAt  *plan.Plan   // in this run
	First      *plan.Plan   // the plan of the first run
	Risk       *Risk        // what is left; only of a campaign that held and whose runs were independent draws
}

// Violation is a run that breaks an invariant, made small.
type Violation struct {
	invariant.Violation
	Run     int // its number in the campaign, from 1
	Subject *Subject
	Plan    *plan.Plan // 1-minimal, of a part of the subject's scenario, with Expect and Hash
	Sites   int        // of the run of the plan
	Found   int        // deviations before shrinking
	Others  []string   // other invariants that fall in the run of the plan
}

// RunsPerSecond is the campaign's rate on this machine.
func (r *Report) RunsPerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Runs) / r.Elapsed.Seconds()
}

// disagree begins the reason of a run that the checkers judge differently:
// one of them is wrong, so nothing is decided.
const disagree = "the checkers disagree: "

// restless is the reason of a run in which nothing fell and which was ended by
// its bound on virtual time: what would have come after it nobody knows.
const restless = "the run did not come to rest within its bound on virtual time"

// chunkSize is how many runs a worker takes at a time if they are independent
// draws.
const chunkSize = 64

// tally is what the runs of one chunk add up to.
type tally struct {
	runs       int
	chosen     sim.Counts
	effective  sim.Counts
	situations [sim.SituationCount]int
	handedOver int
	refined    int
	unjudged   int
	first      *plan.Plan
	panicked   *stop // the first run in which the code under test panicked
	last       met   // of the run before
	other      *stop // the first run that violates only what is not the target
	stop       *stop // the chunk ended here
}

// stop is why a chunk ended early.
type stop struct {
	run        int
	finding    *sim.Finding
	plan       *plan.Plan
	verdict    Verdict // nondeterministic, or undecided where the checkers disagree
	reason     string
	subject    int
	weather    uint64
	deviations []plan.Deviation
}

// Campaign makes runs until one violates or all are made. It returns an error
// only for options that make no sense.
func Campaign(ctx context.Context, opt Options) (*Report, error) {
	if opt.Runs < 1 {
		return nil, errors.New("search: want at least one run")
	}
	if len(opt.Subjects) == 0 {
		return nil, errors.New("search: there is nothing to run")
	}
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.Again == 0 {
		opt.Again = 256
	}
	if opt.Linearize == 0 {
		opt.Linearize = 4
	}
	if opt.Patience == 0 {
		opt.Patience = 20 * time.Second
	}
	if opt.Strategy.New == nil {
		opt.Strategy = Strategies[0]
	}
	c := &campaign{opt: opt, chunk: chunkSize, met: map[met]int{}, began: time.Now()}
	if !opt.Strategy.Independent() {
		c.chunk = lineageSize
	}
	c.tallies = make([]*tally, (opt.Runs+c.chunk-1)/c.chunk)
	c.limit.Store(int64(len(c.tallies)))
	var crew sync.WaitGroup
	workers := min(opt.Workers, len(c.tallies))
	errs := make([]error, workers)
	beats := make([]heartbeat, workers)
	for i := range workers {
		kernel.Elsewhere(func() { crew.Go(func() { errs[i] = c.work(ctx, &beats[i]) }) })
	}
	stuck := c.watch(&crew, beats)
	if stuck != nil {
		return c.reportStuck(stuck), nil
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c.report(ctx)
}

type campaign struct {
	opt     Options
	chunk   int          // runs that one worker makes from the first to the last
	next    atomic.Int64 // chunk
	limit   atomic.Int64 // chunks from here on are not needed
	done    atomic.Int64 // runs
	fell    atomic.Int64 // runs that violate
	mu      sync.Mutex   // guards tallies and met
	tallies []*tally
	met     map[met]int // how many runs met exactly these situations
	began   time.Time
}

// heartbeat tells the watchdog which run a worker is in.
type heartbeat struct {
	run atomic.Int64 // number of the run, from 1; 0 between runs
}

// work makes chunks of runs until there are no more.
func (c *campaign) work(ctx context.Context, beat *heartbeat) error {
	registry, empty, shut, err := c.opt.Open()
	if err != nil {
		return err
	}
	defer shut()
	crew := make([]*arena, len(c.opt.Subjects))
	defer func() {
		for _, a := range crew {
			if a != nil {
				a.world.Close()
			}
		}
	}()
	sources := make([]Source, len(c.opt.Subjects))
	together := map[met]int{}
	for ctx.Err() == nil {
		chunk := c.next.Add(1) - 1
		if chunk >= c.limit.Load() {
			return nil
		}
		for i := range sources {
			sources[i] = c.opt.Strategy.New()
		}
		clear(together)
		t := &tally{}
		for i := int(chunk) * c.chunk; i < min(int(chunk+1)*c.chunk, c.opt.Runs) && t.stop == nil; i++ {
			if ctx.Err() != nil || c.limit.Load() < chunk {
				break
			}
			at := i % len(c.opt.Subjects)
			if crew[at] == nil {
				if crew[at], err = newArena(c.opt.Subjects[at], registry, empty); err != nil {
					return err
				}
			}
			beat.run.Store(int64(i + 1))
			for try := 1; c.one(crew[at], sources[at], i, t, try); try++ {
				if crew[at], err = newArena(c.opt.Subjects[at], registry, empty); err != nil {
					return err
				}
			}
			together[t.last]++
			beat.run.Store(0)
			c.done.Add(1)
		}
		c.mu.Lock()
		c.tallies[chunk] = t
		for m, n := range together {
			c.met[m] += n
		}
		c.mu.Unlock()
		if t.stop != nil {
			for { // chunks after this one are not needed
				limit := c.limit.Load()
				if limit <= chunk+1 || c.limit.CompareAndSwap(limit, chunk+1) {
					break
				}
			}
		}
	}
	return nil
}

// goroutineTries is how often a run must start a goroutine before it is
// believed: the rest of the program may start one at the same instant.
const goroutineTries = 3

// one makes run i (from 0) and adds it to the tally. It reports whether it
// must be made again in a fresh world: a goroutine began, and nobody knows
// yet whose it is.
func (c *campaign) one(a *arena, source Source, i int, t *tally, try int) (doubt bool) {
	judgeAll := (i+1)%c.opt.Linearize == 0
	res, weather := a.draw(source, c.opt.Seed, uint64(i), how{record: judgeAll, skip: !judgeAll})
	if doubtful(res) && try < goroutineTries {
		return true
	}
	t.runs++
	worst := a.worst()
	if worst != nil {
		c.fell.Add(1)
	}
	t.last = metBy(res)
	add(&t.chosen, &res.Chosen)
	add(&t.effective, &res.Effective)
	for s, n := range res.Situations {
		t.situations[s] += n
	}
	t.handedOver += a.checker.HandedOver()
	t.unjudged += a.unjudged
	if a.held {
		t.refined++
	}
	end := func(s stop) *stop {
		s.run, s.subject, s.weather = i+1, i%len(c.opt.Subjects), weather
		s.deviations = append([]plan.Deviation(nil), res.Deviations...)
		s.plan = a.subject.Plan(weather, s.deviations)
		return &s
	}
	if i == 0 {
		t.first = a.subject.Plan(weather, res.Deviations)
	}
	switch {
	case res.Finding != nil && res.Finding.Kind == sim.PanicFinding:
		if t.panicked == nil { // a finding, and not the end of the campaign
			t.panicked = end(stop{finding: res.Finding})
		}
	case res.Finding != nil:
		t.stop = end(stop{finding: res.Finding})
	case res.Limit && worst == nil:
		t.stop = end(stop{verdict: Undecided, reason: restless})
	case worst == nil:
	case c.opt.Target == 0 || a.broke(c.opt.Target):
		t.stop = end(stop{})
	case t.other == nil:
		t.other = end(stop{})
	}
	if judgeAll && t.stop == nil && res.Finding == nil {
		if reason := a.disagreement(); reason != "" {
			t.stop = end(stop{verdict: Undecided, reason: disagree + reason})
		}
	}
	if t.stop == nil && (i+1)%c.opt.Again == 0 {
		if reason := c.again(a, weather, res); reason != "" {
			t.stop = end(stop{verdict: Nondeterministic, reason: reason})
		}
	}
	return false
}

func add(to, n *sim.Counts) {
	for i := range n {
		to[i] += n[i]
	}
}

// again makes a run a second time, from its plan and in a fresh world, and
// says how the two differ.
func (c *campaign) again(a *arena, weather uint64, first *sim.Result) string {
	hash, deviations := first.Hash, append([]plan.Deviation(nil), first.Deviations...)
	registry, empty, shut, err := c.opt.Open()
	if err != nil {
		return err.Error()
	}
	defer shut()
	fresh, err := newArena(a.subject, registry, empty)
	if err != nil {
		return err.Error()
	}
	defer fresh.world.Close()
	res := fresh.replay(weather, deviations, how{skip: true})
	switch {
	case res.Hash != hash:
		return fmt.Sprintf("the same plan gave trace %016x in a used world and %016x in a fresh one", hash, res.Hash)
	case len(fresh.fixed.Unmet()) > 0:
		return "a run from its own plan did not come by all of its sites"
	}
	return ""
}

// watch waits for the crew, reports progress, and finds a worker that does
// not get on.
func (c *campaign) watch(crew *sync.WaitGroup, beats []heartbeat) *int {
	finished := make(chan struct{})
	kernel.Elsewhere(func() { go func() { crew.Wait(); close(finished) }() })
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	tell := func() {
		if c.opt.Progress != nil {
			c.opt.Progress(Progress{Runs: int(c.done.Load()), Of: c.opt.Runs, Violations: int(c.fell.Load()), Elapsed: time.Since(c.began)})
		}
	}
	last := make([]int64, len(beats))
	since := make([]time.Time, len(beats))
	for {
		select {
		case <-finished:
			tell()
			return nil
		case now := <-tick.C:
			for i := range beats {
				run := beats[i].run.Load()
				if run != last[i] || run == 0 {
					last[i], since[i] = run, now
				} else if now.Sub(since[i]) > c.opt.Patience {
					stuck := int(run)
					return &stuck
				}
			}
			tell()
		}
	}
}

// reportStuck tells of a run that blocks outside the ports. Its worker is
// given up: it cannot be ended.
func (c *campaign) reportStuck(run *int) *Report {
	at := &c.opt.Subjects[(*run-1)%len(c.opt.Subjects)]
	return &Report{
		Verdict: Undecided, Planned: c.opt.Runs, Runs: int(c.done.Load()), Elapsed: time.Since(c.began),
		Reason:    fmt.Sprintf("run %d (scenario %s) did not get on for %v: code under test blocks outside the ports, for example on a mutex held across a port call; use the Locks port", *run, at.Scenario.Name, c.opt.Patience),
		Finding:   &sim.Finding{Kind: sim.BlockedFinding, Process: "unknown", Message: "code under test blocks outside the ports"},
		FindingAt: at.Plan(0, nil),
	}
}

// report adds the chunks up, in the order of their runs, and makes what was
// found small.
func (c *campaign) report(ctx context.Context) (*Report, error) {
	r := &Report{Verdict: Held, Planned: c.opt.Runs}
	complete := true
	var other *stop
	for _, t := range c.tallies {
		if t == nil {
			complete = false
			continue
		}
		r.Runs += t.runs
		add(&r.Chosen, &t.chosen)
		add(&r.Effective, &t.effective)
		for s, n := range t.situations {
			r.Situations[s] += n
		}
		r.HandedOver += t.handedOver
		r.Refined += t.refined
		r.Unjudged += t.unjudged
		if t.first != nil {
			r.First = t.first
		}
		if other == nil {
			other = t.other
		}
		if t.panicked != nil && r.Finding == nil {
			r.Finding, r.FindingAt = t.panicked.finding, t.panicked.plan
		}
		if t.stop != nil {
			err := c.explain(r, t.stop)
			r.Elapsed = time.Since(c.began)
			return r, err
		}
	}
	r.Elapsed = time.Since(c.began)
	if other != nil {
		return r, c.explain(r, other)
	}
	if r.Finding != nil {
		r.Verdict, r.Reason = Violated, r.Finding.Error()
		return r, nil
	}
	if !complete || ctx.Err() != nil {
		r.Verdict, r.Reason = Undecided, fmt.Sprintf("stopped after %d of %d runs", r.Runs, r.Planned)
		return r, nil
	}
	for _, class := range c.opt.Asked {
		if r.Effective[class] == 0 {
			r.Verdict, r.Reason = Vacuous, fmt.Sprintf("the fault %s never took effect (chosen %d times): this campaign shows nothing about it", class, r.Chosen[class])
		}
	}
	if r.Verdict == Held && c.opt.Strategy.Independent() {
		r.Risk = newRisk(r.Runs, c.met)
	}
	return r, nil
}

// explain turns the stop of a campaign into its verdict.
func (c *campaign) explain(r *Report, s *stop) error {
	switch {
	case s.finding != nil:
		r.Verdict, r.Finding, r.FindingAt = Violated, s.finding, s.plan
		r.Reason = s.finding.Error()
		return nil
	case s.reason != "":
		r.Verdict, r.Reason, r.FindingAt = s.verdict, fmt.Sprintf("run %d: %s", s.run, s.reason), s.plan
		return nil
	}
	registry, empty, shut, err := c.opt.Open()
	if err != nil {
		return err
	}
	defer shut()
	a, err := newArena(c.opt.Subjects[s.subject], registry, empty)
	if err != nil {
		return err
	}
	small := shrunken{arena: a, weather: s.weather, kept: append([]plan.Deviation(nil), s.deviations...)}
	defer func() { small.world.Close() }()
	a.replay(s.weather, s.deviations, how{})
	worst := a.worst()
	if c.opt.Target != 0 && a.broke(c.opt.Target) {
		worst = a.violation(c.opt.Target)
	}
	if worst == nil {
		r.Verdict, r.Reason, r.FindingAt = Nondeterministic, fmt.Sprintf("run %d violates, and its plan does not", s.run), s.plan
		return nil
	}
	small.name = worst.Invariant
	small.shrink()
	a = small.arena
	res := a.replay(small.weather, small.kept, how{record: true})
	v := &Violation{Run: s.run, Subject: &c.opt.Subjects[s.subject], Sites: res.Sites, Found: len(s.deviations)}
	for _, found := range a.violations() {
		if found.Invariant == small.name {
			v.Violation = found
		} else {
			v.Others = append(v.Others, found.Invariant.String())
		}
	}
	v.Plan = a.subject.Plan(small.weather, small.kept)
	v.Plan.Expect, v.Plan.Hash = v.Invariant.String(), res.Hash
	r.Verdict, r.Violation = Violated, v
	if reason := a.disagreement(); reason != "" {
		r.Verdict, r.Reason, r.FindingAt = Undecided, disagree+reason, v.Plan
	}
	return nil
}
