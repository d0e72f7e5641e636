package search

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim/plan"
)

func TestCellsParse(t *testing.T) {
	for _, text := range []string{"held 2", "held 0", "SingleCharge 1", "SingleCharge >2", "Refines 2 sooner Resolves 1", "not-applicable"} {
		c, err := ParseCell(text)
		if err != nil || c.String() != text {
			t.Errorf("%q comes back as %q, %v", text, c.String(), err)
		}
	}
	for _, text := range []string{"", "held", "held x", "held -1", "held 1 2", "held >1", "Refines 2 later Resolves 1"} {
		if c, err := ParseCell(text); err == nil {
			t.Errorf("%q is read as %q", text, c.String())
		}
	}
	if c := (Cell{Verdict: Undecided, Reason: "why"}); c.String() != "undecided: why" {
		t.Error(c.String())
	}
}

func TestCellsAgree(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"held 2", "held 2", true}, {"held 1", "held 2", true}, {"SingleCharge 1", "SingleCharge 1", true},
		{"SingleCharge 1", "SingleCharge 2", false}, {"SingleCharge 1", "TruthfulReply 1", false},
		{"SingleCharge 2", "held 1", true}, {"SingleCharge 2", "held 2", false},
		{"held 2", "not-applicable", false}, {"SingleCharge 1", "not-applicable", false}, {"not-applicable", "not-applicable", true},
		{"Refines 2 sooner Resolves 1", "Refines 2", false},
		{"Refines >2", "Refines 3", true}, {"Refines >2", "Refines 2", false}, {"Refines >2", "Refines >1", true},
		{"Refines >2", "held 2", true}, {"Refines >2", "held 3", true}, {"Refines >2", "Resolves >2", false},
	} {
		a, err := ParseCell(tt.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseCell(tt.b)
		if err != nil {
			t.Fatal(err)
		}
		if a.Agrees(&b) != tt.want || b.Agrees(&a) != tt.want {
			t.Errorf("%q agrees with %q: %v and %v, want %v", tt.a, tt.b, a.Agrees(&b), b.Agrees(&a), tt.want)
		}
		if u := (Cell{Verdict: Undecided}); u.Agrees(&a) || a.Agrees(&u) {
			t.Errorf("what is undecided agrees with %q", tt.a)
		}
	}
}

func rowOf(t *testing.T, name string, opt MatrixOptions) map[string]*Cell {
	t.Helper()
	d, err := designs.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	opt.Open = openMemory
	opt.Worlds = func(d impl.Design) ([]Subject, error) {
		return slices.DeleteFunc(worlds(t, d), func(s Subject) bool {
			return s.Scenario.Name != "retry-other-replica" || s.Profile.Name != "keyed"
		}), nil
	}
	cells := map[string]*Cell{}
	if err := Row(context.Background(), d, opt, func(c *Cell) { cells[c.Faults] = c }); err != nil {
		t.Fatal(err)
	}
	return cells
}

// A cell says the same as an exhaustive search of its own.
func TestRow(t *testing.T) {
	cells := rowOf(t, "charge-then-save", MatrixOptions{Deviations: 2})
	if n := len(cells); n != 20 {
		t.Errorf("%d cells", n)
	}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		c := cells[class.String()]
		if c == nil {
			continue
		}
		p := exhaust(t, ExhaustiveOptions{Subject: small(t, "charge-then-save", "retry-other-replica", class), Deviations: 2})
		switch {
		case p.Violation != nil:
			if c.Verdict != Violated || c.Least != len(p.Violation.Plan.Deviations) || c.Invariant != p.Violation.Invariant.String() {
				t.Errorf("%s: the cell says %s, and this violates:\n%s", class, c, p.Violation.Plan)
			}
		case p.Plans == 1:
			if c.String() != "not-applicable" {
				t.Errorf("%s: the cell says %s, and there are no such faults", class, c)
			}
		default:
			if c.String() != "held 2" || c.Plans != p.Plans {
				t.Errorf("%s: the cell says %s of %d plans, and %d hold", class, c, c.Plans, p.Plans)
			}
		}
	}
	if all := cells[AllFaults]; all.String() != "SingleCharge 1" || all.Violation == nil {
		t.Errorf("all: %s", all)
	}
}

// With all classes on, a cell is about the invariant that the design is known
// to break, even where the first plan of the same size breaks another one.
func TestRowIsAboutTheKnownDefect(t *testing.T) {
	cells := rowOf(t, "always-rotate", MatrixOptions{Deviations: 1})
	if c := cells["drop"]; c.Invariant != "StableProviderKey" {
		t.Errorf("drop: %s; the test needs a class that breaks something else first", c)
	}
	if c := cells[AllFaults]; c.String() != "SingleCharge 1" {
		t.Errorf("all: %s", c)
	}
}

// A layer that is too large is not begun.
func TestRowBudget(t *testing.T) {
	free, bound := rowOf(t, "reference", MatrixOptions{Deviations: 1}), rowOf(t, "reference", MatrixOptions{Deviations: 2, Budget: 1})
	for name, c := range bound {
		if c.String() == "held 2" && c.Plans > free[name].Plans+1 || c.Verdict != Held {
			t.Errorf("%s: %s after %d plans", name, c, c.Plans)
		}
	}
	if all := bound[AllFaults]; all.String() != "held 1" || all.Plans != free[AllFaults].Plans {
		t.Errorf("all: %s after %d plans, want those %d of one deviation", all, all.Plans, free[AllFaults].Plans)
	}
}

func TestRowStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d, err := designs.ByName("reference")
	if err != nil {
		t.Fatal(err)
	}
	cells := 0
	err = Row(ctx, d, MatrixOptions{
		Deviations: 1, Open: openMemory, Worlds: func(d impl.Design) ([]Subject, error) { return worlds(t, d)[:1], nil },
	}, func(*Cell) {
		if cells++; cells == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || cells != 2 {
		t.Errorf("%v after %d cells", err, cells)
	}
}
