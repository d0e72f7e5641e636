package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/search"
)

func compareVerb() verb {
	return verb{
		name: "compare", operands: "[STRATEGIES]", summary: "measure how soon each strategy breaks each wrong design",
		doc:      compareDoc(),
		examples: []string{"chargeonce compare", "chargeonce compare -strategies", "chargeonce compare -strategies swarm,uniform -trials 5", "chargeonce compare -designs charge-then-save,local-lock -json"},
		codes:    []exitCode{exitHeld, exitSafety, exitUsage, exitUndecided, exitVacuous},
		command: func(fs *flag.FlagSet) action {
			o := &compareOptions{trials: count{20, 1, 999}, runs: count{5000, 1, 99999}, seed: 1, workers: count{0, 0, 1024}}
			fs.Var(&o.strategies, "strategies", "`NAMES` of strategies with commas; without any, all")
			fs.Var(&o.designs, "designs", "`NAMES` of designs that are known to break; if not given all of them")
			fs.Var(&o.trials, "trials", "`N` trials of each strategy on each design, each from a seed of its own")
			fs.Var(&o.runs, "runs", "`N` schedules after which a trial is a miss")
			fs.Var(&o.seed, "seed", "`N` from which all random choices follow")
			fs.Var(&o.workers, "workers", "`N` trials at a time; 0 is one for each processor")
			fs.BoolVar(&o.json, "json", false, "write JSON, one object for each design and strategy, and a last one for the whole")
			return func(ctx context.Context, c *console, operands []string) (exitCode, error) {
				if err := o.strategies.add(operands); err != nil {
					return 0, err
				}
				m, err := o.resolve()
				if err != nil {
					return 0, err
				}
				return m.run(ctx, c)
			}
		},
	}
}

func compareDoc() string {
	var b strings.Builder
	b.WriteString(`Each design of the gallery that is known to break is run with each strategy until the invariant falls that
it is known to break, in the worlds in which sim runs it: how many schedules did that take? The table has the median, the 95th
percentile and the misses of the trials; a miss counts as more than all others, and "-" says that too many trials
missed. Fewer is better. The outcome depends on the flags alone, not on the machine or the number of workers. The strategies, the default of sim first: `)
	for i, s := range search.Strategies {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.Name + " (" + s.Doc + ")")
	}
	b.WriteString(". What a property test of pgregory.net/rapid draws is measured beside them in a test of package search and not here, " +
		"since rapid is made for tests: see its documentation for the figures.")
	return b.String()
}

// choice is a flag for names that may stand after it, after "=", or not at
// all: then it means all of them.
type choice struct{ names }

// IsBoolFlag makes package flag take it without a value.
func (c *choice) IsBoolFlag() bool { return true }

func (c *choice) Set(s string) error {
	if s == "true" { // it stands alone
		return nil
	}
	return c.names.Set(s)
}

// add takes the operands for more names.
func (c *choice) add(operands []string) error {
	if len(operands) == 0 {
		return nil
	}
	return c.names.Set(strings.Join(append(c.names, operands...), ","))
}

// compareOptions are the flags of compare.
type compareOptions struct {
	strategies            choice
	designs               names
	trials, runs, workers count
	seed                  seed
	json                  bool
}

// comparing is what compare is to do, and what it has found so far.
type comparing struct {
	search.CompareOptions
	json   bool
	scores []search.Score
}

func (o *compareOptions) resolve() (*comparing, error) {
	m := &comparing{json: o.json}
	m.Trials, m.Runs, m.Seed, m.Workers = o.trials.n, o.runs.n, uint64(o.seed), o.workers.n
	m.Worlds, m.Open = worldsOf, openMemory
	if m.Workers == 0 {
		m.Workers = runtime.GOMAXPROCS(0)
	}
	m.Strategies = slices.Clone(search.Strategies)
	if len(o.strategies.names) > 0 {
		m.Strategies = nil
	}
	for _, name := range o.strategies.names {
		s, err := search.StrategyByName(name)
		if err != nil {
			return nil, err
		}
		m.Strategies = append(m.Strategies, s)
	}
	return m, m.choose(o.designs)
}

// choose takes the designs of these names, or all that are known to break.
func (m *comparing) choose(wanted names) error {
	if len(wanted) == 0 {
		m.Designs = slices.DeleteFunc(designs.All(), func(d impl.Design) bool { return d.Expect == held })
		return nil
	}
	chosen, err := designsByName(wanted)
	if err != nil {
		return err
	}
	for _, d := range chosen {
		if d.Expect == held {
			return fmt.Errorf("the design %s is not known to break: there is nothing to look for", d.Name)
		}
	}
	m.Designs = chosen
	return nil
}

func (m *comparing) run(ctx context.Context, k *console) (exitCode, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	line := &progress{w: k.err}
	if k.terminal {
		m.Progress = func(t search.Trials) { line.trials(t) }
	}
	if !m.json {
		m.head(k.out)
	}
	_ = k.out.Flush() // run tells of an output that is broken
	err := search.Compare(ctx, m.CompareOptions, func(scores []search.Score) error {
		line.erase()
		m.scores = append(m.scores, scores...)
		m.row(k, scores)
		return k.out.Flush()
	})
	line.erase()
	var finding *sim.Finding
	switch {
	case errors.As(err, &finding):
		return exitSafety, m.stopped(k, search.Violated, err.Error())
	case ctx.Err() != nil:
		reason := fmt.Sprintf("stopped after %d of %d designs", len(m.scores)/len(m.Strategies), len(m.Designs))
		return exitUndecided, m.stopped(k, search.Undecided, reason)
	case err != nil && !isWriteError(k, err):
		return 0, err
	}
	return m.conclude(k), nil
}

// trials shows how far a comparison is.
func (p *progress) trials(t search.Trials) {
	if t.Elapsed < patience {
		return
	}
	left := time.Duration(float64(t.Elapsed) / float64(t.Done) * float64(t.Of-t.Done))
	p.replace(fmt.Sprintf("%d of %d trials, %s left", t.Done, t.Of, left.Round(time.Second)))
}

// The table's columns: a design, then for each strategy three numbers.
const (
	designWidth = 23
	scoreWidth  = 18
)

func (m *comparing) head(w io.Writer) {
	labelled(w, "schedules", "until the first violation: median, 95th percentile, misses; %d trials of at most %d runs, seed %d", m.Trials, m.Runs, m.Seed)
	fmt.Fprintf(w, "\n%-*s", designWidth, "")
	for _, s := range m.Strategies {
		fmt.Fprintf(w, " %*s", scoreWidth, s.Name)
	}
	fmt.Fprintln(w)
}

// scoreLine is a line of compare -json. The names of its members stay.
type scoreLine struct {
	Design    string `json:"design"`
	Strategy  string `json:"strategy"`
	Invariant string `json:"invariant"`
	Median    *int   `json:"median"` // schedules; null if too many trials missed
	P95       *int   `json:"p95"`    // likewise
	Misses    int    `json:"misses"`
	Trials    int    `json:"trials"`
	Runs      int    `json:"runs"` // of a trial at most
}

func (m *comparing) row(k *console, scores []search.Score) {
	if m.json {
		for i := range scores {
			s := &scores[i]
			k.line(scoreLine{s.Design, s.Strategy, s.Invariant.String(), quantile(s, 0.5), quantile(s, 0.95), s.Misses, s.Trials, m.Runs})
		}
		return
	}
	fmt.Fprintf(k.out, "%-*s", designWidth, scores[0].Design)
	for i := range scores {
		s := &scores[i]
		fmt.Fprintf(k.out, " %*s", scoreWidth, fmt.Sprintf("%6s %6s %4d", dash(quantile(s, 0.5)), dash(quantile(s, 0.95)), s.Misses))
	}
	fmt.Fprintln(k.out)
}

func quantile(s *search.Score, share float64) *int {
	if n, ok := s.Quantile(share); ok {
		return &n
	}
	return nil
}

func dash(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}

// compareOutcome is the last line of compare -json. The names of its members
// stay.
type compareOutcome struct {
	Verdict    search.Verdict `json:"verdict"`
	Reason     string         `json:"reason,omitempty"`
	Seed       uint64         `json:"seed"`
	Designs    int            `json:"designs"` // compared
	Best       string         `json:"best,omitempty"`
	Strategies []totalLine    `json:"strategies,omitempty"` // the best first
}

// totalLine is a strategy over all designs.
type totalLine struct {
	Strategy string  `json:"strategy"`
	Trials   int     `json:"trials"`
	Misses   int     `json:"misses"`
	Mean     float64 `json:"mean"` // geometric, of the schedules of all trials; a miss counts as the bound
}

// stopped tells that the table is not complete.
func (m *comparing) stopped(k *console, v search.Verdict, reason string) error {
	m.tell(k, v, reason)
	return nil
}

// conclude tells which strategy is best.
func (m *comparing) conclude(k *console) exitCode {
	missed := func(s search.Score) bool { return s.Misses == s.Trials }
	if !slices.ContainsFunc(m.scores, func(s search.Score) bool { return !missed(s) }) {
		m.tell(k, search.Vacuous, "no strategy broke any design")
		return exitVacuous
	}
	m.tell(k, search.Held, "")
	return exitHeld
}

func (m *comparing) tell(k *console, v search.Verdict, reason string) {
	totals := search.Totals(m.scores, m.Runs)
	if m.json {
		o := compareOutcome{Verdict: v, Reason: reason, Seed: m.Seed, Designs: len(m.scores) / len(m.Strategies)}
		for _, t := range totals {
			o.Strategies = append(o.Strategies, totalLine{t.Strategy, t.Trials, t.Misses, float64(int(t.Mean*100+0.5)) / 100})
		}
		if v == search.Held {
			o.Best = totals[0].Strategy
		}
		k.line(o)
		return
	}
	fmt.Fprintln(k.out)
	for i, t := range totals {
		label := ""
		if i == 0 {
			label = "in all"
		}
		fmt.Fprintf(k.out, "%-*s%-8s %5d of %d trials missed; %8.2f schedules, the geometric mean\n", labelWidth, label, t.Strategy, t.Misses, t.Trials, t.Mean)
	}
	switch v {
	case search.Held:
		labelled(k.out, "best", "%s: the fewest misses, and of equal ones the fewest schedules", totals[0].Strategy)
	default:
		labelled(k.out, "verdict", "%s: %s", v, reason)
	}
}
