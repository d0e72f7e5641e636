package explore_test

import (
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// TestSummary has one line for each verdict.
func TestSummary(t *testing.T) {
	type result = explore.Result[uint8]
	counts := result{Distinct: 4, Generated: 13, Depth: 3, BytesPerState: 32.25, CollisionProbability: 3.2e-19}
	with := func(change func(*result)) result {
		r := counts
		change(&r)
		return r
	}
	for _, c := range []struct {
		r    result
		want string
	}{
		{with(func(r *result) { r.Verdict = explore.Held }),
			"held; 4 distinct of 13 generated states, depth 3; collision probability at most about 3e-19; 32.2 bytes a state"},
		{with(func(r *result) { r.Verdict, r.Exact = explore.Held, true }),
			"held; 4 distinct of 13 generated states, depth 3; exact; 32.2 bytes a state"},
		{with(func(r *result) {
			r.Verdict, r.Property, r.Exact = explore.Violated, "small", true
			r.Trace.States = make([]explore.Visit[uint8], 3)
		}), "violated: small in 2 steps; 4 distinct of 13 generated states, depth 3; exact; 32.2 bytes a state"},
		{with(func(r *result) { r.Verdict, r.Unmet, r.Exact = explore.Vacuous, []string{"a", "b"}, true }),
			"vacuous: never a, never b; 4 distinct of 13 generated states, depth 3; exact; 32.2 bytes a state"},
		{with(func(r *result) { r.Verdict, r.Stopped, r.Exact = explore.Incomplete, "enough", true }),
			"incomplete: enough; 4 distinct of 13 generated states, depth 3; exact; 32.2 bytes a state"},
	} {
		if got := c.r.Summary(); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

// TestFormat shows where a lasso goes on.
func TestFormat(t *testing.T) {
	m := line(2)
	trace := explore.Trace[uint8]{States: []explore.Visit[uint8]{{Action: explore.Start}, {Action: 7, State: 1}}, Loop: -1}
	const states = "  1  start                    0\n  2  7                        1\n"
	for loop, last := range map[int]string{-1: "", 0: "     and on from 1 for ever\n", 1: "     and stays there for ever\n"} {
		var b strings.Builder
		trace.Loop = loop
		if err := trace.Format(&b, m); err != nil || b.String() != states+last {
			t.Errorf("loop %d: %v\n%s", loop, err, b.String())
		}
	}
	var b strings.Builder
	if err := (explore.Trace[uint8]{Loop: -1}).Format(&b, m); err != nil || b.String() != "" {
		t.Errorf("no states: %v\n%s", err, b.String())
	}
}
