package explore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
)

func refused[S comparable](t *testing.T, m explore.Model[S], o explore.Options, words ...string) {
	t.Helper()
	_, err := explore.Explore(context.Background(), m, o)
	if !errors.Is(err, explore.ErrModel) {
		t.Errorf("not refused: %v", err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error does not speak of %q: %v", w, err)
		}
	}
}

func empty[S comparable]() explore.Model[S] {
	return explore.Model[S]{
		Initial: func() []S { return make([]S, 1) },
		Next:    func(steps []explore.Step[S], _ S) []explore.Step[S] { return steps },
	}
}

// TestStateTypes: states whose bytes are not their identity are refused.
func TestStateTypes(t *testing.T) {
	refused(t, empty[string](), explore.Options{}, "string")
	refused(t, empty[*int](), explore.Options{}, "*int")
	refused(t, empty[float64](), explore.Options{}, "float64")
	refused(t, empty[any](), explore.Options{}, "interface")
	refused(t, empty[[2]struct {
		a uint8
		b uint16
	}](), explore.Options{}, "1 bytes of padding")
	refused(t, empty[struct {
		a uint8
		_ uint8
	}](), explore.Options{}, "blank")
	for _, r := range []explore.Verdict{
		search(t, empty[bool](), explore.Options{}).Verdict,
		search(t, empty[int](), explore.Options{}).Verdict,
		search(t, empty[struct{}](), explore.Options{}).Verdict,
		search(t, empty[[3]struct{ a, b uint8 }](), explore.Options{}).Verdict,
	} {
		if r != explore.Held {
			t.Errorf("plain memory: %v", r)
		}
	}
}

// TestRefusals: every problem is reported, not only the first.
func TestRefusals(t *testing.T) {
	yes := func(uint8) bool { return true }
	refused(t, explore.Model[uint8]{}, explore.Options{Workers: -1, Symmetry: true}, "Initial", "Next", "Workers", "Canonical")

	m := empty[uint8]()
	m.Canonical = func(s uint8) uint8 { return s }
	m.Properties = []explore.Property[uint8]{explore.Eventually("end", yes)}
	refused(t, m, explore.Options{Symmetry: true}, "liveness", `"end"`)

	m.Properties = []explore.Property[uint8]{explore.Always("a", yes), explore.Sometimes("a", yes), explore.Always(explore.Deadlock, yes), {}}
	refused(t, m, explore.Options{}, "property 1", "property 2", "property 3")

	m = empty[uint8]()
	m.Fairness = make([]explore.Fairness, 64)
	refused(t, m, explore.Options{}, "64 fairness conditions", "condition 0")
}

// TestImpure: a model that answers otherwise when asked again is found out.
func TestImpure(t *testing.T) {
	next := uint8(0)
	m := explore.Model[uint8]{
		Initial: func() []uint8 { return []uint8{0} },
		Next: func(steps []explore.Step[uint8], s uint8) []explore.Step[uint8] {
			if next++; s != 0 {
				return steps
			}
			return append(steps, explore.Step[uint8]{Next: next})
		},
	}
	for _, p := range []explore.Property[uint8]{
		explore.Always("zero", func(s uint8) bool { return s == 0 }),
		explore.Eventually("more", func(s uint8) bool { return s > 0 }),
	} {
		m.Properties = []explore.Property[uint8]{p}
		if _, err := explore.Explore(context.Background(), m, explore.Options{}); !errors.Is(err, explore.ErrImpure) {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}

// TestPanic: a panic of the model reaches the caller, from a worker too.
func TestPanic(t *testing.T) {
	for workers := 1; workers <= 2; workers++ {
		func() {
			defer func() {
				v := recover()
				if err, ok := v.(error); v == nil || workers > 1 && (!ok || !strings.Contains(err.Error(), "too far")) {
					t.Errorf("with %d workers the panic was %v", workers, v)
				}
			}()
			m := large.model()
			m.Properties = []explore.Property[uint32]{explore.Always("near", func(v uint32) bool {
				if v == 4_711 {
					panic("too far")
				}
				return true
			})}
			search(t, m, explore.Options{Workers: workers})
		}()
	}
}
