package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// alwaysEffective are the classes that have an effect wherever a run comes by
// their site: there is no story in which they are chosen in vain.
var alwaysEffective = map[plan.Class]string{
	plan.ClassCrash:             "only a process that is at work comes by a site",
	plan.ClassRefuse:            "the request that is refused is there",
	plan.ClassFreeze:            "the request from which on it stands still waits",
	plan.ClassFailBefore:        "the request that fails is there",
	plan.ClassHoldBeyond:        "the provider is always up",
	plan.ClassPauseBeyond:       "the message leaves too late",
	plan.ClassPastHorizon:       "the attempt comes too late",
	plan.ClassDuplicateUnstored: "the provider is always up",
}

// The stories are plans without their first line, and what became of them:
// how often each class was chosen and took effect, and which invariants fall.
func TestEffects(t *testing.T) {
	var chosen, effective, idle sim.Counts
	datadriven.RunTest(t, "testdata/effects.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "run" {
			t.Fatalf("%s: no command is called %s", d.Pos, d.Cmd)
		}
		p, err := plan.Parse("chargeonce plan v1\n" + d.Input)
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		s := newStage(t, planned(t, p))
		var f plan.Fixed
		f.Reset(p.Deviations)
		res := s.run(&f, p.Weather)
		var b strings.Builder
		for class := range plan.ClassCount {
			if res.Chosen[class] == 0 && res.Effective[class] == 0 {
				continue
			}
			fmt.Fprintf(&b, "%s: chosen %d, took effect %d\n", class, res.Chosen[class], res.Effective[class])
			chosen[class] += res.Chosen[class]
			effective[class] += res.Effective[class]
			if res.Effective[class] == 0 {
				idle[class]++
			}
		}
		for _, u := range f.Unmet() {
			fmt.Fprintf(&b, "unmet: %s\n", u)
		}
		switch v := s.violated(); {
		case res.Finding != nil:
			fmt.Fprintf(&b, "found: %v\n", res.Finding)
		case v != nil:
			fmt.Fprintf(&b, "violated: %s\n", strings.Join(v, ", "))
		default:
			b.WriteString("held\n")
		}
		return b.String()
	})
	if t.Failed() {
		return
	}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		switch why := alwaysEffective[class]; {
		case effective[class] == 0:
			t.Errorf("no story shows %s taking effect", class)
		case why == "" && idle[class] == 0:
			t.Errorf("no story shows %s chosen in vain", class)
		case why != "" && idle[class] > 0:
			t.Errorf("%s was chosen in vain, and is said to be always effective: %s", class, why)
		}
	}
}

// A pause during which nothing happens but time-outs that are long over has
// had no effect.
func TestAPauseDuringWhichNothingHappensIsIdle(t *testing.T) {

	s := newStage(t, world(t, "reference", "one-payment"))
	res := s.follow(t, "pause server-1 after complete of client-1/order-1/try-1 past-timeout")
	if n := res.Effective[plan.ClassPause]; n != 0 {
		t.Errorf("it took effect %d times, and nothing else happened meanwhile", n)
	}
}

// A card that is declined anyway is not declined by a fault.
func TestADeclineOfADeclinedCardIsIdle(t *testing.T) {

	s := newStage(t, world(t, "reference", "decline"))
	res := s.follow(t, "decline provider charge of client-1/order-1/try-1")
	if n := res.Effective[plan.ClassDecline]; n != 0 {
		t.Errorf("it took effect %d times, and the card is declined anyway", n)
	}
}

// The history names the provider key that was sent, not the reference by
// which look-up finds the charge.
func TestTheHistoryNamesTheKeyThatWasSent(t *testing.T) {

	s := newStage(t, world(t, "key-per-attempt", "one-payment"))
	s.follow(t, "crash server-1 after charge of client-1/order-1/try-1")
	sent, landed := map[string]bool{}, map[string]bool{}
	for _, e := range s.events {
		switch e.Kind {
		case history.KindSend:
			sent[e.ProviderKey] = true
		case history.KindCharge:
			landed[e.ProviderKey] = true
		}
	}
	if len(sent) != 2 || len(landed) != 2 {
		t.Errorf("two sends under two keys are told as %d, and land as %d", len(sent), len(landed))
	}
	if !slices.Contains(s.violated(), "StableProviderKey") {
		t.Errorf("it violates %v", s.violated())
	}
}

// While it is calm nothing goes wrong but clocks, whatever is chosen.
func TestCalm(t *testing.T) {
	cfg := world(t, "reference", "retry-at-horizon")
	s := newStage(t, cfg)
	s.run(chooserFunc(func(_ plan.Site, menu []plan.Choice) plan.Choice { return menu[len(menu)-1] }), 0)
	chosen, late := 0, 0
	for _, l := range s.Lines() {
		switch {
		case l.Mark != sim.MarkChoice:
		case l.Step == impl.StepNone:
			chosen++ // of a clock
		case l.At < int64(cfg.Scenario.Calm):
			t.Errorf("something goes wrong at %v", time.Duration(l.At))
		default:
			late++
		}
	}
	if chosen == 0 || late == 0 {
		t.Errorf("%d clocks are off, and %d things go wrong later; want some of both", chosen, late)
	}
}
