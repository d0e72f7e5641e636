package twophase_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/explore/twophase"
)

func search(t rapid.TB, m explore.Model[twophase.State], o explore.Options) explore.Result[twophase.State] {
	t.Helper()
	r, err := explore.Explore(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// figures are what a checker counts in the model with some managers.
type figures struct {
	managers            int
	distinct, generated uint64
	depth               int
}

// compare searches each model and fails where the counts are others.
func compare(t *testing.T, o explore.Options, all []figures) {
	for _, want := range all {
		if testing.Short() && want.managers > 7 {
			continue
		}
		r := search(t, twophase.Model(want.managers), o)
		got := figures{want.managers, r.Distinct, r.Generated, r.Depth}
		if r.Verdict != explore.Held || got != want {
			t.Errorf("%v with %+v, want %+v", r.Verdict, got, want)
		}
	}
}

// TestCounts has the figures that TLC 2.18 prints for the TLA+ module.
func TestCounts(t *testing.T) {
	compare(t, explore.Options{}, []figures{
		{1, 12, 20, 5},
		{2, 56, 154, 8},
		{3, 288, 1_146, 11},
		{4, 1_568, 8_258, 14},
		{5, 8_832, 58_146, 17},
		{6, 50_816, 402_306, 20},
		{7, 296_448, 2_744_706, 23},
		{8, 1_745_408, 18_507_778, 26},
	})
}

// TestSymmetricCounts has what TLC 2.18 prints with SYMMETRY
// Permutations(RM).
func TestSymmetricCounts(t *testing.T) {
	all := []figures{
		{1, 12, 20, 5},
		{2, 34, 94, 8},
		{3, 80, 318, 11},
		{4, 166, 869, 14},
		{5, 314, 2_048, 17},
		{6, 553, 4_328, 20},
	}
	compare(t, explore.Options{Symmetry: true}, all)
	compare(t, explore.Options{Symmetry: true, Exact: true}, all)
}

// TestSymmetricTrace: a counterexample found among representatives is a
// behaviour of the model, and as short as without symmetry.
func TestSymmetricTrace(t *testing.T) {
	m := twophase.Model(4)
	m.Properties = []explore.Property[twophase.State]{
		explore.Always("no commit", func(s twophase.State) bool { return s&3 != 1 || s>>4&3 != 3 && s>>16&3 != 3 }),
	}
	plain, symmetric := search(t, m, explore.Options{}), search(t, m, explore.Options{Symmetry: true})
	if symmetric.Verdict != explore.Violated || symmetric.Trace.Length() != plain.Trace.Length() {
		t.Fatalf("%v in %d steps, without symmetry %v in %d", symmetric.Verdict, symmetric.Trace.Length(), plain.Verdict, plain.Trace.Length())
	}
	for i, v := range symmetric.Trace.States[1:] {
		found := false
		for _, s := range m.Next(nil, symmetric.Trace.States[i].State) {
			found = found || s.Action == v.Action && s.Next == v.State
		}
		if !found {
			t.Errorf("step %d is not one of the model", i+1)
		}
	}
}

// TestAllDecide has the verdicts that TLC 2.18 gives on <>(all decided).
func TestAllDecide(t *testing.T) {
	const n = 3
	fair := twophase.Fairness(n)
	var anything explore.Fairness
	for a := range explore.Action(16 * 7) {
		anything.Actions = append(anything.Actions, a)
	}
	for _, c := range []struct {
		name     string
		fairness []explore.Fairness
		want     explore.Verdict
	}{
		{"none", nil, explore.Violated},
		{"the manager decides, messages arrive", fair, explore.Held},
		{"messages arrive", fair[1:], explore.Violated},
		{"something happens", []explore.Fairness{anything}, explore.Held},
	} {
		m := twophase.Model(n)
		m.Fairness = c.fairness
		m.Properties = append(m.Properties, twophase.AllDecide(n))
		r := search(t, m, explore.Options{})
		if r.Verdict != c.want {
			t.Errorf("%s: %v, want %v", c.name, r.Verdict, c.want)
		}
		if stays := r.Trace.Loop == len(r.Trace.States)-1; r.Verdict == explore.Violated && !stays {
			t.Errorf("%s: the lasso %v does not end in a stutter, and no other is possible", c.name, r.Trace)
		}
	}
}

// BenchmarkTwoPhase is the workload that other checkers are measured on: eight
// resource managers, 1,745,408 distinct states.
func BenchmarkTwoPhase(b *testing.B) {
	for workers := 1; workers <= 2; workers++ {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var distinct uint64
			for b.Loop() {
				r := search(b, twophase.Model(8), explore.Options{Workers: workers})
				if r.Verdict != explore.Held {
					b.Fatal(r.Verdict)
				}
				distinct += r.Distinct
				b.ReportMetric(r.BytesPerState, "bytes/state")
			}
			b.ReportMetric(float64(distinct)/b.Elapsed().Seconds(), "distinct/s")
		})
	}
}

// TestAllocations: what is allocated grows with the tables and blocks, not with
// the steps.
func TestAllocations(t *testing.T) {
	m := twophase.Model(7)
	var r explore.Result[twophase.State]
	allocations := testing.AllocsPerRun(1, func() { r = search(t, m, explore.Options{Workers: 1}) })
	if limit := float64(r.Distinct) / 10; allocations > limit {
		t.Errorf("%.0f allocations for %d states and %d steps, at most %.0f", allocations, r.Distinct, r.Generated, limit)
	}
}

// The whole of a small model.
func ExampleModel() {
	r, err := explore.Explore(context.Background(), twophase.Model(3), explore.Options{Exact: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Verdict, r.Distinct, r.Generated, r.Depth)
	for _, w := range r.Witnesses {
		fmt.Println(w.Property, "after", w.Trace.Length(), "steps")
	}
	// Output:
	// held 288 1146 11
	// AllCommit after 10 steps
	// AllAbort after 3 steps
}

// A defect is a change of Next: here the transaction manager commits without
// waiting for the last resource manager.
func Example() {
	m := twophase.Model(2)
	correct := m.Next
	m.Next = func(steps []explore.Step[twophase.State], s twophase.State) []explore.Step[twophase.State] {
		const decided, firstSeen, commit = 3, 1 << 7, 1
		if s&decided == 0 && s&firstSeen != 0 {
			steps = append(steps, explore.Step[twophase.State]{Action: 0, Next: s | commit})
		}
		return correct(steps, s)
	}
	r, err := explore.Explore(context.Background(), m, explore.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Property, r.Verdict)
	if err := r.Trace.Format(os.Stdout, m); err != nil {
		panic(err)
	}
	// Output:
	// Consistent violated
	//   1  start                    undecided
	//   2  RMChooseToAbort(r2)      undecided working aborted
	//   3  RMPrepare(r1)            undecided prepared! aborted
	//   4  TMRcvPrepared(r1)        undecided prepared!! aborted
	//   5  TMCommit                 commit prepared!! aborted
	//   6  RMRcvCommitMsg(r1)       commit committed!! aborted
}
