package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

// race lets the explorer and TLC search the same states, one after the other,
// so that neither takes time from the other.
type race struct {
	worlds  []*exploration
	workers int
	json    bool
}

// heat is one world of a race, as explore -versus-tlc writes it with -json. The
// names of its members stay.
type heat struct {
	Config   string `json:"config"`
	Distinct uint64 `json:"distinct"` // as both count
	Explorer lap    `json:"explorer"`
	TLC      lap    `json:"tlc"`
	// Ratio is how many times TLC's states a second the explorer's are.
	Ratio float64 `json:"ratio"`

	counts string // how they differ; "": not at all
}

// lap is one search.
type lap struct {
	Seconds         float64 `json:"seconds"`
	StatesPerSecond float64 `json:"states_per_second"` // distinct ones
}

func lapOf(distinct uint64, elapsed time.Duration) lap {
	return lap{float64(elapsed.Round(time.Millisecond)) / float64(time.Second), rate(int(distinct), elapsed)}
}

// raceOutcome is what explore -versus-tlc writes with -json. The names of its
// members stay.
type raceOutcome struct {
	Verdict search.Verdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
	Workers int            `json:"workers"` // of each
	Worlds  []*heat        `json:"worlds"`
}

// raceTLC finds everything that a race needs before it begins.
func raceTLC(ctx context.Context, k *console, o *exploreOptions) (exitCode, error) {
	r, err := newRace(o)
	if err != nil {
		return 0, err
	}
	tools, err := tla.FindTools()
	if err != nil {
		return 0, err
	}
	return r.run(ctx, k, tools.Run)
}

// newRace takes the names of worlds in which everything holds; none is the
// first one.
func newRace(o *exploreOptions) (*race, error) {
	if o.defect != "" || o.invariant != "" || o.sequential || o.symmetry {
		return nil, errors.New("-versus-tlc compares whole searches, in which all that TLC judges holds: leave -defect, -invariant, -sequential and -symmetry out")
	}
	r := &race{workers: o.workers.n, json: o.json}
	if r.workers == 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	var chosen names
	if err := chosen.Set(orFirst(o.config)); err != nil {
		return nil, fmt.Errorf("-config: %w", err)
	}
	for _, name := range chosen {
		one := *o
		one.config = name
		e, err := one.resolve()
		if err != nil {
			return nil, err
		}
		r.worlds = append(r.worlds, e)
	}
	return r, nil
}

func orFirst(config string) string {
	if config == "" {
		return firstConfig
	}
	return config
}

// run races with ask, which is TLC but in tests, and tells of it.
func (r *race) run(ctx context.Context, k *console, ask func(context.Context, tla.Job) (tla.Report, error)) (exitCode, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	o := &raceOutcome{Verdict: search.Held, Workers: r.workers, Worlds: []*heat{}}
	if !r.json {
		labelled(k.out, "each", "with %s, all properties of the world judged, one after the other", counted(r.workers, "worker"))
		labelled(k.out, "timed", "TLC from its word that it has the initial state to its word that everything holds: without the start of its JVM, but with all that it compiles meanwhile, so that wide worlds are fairest")
		fmt.Fprintln(k.out)
	}
	line := &progress{w: k.err}
	for i, e := range r.worlds {
		if k.terminal {
			line.replace(fmt.Sprintf("%d of %d: %s", i+1, len(r.worlds), e.entry.Config))
		}
		h, err := r.heat(ctx, e, ask)
		line.erase()
		if ctx.Err() != nil {
			o.Verdict, o.Reason = search.Undecided, fmt.Sprintf("stopped after %d of %d", i, len(r.worlds))
			break
		}
		if err != nil {
			o.Verdict, o.Reason = search.Undecided, e.entry.Config+": "+oneLine(err.Error())
			break
		}
		o.Worlds = append(o.Worlds, h)
		if h.counts != "" && o.Verdict == search.Held {
			o.Verdict, o.Reason = search.Violated, e.entry.Config+": "+h.counts
		}
		if !r.json {
			h.tell(k.out)
		}
		_ = k.out.Flush() // run tells of an output that is broken
	}
	if r.json {
		k.line(o)
	} else {
		text := string(o.Verdict)
		if o.Reason != "" {
			text += ": " + o.Reason
		} else {
			text += ": both found the same states and nothing wrong with them"
		}
		labelled(k.out, "verdict", "%s", text)
	}
	return exitOf(o.Verdict, nil), nil
}

// heat lets both search one world.
func (r *race) heat(ctx context.Context, e *exploration, ask func(context.Context, tla.Job) (tla.Report, error)) (*heat, error) {
	began := time.Now()
	found, err := e.world.Explore(ctx, tla.Question{Judge: e.judged, Options: e.options})
	elapsed := time.Since(began)
	switch {
	case err != nil:
		return nil, err
	case found.Verdict == explore.Incomplete:
		return nil, fmt.Errorf("%s (-max-memory allows more)", found.Stopped)
	}
	theirs, err := ask(ctx, tla.Job{Module: e.entry.Module, Config: e.entry.ConfigFile(), Racing: true, Workers: r.workers})
	if err != nil {
		return nil, err
	}
	h := &heat{Config: e.entry.Config, Distinct: found.Distinct, Explorer: lapOf(found.Distinct, elapsed), TLC: lapOf(uint64(theirs.Distinct), theirs.Searched)}
	switch {
	case found.Verdict != explore.Held:
		h.counts = fmt.Sprintf("the explorer says that %s falls", found.Property)
	case theirs.Outcome != tla.Holds:
		h.counts = fmt.Sprintf("TLC says that %s falls", theirs.Property)
	case found.Distinct != uint64(theirs.Distinct) || found.Generated != uint64(theirs.Generated):
		h.counts = fmt.Sprintf("the explorer counts %d distinct of %d generated states, TLC %d of %d", found.Distinct, found.Generated, theirs.Distinct, theirs.Generated)
	case elapsed > 0 && theirs.Searched > 0:
		h.Ratio = float64(int(10*theirs.Searched.Seconds()/elapsed.Seconds()+0.5)) / 10
	}
	return h, nil
}

func (h *heat) tell(w io.Writer) {
	labelled(w, "config", "%s: %s distinct states", h.Config, grouped(int(h.Distinct)))
	for _, l := range []struct {
		name string
		lap
	}{{"explorer", h.Explorer}, {"TLC", h.TLC}} {
		labelled(w, l.name, "%s a second, %.2f s", grouped(int(l.StatesPerSecond)), l.Seconds)
	}
	labelled(w, "ratio", "%.1f times TLC's states a second", h.Ratio)
	fmt.Fprintln(w)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %s", n, strings.TrimSuffix(what, "s")+"s")
}
