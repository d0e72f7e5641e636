package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

// firstConfig is what is explored if nothing else is asked for.
const firstConfig = "keyed"

func exploreVerb() verb {
	return verb{
		name: "explore", summary: "visit every state of the protocol's model, and judge each",
		doc: `It is the protocol that is searched here, not code: state machines of one operation, with crashes, lost answers,
writes that land late, and messages that are doubled, or with clocks that differ. Breadth first, so what breaks is shown in as few actions as can be. The counts
are those of TLC on the same specification. A defect breaks one rule of the protocol or one assumption about the outside; the
flags -config, -defect and -invariant list what there is if the name is wrong.`,
		examples: []string{
			"chargeonce explore",
			"chargeonce explore -config keyless",
			"chargeonce explore -config window-keyed",
			"chargeonce explore -defect NoGuard",
			"chargeonce explore -defect NoGuard -invariant SingleCharge",
			"chargeonce explore -defect unfenced-completion",
			"chargeonce explore -config wide-keyed -max-memory 512 -json",
			"chargeonce explore -symmetry -config large",
			"chargeonce explore -sequential -defect OwnReply",
			"chargeonce explore -versus-tlc -config keyed,keyless",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided},
		command: func(fs *flag.FlagSet) action {
			o := &exploreOptions{workers: count{0, 0, 1024}, memory: count{2048, 0, 1 << 20}}
			fs.StringVar(&o.config, "config", "", "the `NAME` of a world in which the protocol holds; if not given "+firstConfig+", and with -defect the one in which the defect shows")
			fs.StringVar(&o.defect, "defect", "", "the `NAME` of a defect of the protocol, of an assumption that is dropped, or of a wrong design of the gallery; with -config one that its model has")
			fs.StringVar(&o.invariant, "invariant", "", "judge this `NAME` alone; if not given all, and the first to fall is shown")
			fs.Var(&o.workers, "workers", "`N` goroutines; 0 is one for each processor. The result is the same")
			fs.Var(&o.memory, "max-memory", "stop, undecided, before the states take more than `N` MiB; 0 is no bound")
			fs.BoolVar(&o.sequential, "sequential", false, "hold every behaviour against the sequential specification of what a client may see, and judge nothing else")
			fs.BoolVar(&o.symmetry, "symmetry", false, "take one state for all that differ only in which handler is which: fewer states, the same verdict")
			fs.BoolVar(&o.versus, "versus-tlc", false, "let TLC search the same states, too, and compare the speed; -config may then be several names with commas")
			fs.BoolVar(&o.json, "json", false, "write one JSON object instead of text")
			return func(ctx context.Context, k *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				if o.versus {
					return raceTLC(ctx, k, o)
				}
				e, err := o.resolve()
				if err != nil {
					return 0, err
				}
				return e.run(ctx, k)
			}
		},
	}
}

// exploreOptions are the flags of explore.
type exploreOptions struct {
	config, defect, invariant string
	workers, memory           count
	sequential, symmetry      bool
	versus, json              bool
}

// exploration is a world of a model, with every name looked up.
type exploration struct {
	entry     tla.Entry
	twin      tla.Twin
	defect    *tla.Term // nil: none
	elsewhere string    // where the defect is known to show, if that is not here
	world     tla.World
	judged    []string // the names of what is judged
	options   explore.Options
	json      bool
}

// resolve looks every name up.
func (o *exploreOptions) resolve() (*exploration, error) {
	worlds, err := readWorlds()
	if err != nil {
		return nil, err
	}
	if err := o.meanDesign(); err != nil {
		return nil, err
	}
	e := &exploration{json: o.json, options: explore.Options{Workers: o.workers.n, MaxBytes: uint64(o.memory.n) << 20}}
	name := o.config
	if name == "" {
		if name, err = worlds.firstFor(o.defect); err != nil {
			return nil, err
		}
	}
	at := slices.IndexFunc(worlds.entries, func(w tla.Entry) bool { return w.Config == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no config %q%s", name, instead(name, worlds.names()))
	}
	e.entry = worlds.entries[at]
	e.twin, _ = tla.TwinOf(e.entry.Module)
	config := worlds.configs[at]
	if o.defect != "" {
		d, ok := defectOf(e.twin, o.defect)
		if !ok {
			return nil, fmt.Errorf("the model of %s has no defect %q%s", name, o.defect, instead(o.defect, defectNames(e.twin)))
		}
		e.defect = &d
		if shows := worlds.shows[shown{e.twin.Module, d.Name}]; shows != name {
			e.elsewhere = shows
		}
		config.Constants[d.Name] = "TRUE"
	}
	if o.sequential {
		s := tla.Sequential()
		if s.Module != e.twin.Module {
			return nil, fmt.Errorf("-sequential judges what clients see, of which the model of %s has nothing", name)
		}
		e.twin = s
	}
	if e.options.Symmetry = o.symmetry; o.symmetry {
		switch {
		case !e.twin.Symmetric:
			return nil, fmt.Errorf("-symmetry takes handlers that can be exchanged, of which what is searched in %s has none", name)
		case config.Specification == "FairSpec":
			return nil, fmt.Errorf("-symmetry keeps what is safe and not what is live, which %s asks about", name)
		}
	}
	return e, e.build(config, o.invariant)
}

// meanDesign takes a design's name that was given for a defect to mean what
// the specification has of it. A defect that is called like the design comes
// first.
func (o *exploreOptions) meanDesign() error {
	for _, twin := range tla.Twins() {
		if _, ok := defectOf(twin, o.defect); ok {
			return nil
		}
	}
	if why, ok := unspecified[o.defect]; ok {
		return fmt.Errorf("the specification has nothing like the design %s: %s", o.defect, why)
	}
	if counterparts[o.defect] == "" {
		return nil
	}
	e, err := counterpartOf(o.defect)
	if err != nil {
		return err
	}
	if e.Outcome == tla.Holds {
		return fmt.Errorf("the design %s has no defect; its world is -config %s", o.defect, e.Config)
	}
	d, err := brokenIn(e)
	if err != nil {
		return err
	}
	o.defect = d.Name
	if o.config == "" {
		o.config = e.Base
	}
	return nil
}

// build makes the world; invariant is what is judged, "" is all.
func (e *exploration) build(c tla.Config, invariant string) (err error) {
	if e.world, err = e.twin.World(c); err != nil {
		return err
	}
	e.judged = e.world.Judged()
	if invariant != "" {
		at := slices.Index(e.judged, invariant)
		if at < 0 {
			return fmt.Errorf("%s has no invariant %q%s", e.entry.Config, invariant, instead(invariant, e.judged))
		}
		e.judged = e.judged[at : at+1]
	}
	return nil
}

// situationName is the name of a situation without the specification's denial.
func situationName(denial string) string { return strings.TrimPrefix(denial, "Never") }

// worlds are the questions of the manifest in which the protocol holds and
// which the model in Go can answer.
type worlds struct {
	entries []tla.Entry
	configs []tla.Config     // of entries
	shows   map[shown]string // the world in which the manifest shows a defect: if it can, that it breaks something
}

// shown is a defect of a module.
type shown struct{ module, defect string }

func readWorlds() (*worlds, error) {
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		return nil, err
	}
	all := &worlds{shows: make(map[shown]string)}
	breaks := make(map[shown]bool)
	for _, entry := range m.Specifications {
		twin, ok := tla.TwinOf(entry.Module)
		if !ok {
			continue
		}
		c, err := tla.ReadConfig(tla.Files, entry.ConfigFile())
		if err != nil {
			return nil, err
		}
		if entry.Outcome == tla.Holds {
			all.entries, all.configs = append(all.entries, entry), append(all.configs, c)
		}
		for _, d := range twin.Defects {
			at := shown{twin.Module, d.Name}
			if c.Constants[d.Name] != "TRUE" || entry.Base == "" || entry.Kind == tla.KindReachable || breaks[at] {
				continue
			}
			if breaks[at] = entry.Outcome != tla.Holds; breaks[at] || all.shows[at] == "" {
				all.shows[at] = entry.Base
			}
		}
	}
	return all, nil
}

func (w *worlds) names() (all []string) {
	for _, e := range w.entries {
		all = append(all, e.Config)
	}
	return all
}

// firstFor returns the name of the world to explore if none is asked for: the
// one in which the defect shows, of the first model that knows it.
func (w *worlds) firstFor(defect string) (string, error) {
	if defect == "" {
		return firstConfig, nil
	}
	var known []string
	for _, twin := range tla.Twins() {
		if d, ok := defectOf(twin, defect); ok {
			return w.shows[shown{twin.Module, d.Name}], nil
		}
		for _, name := range defectNames(twin) {
			if !slices.Contains(known, name) { // some are in several models
				known = append(known, name)
			}
		}
	}
	return "", fmt.Errorf("there is no defect %q%s", defect, instead(defect, known))
}

// defectOf takes a defect's name as the specification writes it or with words
// as in the name of a cfg file: NoGuard or no-guard.
func defectOf(twin tla.Twin, name string) (tla.Term, bool) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "")) }
	for _, d := range twin.Defects {
		if plain(name) == plain(d.Name) {
			return d, true
		}
	}
	return tla.Term{}, false
}

func defectNames(twin tla.Twin) (all []string) {
	for _, d := range twin.Defects {
		all = append(all, d.Name)
	}
	return all
}

// run searches and tells of it.
func (e *exploration) run(ctx context.Context, k *console) (exitCode, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	if !e.json {
		e.announce(k.out)
		_ = k.out.Flush() // run tells of an output that is broken
	}
	line := &progress{w: k.err}
	if k.terminal {
		e.options.Progress = line.states
	}
	began := time.Now()
	question := tla.Question{Judge: e.judged, Options: e.options}
	for _, s := range e.twin.Situations {
		question.LookFor = append(question.LookFor, s.Name)
	}
	r, err := e.world.Explore(ctx, question)
	elapsed := time.Since(began)
	line.erase()
	if err != nil {
		return 0, err
	}
	o := e.outcome(&r, elapsed)
	if o.Verdict == search.Undecided && ctx.Err() != nil {
		o.Reason = "stopped before every state was visited"
	}
	if e.json {
		k.line(o)
	} else {
		e.tell(k.out, &r, o, elapsed)
	}
	if o.Loop != nil {
		return exitLiveness, nil
	}
	return exitOf(o.Verdict, []string{o.Property}), nil
}

// announce says what is searched, defaults included.
func (e *exploration) announce(w io.Writer) {
	labelled(w, "config", "%s: %s", e.entry.Config, e.entry.Shows)
	labelled(w, "bounds", "%s", e.world.Bounds())
	if e.defect != nil {
		labelled(w, "defect", "%s: %s", e.defect.Name, e.defect.Doc)
	}
	labelled(w, "judged", "%s", strings.Join(e.judged, ", "))
	fmt.Fprintln(w)
}

// states shows how far a search is.
func (p *progress) states(now explore.Progress) {
	p.replace(fmt.Sprintf("%s distinct states, %s wait, depth %d, %.0f a second", grouped(int(now.Distinct)), grouped(int(now.Queue)), now.Depth, now.Rate))
}

// exploreOutcome is what explore writes with -json. The names of its members
// stay.
type exploreOutcome struct {
	Verdict         search.Verdict `json:"verdict"`
	Reason          string         `json:"reason,omitempty"`
	Config          string         `json:"config"`
	Defect          string         `json:"defect"`             // "": none
	Property        string         `json:"property"`           // what fell, "": nothing
	Sentence        string         `json:"sentence,omitempty"` // what it says
	Length          int            `json:"length"`             // actions until it fell, and then around the cycle, if there is one
	Judged          []string       `json:"judged"`
	Distinct        uint64         `json:"distinct"`
	Generated       uint64         `json:"generated"`
	Depth           int            `json:"depth"` // states on the longest of the shortest paths
	Complete        bool           `json:"complete"`
	StatesPerSecond float64        `json:"states_per_second"`
	BytesPerState   float64        `json:"bytes_per_state"`
	Collision       float64        `json:"collision_probability"` // that two states were taken for one, at most
	Reached         []string       `json:"reached"`               // situations
	Unreached       []string       `json:"unreached"`             // if complete: cannot be reached in this config
	Trace           []exploreStep  `json:"trace,omitempty"`
	Loop            *int           `json:"loop,omitempty"` // the index in trace from which it repeats for ever
}

// exploreStep is a state of a counterexample and the action that led to it.
type exploreStep struct {
	Action string `json:"action"` // "" for the first
	State  string `json:"state"`
}

func (e *exploration) outcome(f *tla.Found, elapsed time.Duration) *exploreOutcome {
	o := &exploreOutcome{
		Config: e.entry.Config, Property: f.Property, Sentence: e.twin.Doc(f.Property), Length: f.Length(), Judged: e.judged,
		Distinct: f.Distinct, Generated: f.Generated, Depth: f.Depth, Complete: f.Complete,
		StatesPerSecond: rate(int(f.Distinct), elapsed), BytesPerState: math.Round(10*f.BytesPerState) / 10, Collision: f.CollisionProbability,
		Reached: []string{}, Unreached: []string{},
	}
	if e.defect != nil {
		o.Defect = e.defect.Name
	}
	switch f.Verdict {
	case explore.Violated:
		o.Verdict = search.Violated
	case explore.Held, explore.Vacuous: // not every world shows every situation
		o.Verdict = search.Held
	default:
		o.Verdict, o.Reason = search.Undecided, f.Stopped+" (-max-memory allows more)"
	}
	for _, s := range f.Reached {
		o.Reached = append(o.Reached, situationName(s.Name))
	}
	for _, s := range f.Unreached {
		o.Unreached = append(o.Unreached, situationName(s))
	}
	for _, v := range f.Trace {
		o.Trace = append(o.Trace, exploreStep{v.Action, v.String()})
	}
	if f.Loop >= 0 {
		o.Loop = &f.Loop
	}
	return o
}

// tell writes the report for people.
func (e *exploration) tell(w io.Writer, f *tla.Found, o *exploreOutcome, elapsed time.Duration) {
	if o.Verdict == search.Violated {
		fmt.Fprintf(w, "violated %s\n\n%s\n", o.Property, wrap(o.Sentence, "  "))
		writeBehaviour(w, f)
		fmt.Fprintln(w)
	}
	for _, r := range f.Reached {
		at := slices.IndexFunc(e.twin.Situations, func(s tla.Term) bool { return s.Name == r.Name })
		labelled(w, "reached", "%s in %d actions: %s", situationName(r.Name), r.Length, e.twin.Situations[at].Doc)
	}
	if len(o.Unreached) > 0 {
		label := "unreached"
		if !o.Complete {
			label = "not yet"
		}
		labelled(w, label, "%s", strings.Join(o.Unreached, ", "))
	}
	labelled(w, "states", "%s distinct of %s generated, depth %d", grouped(int(o.Distinct)), grouped(int(o.Generated)), o.Depth)
	labelled(w, "searched", "in %.1f s, %.0f a second; %.1f bytes a state", elapsed.Seconds(), o.StatesPerSecond, o.BytesPerState)
	verdict := string(o.Verdict)
	switch o.Verdict {
	case search.Violated:
		verdict += fmt.Sprintf(": %s in %s", o.Property, actions(o.Length))
		if o.Loop == nil {
			verdict += "; none of these falls in fewer"
		}
	case search.Held:
		verdict += ": in every state that can be reached"
		if !f.Exact {
			verdict += fmt.Sprintf(" (states are told apart by 64 bits: one was missed with a probability of at most %.0e)", o.Collision)
		}
		if e.elsewhere != "" {
			verdict += fmt.Sprintf("; %s is known to show in %s", e.defect.Name, e.elsewhere)
		}
	default:
		verdict += ": " + o.Reason
	}
	labelled(w, "verdict", "%s", verdict)
}

func actions(n int) string {
	if n == 1 {
		return "1 action"
	}
	return fmt.Sprintf("%d actions", n)
}
