package sim_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/compensate"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// The design journal-and-compensate claims to be what model/compensate says.
// Here it is held to that by what is to be seen from outside of its processes:
// whatever comes one after the other in a run must be able to come so in the
// model, with whatever steps in between that nobody sees.

// sight is what is to be seen of an operation.
type sight struct {
	record  compensate.RecordState
	reply   compensate.Answer
	audit   compensate.AuditState
	made    uint8
	refunds [8]uint8 // of each charge, counted from 0
	told    compensate.Set
	travels uint8 // charge requests
}

func (s sight) String() string {
	return fmt.Sprintf("record %v (%v), audit %v, %d charges given back %v times, told %v, %d charge requests travel",
		s.record, s.reply, s.audit, s.made, s.refunds[:s.made], s.told.Charges(), s.travels)
}

// follower follows what is seen of a run in the model: it keeps every state
// that the model may be in. Many runs begin alike, so it remembers.
type follower struct {
	model compensate.Config
	known map[string]map[compensate.State]bool // by what was seen so far
}

func newFollower(cfg *sim.Config) *follower {
	return &follower{known: make(map[string]map[compensate.State]bool), model: compensate.Config{
		Handlers: 2, Reconcilers: 1, Faults: 4, Declines: true, Ages: true, GivesUp: true, Persistent: true,
		RefundsOnce: cfg.Profile.RefundsOnce, RefundKeys: cfg.Profile.RefundKeys,
	}}
}

func (f *follower) seen(s *compensate.State) sight {
	v := sight{record: s.Record.State, reply: s.Record.Reply, audit: s.Audit.State, made: s.Made, travels: s.Stray}
	for i := range s.Made {
		v.refunds[i] = s.Charge(i + 1).Refunds
	}
	for _, a := range s.Told() {
		v.told |= 1 << a.Charge
	}
	for h := range f.model.Handlers + f.model.Reconcilers {
		if s.Run(compensate.Slot(h+1)).At == compensate.AtSent {
			v.travels++
		}
	}
	return v
}

// closed adds what the model may come to unseen.
func (f *follower) closed(states map[compensate.State]bool, at sight) map[compensate.State]bool {
	queue := make([]compensate.State, 0, len(states))
	for s := range states {
		queue = append(queue, s)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		compensate.Next(&f.model, queue[0], func(_ compensate.Action, s compensate.State) {
			if !states[s] && f.seen(&s) == at {
				states[s] = true
				queue = append(queue, s)
			}
		})
	}
	return states
}

// follow returns how many of the sights the model can have, one after the
// other.
func (f *follower) follow(sights []sight) int {
	initial := compensate.Initial(&f.model)
	path, at := "", f.seen(&initial)
	states := f.known[path]
	if states == nil {
		states = f.closed(map[compensate.State]bool{initial: true}, at)
		f.known[path] = states
	}
	for i, next := range sights {
		path += fmt.Sprint(next, ";")
		if f.known[path] == nil {
			reached := make(map[compensate.State]bool)
			for s := range states {
				compensate.Next(&f.model, s, func(_ compensate.Action, t compensate.State) {
					if f.seen(&t) == next {
						reached[t] = true
					}
				})
			}
			f.known[path] = f.closed(reached, next)
		}
		if states = f.known[path]; len(states) == 0 {
			return i
		}
	}
	return len(sights)
}

// watcher tells what is seen of the one operation of a run. A charge request
// travels from the clock reading that permits it, and a reply is told when the
// handler returns.
type watcher struct {
	now     sight
	charges map[string]uint8
	sights  []sight
}

func (w *watcher) event(e *history.Event) {
	switch isAudit := strings.HasPrefix(e.Scope, "audit "); e.Kind {
	case history.KindWrite:
		switch {
		case e.Tombstone:
			return
		case isAudit && e.State == history.StateSucceeded:
			w.now.audit = compensate.AuditDone
		case isAudit:
			w.now.audit = compensate.AuditOpen
		default:
			w.now.record = compensate.RecordState(e.State)
			if w.now.reply = (compensate.Answer{}); e.State.Terminal() {
				w.now.reply = w.answer(e.Outcome, e.Charge)
			}
		}
	case history.KindCharge:
		w.now.made++
		w.now.travels--
		w.charges[e.Charge] = w.now.made
	case history.KindRefusal:
		w.now.travels--
	case history.KindRefund:
		w.now.refunds[w.charges[e.Charge]-1]++
	default:
		return
	}
	w.see()
}

func (w *watcher) answer(o history.Outcome, charge string) compensate.Answer {
	if o == history.OutcomePaid {
		return compensate.Answer{Says: compensate.Paid, Charge: w.charges[charge]}
	}
	return compensate.Answer{Says: compensate.Declined}
}

func (w *watcher) step(steps *history.Steps, s *history.Step) {
	switch {
	case s.Kind == history.StepCall && steps.Calls[s.Call].Verb == history.VerbCharge && steps.Calls[s.Call].Left:
		w.now.travels++
	case s.Kind == history.StepLost:
		w.now.travels--
	case s.Kind == history.StepEnd && (s.Outcome == history.OutcomePaid || s.Outcome == history.OutcomeDeclined):
		w.now.told |= 1 << w.answer(s.Outcome, s.Charge).Charge
	default:
		return
	}
	w.see()
}

func (w *watcher) see() {
	if len(w.sights) == 0 && w.now == (sight{}) || len(w.sights) > 0 && w.sights[len(w.sights)-1] == w.now {
		return
	}
	w.sights = append(w.sights, w.now)
}

// watch merges the steps of a run with its history.
func watch(events []history.Event, steps *history.Steps) []sight {
	w := watcher{charges: make(map[string]uint8)}
	next := 0
	for i := range steps.Steps {
		s := &steps.Steps[i]
		for ; next < int(s.Events); next++ {
			w.event(&events[next])
		}
		w.step(steps, s)
	}
	for ; next < len(events); next++ {
		w.event(&events[next])
	}
	return w.sights
}

// some is a chooser of a late first charge, most often, and of a few faults
// more, most of them where money or the end is at stake. Faults that last are
// left out: each costs the model several of its own.
func some(random *rand.Rand, faults int) sim.Chooser {
	first := true
	return chooserFunc(func(site plan.Site, menu []plan.Choice) plan.Choice {
		odds := 60
		switch site.Step() {
		case impl.StepCharge:
			if odds = 12; site.What() == plan.WhatMessage && first {
				odds, first = 1, false
			}
		case impl.StepComplete, impl.StepLookUp, impl.StepMarkSent, impl.StepTakeOver:
			odds = 12
		case impl.StepRefund:
			odds = 2
		}
		if faults == 0 || random.IntN(odds) > 0 {
			return plan.Choice{}
		}
		var eligible []plan.Choice
		for _, c := range menu {
			switch c.Class {
			case plan.ClassDrop, plan.ClassHold, plan.ClassHoldUntil, plan.ClassDuplicate, plan.ClassCrash, plan.ClassPause, plan.ClassDecline,
				plan.ClassRefuse, plan.ClassFailBefore, plan.ClassFailAfter, plan.ClassLate, plan.ClassLag:
				if c.Bound != plan.BoundBy {
					eligible = append(eligible, c)
				}
			}
		}
		if len(eligible) == 0 {
			return plan.Choice{}
		}
		faults--
		return eligible[random.IntN(len(eligible))]
	})
}

// followed is what came of the runs of a design that were followed.
type followed struct {
	diverged  string // the first run that is none of the model's
	givenBack int    // runs in which a charge was given back
	declined  int    // runs that ended so
}

// run makes runs of a design and follows each.
func (f *follower) run(t *testing.T, cfg sim.Config, runs uint64) (all followed) {
	t.Helper()
	w, steps := newStage(t, cfg), new(history.Steps)
	for n := range runs {
		w.events = w.events[:0]
		w.checker.Reset(w.Header())
		res := w.Run(some(rand.New(rand.NewPCG(n, 1)), 3), sim.Options{Sink: w, Steps: steps})
		sights := watch(w.events, steps)
		if got := f.follow(sights); got < len(sights) {
			all.diverged = fmt.Sprintf("after %v, the model cannot come to %v: %v", sights[max(0, got-1)], sights[got], res.Deviations)
			return all
		}
		last := sights[len(sights)-1]
		if last.refunds != (sight{}).refunds {
			all.givenBack++
		}
		if last.record == compensate.DeclinedState {
			all.declined++
		}
	}
	return all
}

// TestCompensationIsInTheModel follows random runs of the design in the model:
// what is seen of it, one thing after the other, the model can do, too.
func TestCompensationIsInTheModel(t *testing.T) {
	for _, name := range design(t, "journal-and-compensate").Profiles {
		t.Run(name, func(t *testing.T) {
			cfg := world(t, "journal-and-compensate", "one-payment")
			cfg.Profile = profile(t, name)
			f := newFollower(&cfg)
			for _, tt := range []struct {
				scenario            string
				givenBack, declined int // in so many of 300 runs at least
			}{
				{"one-payment", 30, 0}, {"retry-other-replica", 20, 0}, {"decline", 0, 100},
			} {
				cfg.Scenario = scenario(t, tt.scenario)
				all := f.run(t, cfg, 300)
				if all.diverged != "" {
					t.Errorf("%s: %s", tt.scenario, all.diverged)
				}
				if all.givenBack < tt.givenBack || all.declined < tt.declined {
					t.Errorf("%s: %+v: this shows little", tt.scenario, all)
				}
			}
		})
	}
}

// TestWrongCompensationIsNotInTheModel: were a design wrong, it would be seen.
func TestWrongCompensationIsNotInTheModel(t *testing.T) {
	for _, name := range []string{"compensate-no-audit", "audit-stops-early", "refund-own-choice", "blind-refund-retry", "unkeyed-refund"} {
		t.Run(name, func(t *testing.T) {
			cfg := world(t, name, "one-payment")
			if all := newFollower(&cfg).run(t, cfg, 2000); all.diverged == "" {
				t.Errorf("it follows the model: %+v", all)
			}
		})
	}
}
