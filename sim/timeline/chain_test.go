package timeline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

// chained performs a plan and returns what its violation rests on, in words.
func chained(t *testing.T, design, scenario string, lines ...string) (r *timeline.Run, words []string) {
	t.Helper()
	var f plan.Fixed
	var deviations []plan.Deviation
	for _, line := range lines {
		d, err := plan.ParseDeviation(line)
		if err != nil {
			t.Fatal(err)
		}
		deviations = append(deviations, d)
	}
	f.Reset(deviations)
	r = perform(t, design, "", scenario, nil, &f, 0)
	if unmet := f.Unmet(); len(unmet) > 0 {
		t.Fatalf("unmet: %v", unmet)
	}
	r.Chain = timeline.Chain(r)
	for _, i := range r.Chain {
		words = append(words, timeline.Describe(&r.Lines[i], r.Events))
	}
	return r, words
}

// A chain goes from the event back to the requests. It leaves out what the
// violation does not rest on.
func TestChain(t *testing.T) {
	for _, tt := range []struct {
		name, design, scenario string
		lines                  []string
		want                   []string
	}{
		{
			"a second charge after a take-over", "charge-then-save", "one-payment",
			[]string{"crash server-1 after charge of client-1/order-1/try-1"},
			[]string{
				"client-1 sends request of client-1/order-1/try-1 to server-1",
				"server-1 sends claim of client-1/order-1/try-1 to registry",
				"registry: order-1 is claimed, version 1, by server-1/1",
				"server-1 sends charge of client-1/order-1/try-1 to provider",
				"provider: ch_1: 12.00 EUR captured for order-1",
				"a choice at server-1",
				"server-2 answers client-1/order-1/try-2 to client-1", // in progress: that is why it asks again
				"client-1 sends request of client-1/order-1/try-3 to server-1",
				"registry answers client-1/order-1/try-3 to server-1", // the lease is over
				"server-1 sends take-over of client-1/order-1/try-3 to registry",
				"registry: order-1 is claimed, version 2, by server-1/2",
				"server-1 sends charge of client-1/order-1/try-3 to provider",
				"provider: ch_2: 12.00 EUR captured for order-1",
			},
		},
		{
			"two that look and see nothing", "check-then-insert", "two-replicas-one-key", nil,
			[]string{
				"client-1 sends request of client-1/order-1/try-1 to server-1",
				"client-2 sends request of client-2/order-1/try-1 to server-2",
				"registry answers client-1/order-1/try-1 to server-1",
				"registry answers client-2/order-1/try-1 to server-2",
				"server-1 sends charge of client-1/order-1/try-1 to provider",
				"server-2 sends charge of client-2/order-1/try-1 to provider",
				"provider: ch_1: 12.00 EUR captured for order-1",
				"provider: ch_2: 12.00 EUR captured for order-1",
			},
		},
		{"nothing falls", "reference", "one-payment", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, got := chained(t, tt.design, tt.scenario, tt.lines...)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			var b strings.Builder
			r.MaxRows = 2
			if err := timeline.Write(&b, r); err != nil {
				t.Fatal(err)
			}
			marked := strings.Count(b.String(), "ms»")
			if want := len(tt.want); want > 0 && marked != want+1 || want == 0 && marked != 0 { // one more says where it falls
				t.Errorf("%d rows are marked, want those of %d lines:\n%s", marked, want, &b)
			}
		})
	}
}

// A second claim rests on what made room for it.
func TestChainThroughForgetting(t *testing.T) {
	r, _ := chained(t, "short-retention", "retry-after-retention")
	for i := range r.Events { // it also falls that the record was forgotten; the second charge is the last one
		if r.Events[i].Kind == history.KindCharge {
			r.Violation = i
		}
	}
	var words []string
	for _, i := range timeline.Chain(r) {
		words = append(words, timeline.Describe(&r.Lines[i], r.Events))
	}
	text := strings.Join(words, "\n")
	forgotten := strings.Index(text, "registry: the record of order-1 is forgotten")
	second := strings.LastIndex(text, "registry: order-1 is claimed, version 1")
	if forgotten < 0 || second < forgotten {
		t.Errorf("the chain is\n%s", text)
	}
}

// Every line of a trace has words, those of the picture where it has a row.
func TestDescribe(t *testing.T) {
	r, _ := chained(t, "reference", "two-replicas-one-key", "drop server-1→provider charge of client-1/order-1/try-1",
		"crash server-2 after claim of client-2/order-1/try-1", "pause client-1 after request of client-1/order-1/try-1 short")
	seen := map[sim.Mark]bool{}
	for i := range r.Lines {
		l := &r.Lines[i]
		seen[l.Mark] = true
		if words := timeline.Describe(l, r.Events); words == "" || words == l.Mark.String() || strings.Contains(words, "(") && l.Mark != sim.MarkHistory {
			t.Errorf("%v: %q", l.Mark, words)
		}
	}
	for _, m := range []sim.Mark{
		sim.MarkSend, sim.MarkAnswer, sim.MarkDeliver, sim.MarkReturn, sim.MarkLost, sim.MarkTimeout, sim.MarkChoice, sim.MarkCrash,
		sim.MarkRestart, sim.MarkPause, sim.MarkSettle, sim.MarkHeal, sim.MarkEnd, sim.MarkHistory,
	} {
		if !seen[m] {
			t.Errorf("the run has no line of %v", m)
		}
	}
	if got := timeline.Describe(&sim.Line{Mark: sim.MarkHistory, Value: 9999}, r.Events); got != "history" {
		t.Error(got)
	}
	if got := timeline.At(1_500_000); got != "1.5ms" {
		t.Error(got)
	}
}
