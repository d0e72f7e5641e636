package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

func coverageVerb() verb {
	return verb{
		name: "coverage", summary: "say how much of the protocol model random runs of the reference go through",
		doc: `A world of the model has so many states and so many transitions between them. Random runs of the reference, in all scenarios and
with all faults within the assumptions, are followed in the model, and what they go through is counted. Two states are one here if they
differ only in how many attempts and faults are left, in which handler is which, or in which parameters came first. The model has no
durations, so its window may close, and its clients may give up, at any time; the simulated deployments have durations that Validate takes,
and there the window outlasts the first lease, and clients ask for seconds. What random runs miss is not untested: sim/behaviour plays each transition of such worlds on the code, or shows that no clocks allow it.`,
		examples: []string{
			"chargeonce coverage",
			"chargeonce coverage -cfg reconciled,keyless -runs 100000",
			"chargeonce coverage -missed -json",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitUndecided},
		command: func(fs *flag.FlagSet) action {
			o := &coverageOptions{config: names{"keyed"}, faults: count{n: 1, most: 2}, runs: count{n: 20_000, least: 1, most: math.MaxInt}, seed: 1}
			fs.Var(&o.config, "cfg", "`NAMES` of cfg files of ChargeOnce: the worlds to go through")
			fs.Var(&o.runs, "runs", "make `N` runs for each")
			fs.Var(&o.faults, "faults", "`N` faults at most in each world; its cfg has 2")
			fs.Var(&o.seed, "seed", "`N` from which all random choices follow")
			fs.BoolVar(&o.missed, "missed", false, "list every transition that was missed")
			fs.BoolVar(&o.json, "json", false, "write JSON, one object for each world; with -missed one for each transition before it")
			return func(ctx context.Context, c *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				return o.run(ctx, c)
			}
		},
	}
}

// coverageOptions are the flags of coverage.
type coverageOptions struct {
	config       names
	runs, faults count
	seed         seed
	missed, json bool
}

func (o *coverageOptions) run(ctx context.Context, c *console) (exitCode, error) {
	var worlds []*coveredWorld
	for _, name := range o.config {
		w, err := newCoveredWorld(name)
		if err != nil {
			return 0, err
		}
		w.model.Faults = min(w.model.Faults, o.faults.n)
		worlds = append(worlds, w)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	code := exitHeld
	for _, w := range worlds {
		if err := w.drive(ctx, o); err != nil {
			return 0, err
		}
		r := w.report(o)
		if o.json {
			if o.missed {
				w.eachMissed(func(m missedTransition) { c.line(m) })
			}
			c.line(r)
		} else {
			w.write(c.out, r, o)
		}
		if code = exitOf(r.Verdict, nil); code != exitHeld {
			break
		}
	}
	return code, nil
}

// coveredWorld is a world of the model, and what runs went through of it.
type coveredWorld struct {
	name     string
	model    protocol.Config
	space    *refine.Space
	subjects []search.Subject
	profiles []string
	runs     int
	diverged *search.Followed
	stopped  bool
}

// newCoveredWorld reads a cfg file and finds what runs in such a world: the
// reference with each provider that promises what the cfg says. Where the cfg
// has no reconciler it runs without one, too.
func newCoveredWorld(name string) (*coveredWorld, error) {
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, e := range m.Specifications {
		if e.Module == "ChargeOnce" && e.Kind == tla.KindProtocol {
			known = append(known, e.Config)
		}
	}
	if !slices.Contains(known, name) {
		return nil, fmt.Errorf("there is no cfg %q of ChargeOnce without a defect%s", name, instead(name, known))
	}
	e, _ := m.Entry(name)
	file, err := tla.ReadConfig(tla.Files, e.ConfigFile())
	if err != nil {
		return nil, err
	}
	w := &coveredWorld{name: name}
	for _, constant := range file.Names {
		if err := w.model.Set(constant, file.Constants[constant]); err != nil {
			return nil, err
		}
	}
	reference, err := designs.ByName("reference")
	if err != nil {
		return nil, err
	}
	alone := reference
	alone.Reconciler = nil
	for _, p := range provider.Profiles {
		if p.Keys != w.model.Keys || p.Lookup != w.model.Lookups || p.Keys && p.StoresDeclines != w.model.StoresDeclines || w.model.RollForward || w.model.Foreign {
			continue
		}
		w.profiles = append(w.profiles, p.Name)
		for _, s := range sim.Scenarios {
			w.subjects = append(w.subjects, search.Subject{Design: reference, Scenario: s, Profile: p, Classes: sim.Within()})
			if !w.model.Reconciles {
				w.subjects = append(w.subjects, search.Subject{Design: alone, Scenario: s, Profile: p, Classes: sim.Within()})
			}
		}
	}
	if len(w.subjects) == 0 {
		return nil, fmt.Errorf("no simulated provider is that of %s", name)
	}
	return w, nil
}

// drive makes the runs.
func (w *coveredWorld) drive(ctx context.Context, o *coverageOptions) error {
	open, shut, err := openStores("memory", 1)
	if err != nil {
		return err
	}
	defer shut()
	w.space = refine.NewSpace(w.model)
	at := map[int32]protocol.State{}
	return search.FollowAll(search.Options{Subjects: w.subjects, Runs: o.runs.n, Seed: uint64(o.seed), Open: open}, func(_ int, f *search.Followed) bool {
		clear(at)
		for _, t := range f.Taken {
			from, begun := at[t.Operation]
			if !begun {
				from = protocol.Initial(&f.Model)
			}
			w.space.Visit(&f.Model, refine.Transit{From: from, Kind: t.Action.Kind, To: t.State})
			at[t.Operation] = t.State
		}
		w.runs++
		w.stopped = ctx.Err() != nil
		if f.Divergence != nil || f.Result.Finding != nil {
			w.diverged = f
		}
		return w.diverged == nil && !w.stopped
	})
}

// worldCovered is what coverage says of a world with -json. The names of its
// members stay.
type worldCovered struct {
	Config             string         `json:"cfg"`
	Profiles           []string       `json:"profiles"`
	Runs               int            `json:"runs"`
	Seed               uint64         `json:"seed"`
	States             int            `json:"states"`
	StatesReached      int            `json:"states_reached"`
	Transitions        int            `json:"transitions"`
	TransitionsReached int            `json:"transitions_reached"`
	Phases             []coveredPhase `json:"phases"`
	Elsewhere          int            `json:"elsewhere"` // actions of runs that this world does not have
	Missed             []missedAction `json:"missed"`
	Verdict            search.Verdict `json:"verdict"`
	Reason             string         `json:"reason,omitempty"`
	Plan               string         `json:"plan,omitempty"` // of a run that diverges
}

// coveredPhase is what was reached in a part of an operation's life.
type coveredPhase struct {
	Phase       string `json:"phase"`
	Transitions int    `json:"transitions"`
	Reached     int    `json:"transitions_reached"`
}

// missedAction is what was missed of an action.
type missedAction struct {
	Action  string `json:"action"`
	All     int    `json:"all"`
	Missed  int    `json:"missed"`
	Between int    `json:"between_reached"` // of the missed: begin and end in states that were reached
	Why     string `json:"why"`
}

// missedTransition is a transition that was missed.
type missedTransition struct {
	Config  string `json:"cfg"`
	Action  string `json:"action"`
	From    string `json:"from"`
	To      string `json:"to"`
	Reached bool   `json:"from_reached"`
}

func (w *coveredWorld) report(o *coverageOptions) *worldCovered {
	r := &worldCovered{Config: w.name, Profiles: w.profiles, Runs: w.runs, Seed: uint64(o.seed), Elsewhere: w.space.Elsewhere(), Missed: []missedAction{}, Verdict: search.Held}
	r.States, r.StatesReached = w.space.States()
	for p, n := range w.space.Phases() {
		r.Phases = append(r.Phases, coveredPhase{refine.Phase(p).String(), n.All, n.Taken})
	}
	between := map[protocol.Kind]int{}
	for _, t := range w.space.Missed() {
		if w.space.Reached(t.From) && w.space.Reached(t.To) {
			between[t.Kind]++
		}
	}
	for kind, n := range w.space.Transitions() {
		r.Transitions += n.All
		r.TransitionsReached += n.Taken
		if n.Taken < n.All {
			k := protocol.Kind(kind)
			r.Missed = append(r.Missed, missedAction{k.String(), n.All, n.All - n.Taken, between[k], whyMissed[k]})
		}
	}
	switch {
	case w.diverged != nil && w.diverged.Divergence != nil:
		r.Verdict, r.Reason, r.Plan = search.Violated, w.diverged.Divergence.Sentence(), w.diverged.Plan.String()
	case w.diverged != nil:
		r.Verdict, r.Reason, r.Plan = search.Violated, w.diverged.Result.Finding.Error(), w.diverged.Plan.String()
	case w.stopped:
		r.Verdict, r.Reason = search.Undecided, fmt.Sprintf("stopped after %d of %d runs", w.runs, o.runs.n)
	}
	return r
}

func (w *coveredWorld) eachMissed(tell func(missedTransition)) {
	for _, t := range w.space.Missed() {
		tell(missedTransition{
			Config: w.name, Action: t.Kind.String(), Reached: w.space.Reached(t.From),
			From: refine.Words(w.space.State(t.From)), To: refine.Words(w.space.State(t.To)),
		})
	}
}

func (w *coveredWorld) write(out io.Writer, r *worldCovered, o *coverageOptions) {
	share := func(n, of int) string {
		return fmt.Sprintf("%s of %s (%.1f %%)", grouped(n), grouped(of), 100*float64(n)/float64(of))
	}
	labelled(out, "world", "%s", fmt.Sprintf("%s: handlers: %d, attempts with parameters p: %d, with others q: %d, faults: %d", w.name, w.model.Handlers, w.model.Attempts, w.model.Others, w.model.Faults))
	labelled(out, "runs", "%s", fmt.Sprintf("%s of the reference from seed %d, in all scenarios, with provider %s", grouped(r.Runs), r.Seed, strings.Join(r.Profiles, ", ")))
	labelled(out, "states", "%s", share(r.StatesReached, r.States))
	labelled(out, "transitions", "%s", share(r.TransitionsReached, r.Transitions))
	for _, p := range r.Phases {
		labelled(out, "", "%s", fmt.Sprintf("%s %s", share(p.Reached, p.Transitions), p.Phase))
	}
	labelled(out, "elsewhere", "%s", fmt.Sprintf("%s actions of the runs are not of this world: more runs at once, more messages, later versions", grouped(r.Elsewhere)))
	fmt.Fprintf(out, "\n%-18s %9s %9s %9s   %s\n", "missed", "all", "taken", "missed", "between states that were reached")
	for _, m := range r.Missed {
		fmt.Fprintf(out, "  %-16s %9s %9s %9s   %s\n", m.Action, grouped(m.All), grouped(m.All-m.Missed), grouped(m.Missed), grouped(m.Between))
	}
	fmt.Fprintln(out)
	for i, m := range r.Missed {
		same := []string{m.Action}
		for _, other := range r.Missed[i+1:] {
			if other.Why == m.Why {
				same = append(same, other.Action)
			}
		}
		if first := slices.IndexFunc(r.Missed, func(other missedAction) bool { return other.Why == m.Why }); first == i {
			fmt.Fprint(out, wrap(strings.Join(same, ", ")+": "+m.Why+".", "  "))
		}
	}
	if o.missed {
		fmt.Fprintln(out)
		w.eachMissed(func(m missedTransition) { fmt.Fprintf(out, "%s\n  %s\n  %s\n", m.Action, m.From, m.To) })
	}
	fmt.Fprintln(out)
	if r.Verdict == search.Held {
		labelled(out, "verdict", "held: each step of the runs is of the model")
		return
	}
	labelled(out, "verdict", "%s: %s", string(r.Verdict), r.Reason)
	fmt.Fprint(out, r.Plan)
}

const (
	anywhere = "it may come in every state, and random runs meet it in the common ones"
	atOnce   = "a run takes it within a hop, so that little comes in between"
	closely  = "clocks differ by 40 ms, and it takes a reading within that of the instant"
	fewAtOne = "random runs have few messages and unanswered writes under way at once"
)

// whyMissed says for each action why random runs miss some of its
// transitions.
var whyMissed = map[protocol.Kind]string{
	protocol.Claim:            "an attempt may arrive in every state; clients ask again after a time-out or a pause, when the others have mostly come to rest",
	protocol.ClaimUnanswered:  anywhere,
	protocol.ClaimBehind:      closely,
	protocol.Wait:             "a run waits 50 ms, and what the others do meanwhile is mostly the same",
	protocol.WaitBehind:       closely,
	protocol.ReadBack:         "it follows a conflict or an unanswered write, so that the fault before it is rare already",
	protocol.ReadBackBehind:   closely,
	protocol.TakeOver:         "a lease must be over while others are still at work",
	protocol.MarkSent:         atOnce,
	protocol.SendCharge:       atOnce,
	protocol.ChargeBehind:     closely,
	protocol.TimeOut:          fewAtOne,
	protocol.TimeOutEarly:     fewAtOne,
	protocol.LookUp:           "a lease must be over while others are still at work",
	protocol.LookUpLags:       "a charge must land within 50 ms before a look-up, after its sender's lease is over",
	protocol.LookUpBehind:     closely,
	protocol.Complete:         atOnce,
	protocol.Settle:           "no send may have landed, and the window is closed: most runs are over long before",
	protocol.Review:           "nobody may know what became of a send until its lease is long over: most runs are over before",
	protocol.UpdateUnanswered: anywhere,
	protocol.Reply:            "a run answers as soon as it knows what: nothing comes in between but where its process stands still",
	protocol.Crash:            anywhere,
	protocol.Sweep:            "the reconciler comes every 300 ms and finds most runs at rest",
	protocol.Collect:          "a reply is kept for 10.5 s, and no run and no message lives so long; only little is left that may still go on",
	protocol.LandApproved:     fewAtOne,
	protocol.LandDeclined:     fewAtOne,
	protocol.Lose:             fewAtOne,
	protocol.Duplicate:        fewAtOne,
	protocol.LandLate:         fewAtOne,
	protocol.LeaseEnds:        "it comes with time, at whatever instant: most runs are at rest then",
	protocol.LeaseEndsEarly:   "a process must stand still for as long as its lease",
	protocol.SendsDie:         "it comes more than a second after the lease, when most runs are at rest",
	protocol.WindowCloses:     "it comes a second after the claim or later, when the first lease is over and most runs are at rest",
	protocol.Forget:           "it comes after the window, when no run is left that did not just begin",
	protocol.HorizonEnds:      "it comes 9 s after the claim, and no run and no message lives so long",
}
