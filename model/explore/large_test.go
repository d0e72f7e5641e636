package explore_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

// scattered is a graph of many nodes that looks random and is not: wide
// levels, many rounds, edges back. Both the search and a plain map can visit
// it.
type scattered struct{ nodes, degree uint32 }

func (g scattered) to(v, k uint32) uint32 {
	h := uint64(v)<<8 | uint64(k)
	h = (h ^ h>>31) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	return uint32((h ^ h>>32) % uint64(g.nodes))
}

func (g scattered) model() explore.Model[uint32] {
	return explore.Model[uint32]{
		Initial: func() []uint32 { return []uint32{0, 1} },
		Next: func(steps []explore.Step[uint32], v uint32) []explore.Step[uint32] {
			for k := range g.degree {
				steps = append(steps, explore.Step[uint32]{Action: explore.Action(k), Next: g.to(v, k)})
			}
			return steps
		},
	}
}

// distances is a breadth-first search over a map.
func (g scattered) distances() (distance map[uint32]int, depth int) {
	distance = map[uint32]int{0: 0, 1: 0}
	for level := []uint32{0, 1}; len(level) > 0; depth++ {
		var next []uint32
		for _, v := range level {
			for k := range g.degree {
				w := g.to(v, k)
				if _, seen := distance[w]; !seen {
					distance[w] = depth + 1
					next = append(next, w)
				}
			}
		}
		level = next
	}
	return distance, depth
}

var large = scattered{nodes: 60_000, degree: 3}

// TestLarge compares a search of many rounds with one over a map.
func TestLarge(t *testing.T) {
	distance, depth := large.distances()
	for _, exact := range []bool{false, true} {
		m := large.model()
		for _, target := range []uint32{17, 4_711, 59_999} {
			m.Properties = []explore.Property[uint32]{explore.Sometimes("target", func(v uint32) bool { return v == target })}
			r := search(t, m, explore.Options{Exact: exact})
			if r.Distinct != uint64(len(distance)) || r.Generated != 2+3*r.Distinct || r.Depth != depth {
				t.Fatalf("distinct %d, generated %d, depth %d; want %d, %d, %d", r.Distinct, r.Generated, r.Depth, len(distance), 2+3*len(distance), depth)
			}
			want, reachable := distance[target]
			if reachable != (r.Verdict == explore.Held) {
				t.Fatalf("node %d: %v", target, r.Verdict)
			}
			if reachable {
				checkPath(t, m, r.Witnesses[0].Trace)
				if got := r.Witnesses[0].Trace.Length(); got != want {
					t.Errorf("node %d is %d steps away, not %d", target, want, got)
				}
			}
		}
	}
}

// TestWorkers holds all that a result says against the number of workers:
// of searches that hold, that are violated (by many states of one level, so
// that the choice among them matters), and that run out of memory.
func TestWorkers(t *testing.T) {
	odd := func(v uint32) bool { return v%5_000 != 4_999 }
	for name, c := range map[string]struct {
		property explore.Property[uint32]
		options  explore.Options
		want     explore.Verdict
	}{
		"held":               {explore.Sometimes("any", func(v uint32) bool { return !odd(v) }), explore.Options{}, explore.Held},
		"violated":           {explore.Always("odd", odd), explore.Options{}, explore.Violated},
		"violated, exact":    {explore.Always("odd", odd), explore.Options{Exact: true}, explore.Violated},
		"violated step":      {explore.AlwaysStep("odd", func(_ uint32, a explore.Action, v uint32) bool { return odd(v) || a != 2 }), explore.Options{}, explore.Violated},
		"violated, liveness": {explore.LeadsTo("odd", odd, func(v uint32) bool { return v%2 == 0 }), explore.Options{}, explore.Violated},
		"incomplete":         {explore.Always("small", func(v uint32) bool { return v < 60_000 }), explore.Options{MaxBytes: 1 << 20}, explore.Incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			m := large.model()
			m.Properties = []explore.Property[uint32]{c.property}
			var first explore.Result[uint32]
			for workers := 1; workers <= 3; workers++ {
				c.options.Workers = workers
				r := search(t, m, c.options)
				if r.Verdict != c.want {
					t.Fatalf("%v with %d workers, want %v", r.Verdict, workers, c.want)
				}
				if workers == 1 {
					first = r
				} else if !reflect.DeepEqual(r, first) {
					t.Errorf("with %d workers\n%+v\nwith one\n%+v", workers, r, first)
				}
			}
		})
	}
}

// TestExactAgrees: fingerprints and states take the same way.
func TestExactAgrees(t *testing.T) {
	m := large.model()
	m.Properties = []explore.Property[uint32]{explore.Always("odd", func(v uint32) bool { return v%5_000 != 4_999 })}
	a, b := search(t, m, explore.Options{}), search(t, m, explore.Options{Exact: true})
	if !reflect.DeepEqual(a.Trace, b.Trace) || a.Distinct != b.Distinct || a.Generated != b.Generated {
		t.Errorf("fingerprints %+v\nstates %+v", a, b)
	}
	if a.CollisionProbability <= 0 || b.CollisionProbability != 0 {
		t.Errorf("collision probability %g with fingerprints, %g with states", a.CollisionProbability, b.CollisionProbability)
	}
}

// TestMaxBytes: whatever the bound, the search stays below it and is held
// only if it saw everything.
func TestMaxBytes(t *testing.T) {
	for _, live := range []bool{false, true} {
		m := large.model()
		if live {
			m.Properties = []explore.Property[uint32]{explore.InfinitelyOften("any", func(uint32) bool { return true })}
		}
		whole := search(t, m, explore.Options{})
		seen := map[explore.Verdict]bool{}
		for bound := whole.Bytes / 64; bound <= whole.Bytes+whole.Bytes/4; bound += whole.Bytes / 16 {
			r := search(t, m, explore.Options{MaxBytes: bound})
			seen[r.Verdict] = true
			if want := whole.Bytes <= bound; (r.Verdict == explore.Held) != want || r.Verdict == explore.Held && !reflect.DeepEqual(r, whole) {
				t.Errorf("%v with %d bytes, %d are needed", r.Verdict, bound, whole.Bytes)
			}
			if r.Bytes > bound {
				t.Errorf("%d bytes were used, the bound is %d", r.Bytes, bound)
			}
			if r.Verdict == explore.Incomplete && r.Stopped == "" {
				t.Error("incomplete without a reason")
			}
		}
		if !seen[explore.Incomplete] || !seen[explore.Held] || len(seen) != 2 {
			t.Errorf("the bounds gave %v", seen)
		}
	}
}

// TestStop cancels a search from its progress.
func TestStop(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	calls := 0
	r, err := explore.Explore(ctx, large.model(), explore.Options{ProgressEvery: 1, Progress: func(p explore.Progress) {
		calls++
		if p.Distinct > 10_000 {
			cancel(enough)
		}
		if p.Distinct < p.Queue || p.Generated < p.Distinct || p.Depth == 0 {
			t.Errorf("progress %+v", p)
		}
	}})
	if err != nil || r.Verdict != explore.Incomplete || r.Complete || r.Stopped != enough.Error() {
		t.Errorf("%v (complete %v, stopped by %q), %v; want incomplete, stopped by %q", r.Verdict, r.Complete, r.Stopped, err, enough)
	}
	if calls == 0 || r.Distinct < 10_000 || r.Distinct >= uint64(large.nodes) {
		t.Errorf("%d calls, %d states", calls, r.Distinct)
	}
}
