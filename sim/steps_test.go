package sim_test

import (
	"testing"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
)

// counts are the events of each kind.
type counts [history.KindCount]int

func (c *counts) Event(e *history.Event) { c[e.Kind]++ }

// TestStepsTellWhatHappened holds the steps of random runs against the history
// of the same run: as many writes, charges and sends, each of a call that was
// made before, and an answer only where one was given. A run that is asked for
// its steps is the same run.
func TestStepsTellWhatHappened(t *testing.T) {
	steps := new(history.Steps)
	seen := map[string]int{}
	for _, name := range []string{"keyed", "keyless-lookup"} {
		cfg := world(t, "reference", "mixed")
		cfg.Profile = profile(t, name)
		w := newStage(t, cfg)
		for run := range uint64(300) {
			var c counts
			draw, weather := swarm(&cfg, run)
			with := w.Run(draw, sim.Options{Weather: weather, Sink: &c, Steps: steps}).Hash
			draw, weather = swarm(&cfg, run)
			if without := w.Run(draw, sim.Options{Weather: weather}).Hash; with != without {
				t.Fatalf("%s, run %d: trace %016x with steps and %016x without", name, run, with, without)
			}
			checkSteps(t, steps, &c, seen)
		}
	}
	for _, want := range []string{"begin", "call", "served", "listed", "copied", "lost", "end", "died", "conflict", "not applied", "captured", "absorbed", "rejected", "declined"} {
		if seen[want] == 0 {
			t.Errorf("no step was %q: this test shows nothing about it", want)
		}
	}
}

func checkSteps(t *testing.T, steps *history.Steps, c *counts, seen map[string]int) {
	t.Helper()
	var sends, applied, deleted, captured, refused int
	over := make([]bool, len(steps.Runs))
	for i := range steps.Steps {
		s := &steps.Steps[i]
		seen[s.Kind.String()]++
		seen[s.Result.String()]++
		if i > 0 && (s.At < steps.Steps[i-1].At || s.Events < steps.Steps[i-1].Events) {
			t.Fatalf("step %d comes before the one before it", i)
		}
		switch s.Kind {
		case history.StepEnd, history.StepDied:
			if over[s.Run] {
				t.Fatalf("step %d: %s is over twice", i, steps.Runs[s.Run].Name)
			}
			over[s.Run] = true
			continue
		case history.StepBegin:
			continue
		}
		call := &steps.Calls[s.Call]
		if call.Run != s.Run {
			t.Fatalf("step %d is of one run and its call of another", i)
		}
		if s.Kind == history.StepCall {
			if over[s.Run] {
				t.Fatalf("step %d: %s calls and is over", i, steps.Runs[s.Run].Name)
			}
			if call.Verb == history.VerbCharge && call.Left {
				sends++
			}
			for _, at := range []int32{call.Applied, call.Answered} {
				if at != history.Nowhere && (at <= int32(i) || steps.Steps[at].Kind != history.StepServed || steps.Steps[at].Call != s.Call) {
					t.Fatalf("step %d: its call was answered by step %d, which is none of it", i, at)
				}
			}
		}
		switch s.Result {
		case history.ResultApplied:
			if call.Applied != int32(i) {
				t.Fatalf("step %d applied a call that was applied by step %d", i, call.Applied)
			}
			if applied++; call.Verb == history.VerbDelete {
				deleted++
			}
		case history.ResultCaptured:
			captured++
		case history.ResultDeclined:
			refused++
		}
	}
	if applied-deleted != c[history.KindWrite] || deleted != c[history.KindForget] || sends != c[history.KindSend] ||
		captured != c[history.KindCharge] || refused != c[history.KindRefusal] {
		t.Fatalf("the steps have %d writes, %d deletes, %d sends, %d charges and %d declines, the history %v", applied-deleted, deleted, sends, captured, refused, *c)
	}
}
