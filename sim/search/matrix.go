package search

import (
	"context"
	"fmt"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Cell is a design under some fault classes.
type Cell struct {
	Design    string
	Faults    string // a class, or AllFaults
	Verdict   Verdict
	Offered   bool // the classes offer something in the design's worlds
	Bound     int  // held: all plans with at most so many deviations did
	Least     int  // violated: the least number of deviations
	Invariant string
	Plans     int // run
	Violation *Violation
}

// AllFaults names the column of all classes together.
const AllFaults = "all"

// String returns what the table shows: "held ≤2", "SingleCharge 1", "–".
func (c *Cell) String() string {
	switch {
	case c.Verdict == Violated:
		return fmt.Sprintf("%s %d", c.Invariant, c.Least)
	case !c.Offered:
		return "–"
	case c.Verdict == Undecided:
		return fmt.Sprintf("held ≤%d, more undecided", c.Bound)
	default:
		return fmt.Sprintf("held ≤%d", c.Bound)
	}
}

// MatrixOptions say what a matrix holds.
type MatrixOptions struct {
	// Worlds returns the subjects of a design, their classes aside.
	Worlds func(impl.Design) ([]Subject, error)
	// Alone is how many deviations of one class are searched, All how many of
	// all classes together.
	Alone, All int
	Budget     int // runs for one cell and world; 0 is no bound
	Open       OpenStore
	Workers    int
}

// Row computes the cells of one design: each class alone, then all together.
func Row(ctx context.Context, d impl.Design, opt MatrixOptions, each func(Cell) error) error {
	worlds, err := opt.Worlds(d)
	if err != nil {
		return err
	}
	broken := []impl.Assumption(nil)
	if len(worlds) > 0 {
		broken = worlds[0].Break
	}
	within := sim.Within(broken...)
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		if !within[class] {
			continue
		}
		var alone [plan.ClassCount]bool
		alone[class] = true
		cell, err := compute(ctx, d, worlds, alone, opt.Alone, &opt)
		if err != nil {
			return err
		}
		cell.Faults = class.String()
		if err := each(cell); err != nil {
			return err
		}
	}
	cell, err := compute(ctx, d, worlds, within, opt.All, &opt)
	if err != nil {
		return err
	}
	cell.Faults = AllFaults
	return each(cell)
}

// compute searches all worlds of a design with some classes, and keeps the
// smallest violation.
func compute(ctx context.Context, d impl.Design, worlds []Subject, classes [plan.ClassCount]bool, most int, opt *MatrixOptions) (Cell, error) {
	cell := Cell{Design: d.Name, Verdict: Held, Bound: most}
	target := invariant.Name(0)
	if d.Expect != string(Held) {
		var err error
		if target, err = invariant.Parse(d.Expect); err != nil {
			return cell, err
		}
	}
	for _, s := range worlds {
		s.Classes = classes
		p, err := Exhaust(ctx, ExhaustiveOptions{
			Subject: s, Deviations: most, Target: target, Open: opt.Open, Budget: opt.Budget, Workers: opt.Workers,
		})
		if err != nil {
			return cell, err
		}
		cell.Plans += p.Plans
		for _, l := range p.Layers {
			cell.Offered = cell.Offered || l.Deviations > 0 && l.Plans > 0
		}
		switch p.Verdict {
		case Held:
		case Violated:
			if p.Violation == nil {
				return cell, p.Finding
			}
			if cell.Verdict != Violated || len(p.Violation.Plan.Deviations) < cell.Least {
				cell.Verdict, cell.Violation = Violated, p.Violation
				cell.Least, cell.Invariant = len(p.Violation.Plan.Deviations), p.Violation.Invariant.String()
			}
			most = min(most, cell.Least)
		case Undecided:
			if cell.Verdict == Held {
				cell.Verdict = Undecided
				cell.Bound = min(cell.Bound, p.Next.Layer-1)
			}
		default:
			return cell, fmt.Errorf("search: %s in scenario %s: %s: %s", d.Name, s.Scenario.Name, p.Verdict, p.Reason)
		}
		if cell.Verdict == Violated && cell.Least == 0 {
			break
		}
	}
	return cell, nil
}
