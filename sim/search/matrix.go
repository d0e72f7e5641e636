package search

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Cell is a design under some fault classes, in all of its worlds.
type Cell struct {
	Design  string
	Faults  string // a class, or AllFaults
	Verdict Verdict
	Reason  string // of undecided and nondeterministic
	Offered bool   // the classes offer something in the design's worlds
	Bound   int    // all plans with at most so many deviations hold; -1 is none
	Least   int    // violated: by so many deviations; if Proven, by no fewer
	Proven  bool   // violated: all plans with fewer deviations hold
	// Invariant is what falls: the gravest of the first of the smallest plans
	// or, where a design is known to break one and all classes are on, that one.
	Invariant string
	// Sooner is an invariant that falls by fewer deviations than the one that
	// the design is known to break, with their number; "" if none does.
	Sooner    string
	Plans     int // run
	Violation *Violation
	Finding   *sim.Finding
	FindingAt *plan.Plan
}

// AllFaults names the column of all classes together.
const AllFaults = "all"

// notOffered is the text of a cell whose classes do not occur in its worlds.
const notOffered = "not-applicable"

// Size is the number of deviations of a violated cell: "2", or ">2" where two
// do not and more were not all run.
func (c *Cell) Size() string {
	if c.Proven {
		return strconv.Itoa(c.Least)
	}
	return ">" + strconv.Itoa(c.Bound)
}

// String returns the cell in words that [ParseCell] reads: "held 2",
// "SingleCharge 1", "SingleCharge >2", "Refines 2 sooner Resolves 1",
// "not-applicable". A cell that was not decided has its reason.
func (c *Cell) String() string {
	switch {
	case c.Verdict == Violated && c.Sooner != "":
		return fmt.Sprintf("%s %s sooner %s", c.Invariant, c.Size(), c.Sooner)
	case c.Verdict == Violated:
		return fmt.Sprintf("%s %s", c.Invariant, c.Size())
	case c.Verdict != Held:
		return fmt.Sprintf("%s: %s", c.Verdict, c.Reason)
	case !c.Offered:
		return notOffered
	}
	return fmt.Sprintf("held %d", c.Bound)
}

// ParseCell reads what String writes of a decided cell: the verdict, the
// number of deviations, and what falls.
func ParseCell(text string) (c Cell, err error) {
	if text == notOffered {
		return Cell{Verdict: Held}, nil
	}
	words := strings.Fields(text)
	if len(words) != 2 && (len(words) != 5 || words[2] != "sooner") {
		return c, fmt.Errorf("search: %q is no cell of a matrix", text)
	}
	number, over := strings.CutPrefix(words[1], ">")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || over && words[0] == string(Held) {
		return c, fmt.Errorf("search: %q is no cell of a matrix", text)
	}
	c.Offered = true
	if words[0] == string(Held) {
		c.Verdict, c.Bound = Held, n
		return c, nil
	}
	c.Verdict, c.Invariant, c.Least, c.Bound, c.Proven = Violated, words[0], n, n-1, true
	if over {
		c.Least, c.Bound, c.Proven = n+1, n, false
	}
	if len(words) == 5 {
		c.Sooner = words[3] + " " + words[4]
	}
	return c, nil
}

// Agrees reports whether a cell and another of the same name, perhaps
// computed with other bounds, can both be true.
func (c *Cell) Agrees(with *Cell) bool {
	decided := func(v Verdict) bool { return v == Held || v == Violated }
	switch {
	case !decided(c.Verdict) || !decided(with.Verdict):
		return false
	case c.Verdict == Violated && with.Verdict == Violated:
		sizes := c.Least == with.Least
		switch {
		case !c.Proven && !with.Proven:
			sizes = true
		case !c.Proven:
			sizes = c.Bound < with.Least
		case !with.Proven:
			sizes = with.Bound < c.Least
		}
		return sizes && c.Invariant == with.Invariant && c.Sooner == with.Sooner
	case c.Verdict == Violated:
		return with.Agrees(c)
	case with.Verdict == Violated:
		return c.Offered && (!with.Proven || c.Bound < with.Least)
	}
	return c.Offered == with.Offered
}

// MatrixOptions say what a matrix holds.
type MatrixOptions struct {
	// Worlds returns the subjects of a design, their classes aside.
	Worlds     func(impl.Design) ([]Subject, error)
	Deviations int // search plans with at most so many
	// Budget is how many plans a layer may have in each world: a larger one is
	// not begun, and the cell says how far it got. Where a known defect is
	// looked for among all classes, it is ten times as much. 0 is no bound.
	Budget  int
	Open    OpenStore
	Workers int
}

// Row computes the cells of one design: each class alone, in their order,
// then all together. It returns the context's error when that ends.
func Row(ctx context.Context, d impl.Design, opt MatrixOptions, each func(*Cell)) error {
	worlds, err := opt.Worlds(d)
	if err != nil {
		return err
	}
	if len(worlds) == 0 {
		return fmt.Errorf("search: there is no world for the design %s", d.Name)
	}
	within := sim.Within(worlds[0].Break...)
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		if !within[class] {
			continue
		}
		q := question{MatrixOptions: opt, worlds: worlds}
		q.classes[class] = true
		cell, err := q.ask(ctx)
		if err != nil {
			return err
		}
		cell.Design, cell.Faults = d.Name, class.String()
		each(cell)
	}
	cell, err := together(ctx, d, &question{MatrixOptions: opt, worlds: worlds, classes: within})
	if err != nil {
		return err
	}
	cell.Design, cell.Faults = d.Name, AllFaults
	each(cell)
	return nil
}

// together is the cell of all classes. What a design is known to break is
// looked for first, and then whether something else breaks by fewer.
func together(ctx context.Context, d impl.Design, q *question) (*Cell, error) {
	if d.Expect == string(Held) {
		return q.ask(ctx)
	}
	known := *q
	var err error
	if known.target, err = invariant.Parse(d.Expect); err != nil {
		return nil, err
	}
	known.Budget *= 10
	cell, err := known.ask(ctx)
	if err == nil && cell.Verdict == Held {
		err = known.campaign(ctx, cell)
	}
	if err != nil || cell.Verdict != Violated || cell.Least == 0 {
		return cell, err
	}
	q.Deviations = min(cell.Least-1, cell.Bound)
	sooner, err := q.ask(ctx)
	if err != nil {
		return nil, err
	}
	cell.Plans += sooner.Plans
	if sooner.Verdict == Violated {
		cell.Sooner = sooner.String()
	}
	return cell, nil
}

// question is what a cell answers.
type question struct {
	MatrixOptions
	worlds  []Subject
	classes [plan.ClassCount]bool
	target  invariant.Name
}

// ask goes through the layers, each in all worlds, so that the first
// violation is a smallest one.
func (q *question) ask(ctx context.Context) (*Cell, error) {
	cell := &Cell{Verdict: Held, Bound: -1}
	cursors := make([]Cursor, len(q.worlds))
	for i := range cursors {
		cursors[i] = begin()
	}
	for k := 0; k <= q.Deviations && q.affordable(k, cursors); k++ {
		if k > 0 && none(cursors) {
			cell.Bound = q.Deviations // no plan has so many deviations
			return cell, nil
		}
		for i, s := range q.worlds {
			s.Classes = q.classes
			before := cursors[i].Plans
			p, err := Exhaust(ctx, ExhaustiveOptions{
				Subject: s, Deviations: k, Target: q.target, Workers: q.Workers, Open: q.Open, Resume: &cursors[i],
			})
			if err == nil && p.Verdict == Undecided && p.FindingAt == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			cell.Plans += p.Plans - before
			if p.Verdict != Held {
				cell.answer(p, k)
				return cell, nil
			}
			cursors[i] = p.Next
			cell.Offered = cell.Offered || p.Next.Of > 0 || k > 0
		}
		cell.Bound = k
	}
	return cell, nil
}

// campaignRuns is how many random runs look for a known defect that takes more
// deviations than are searched.
const campaignRuns = 200_000

// campaign looks for the target at random.
func (q *question) campaign(ctx context.Context, c *Cell) error {
	var subjects []Subject
	for _, s := range q.worlds {
		s.Classes = q.classes
		subjects = append(subjects, s)
	}
	r, err := Campaign(ctx, Options{
		Subjects: subjects, Runs: campaignRuns, Seed: 1, Target: q.target, Workers: q.Workers, Open: q.Open,
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	c.Plans += r.Runs
	if v := r.Violation; r.Verdict == Violated && v != nil && v.Invariant == q.target {
		c.Verdict, c.Violation, c.Invariant = Violated, v, v.Invariant.String()
		c.Least = len(v.Plan.Deviations)
		c.Proven = c.Least == c.Bound+1
	}
	return nil
}

// affordable reports whether the next layer is within the budget in each of
// the worlds. Up to one deviation it always is.
func (q *question) affordable(k int, cursors []Cursor) bool {
	for i := range cursors {
		if k > 1 && q.Budget > 0 && cursors[i].Of > q.Budget {
			return false
		}
	}
	return true
}

// none reports whether the next layer has no plans at all.
func none(cursors []Cursor) bool {
	for i := range cursors {
		if cursors[i].Of > 0 {
			return false
		}
	}
	return true
}

// answer takes over what ended a search in the layer of k deviations.
func (c *Cell) answer(p *Proof, k int) {
	c.Verdict, c.Reason, c.Violation, c.Finding, c.FindingAt = p.Verdict, p.Reason, p.Violation, p.Finding, p.FindingAt
	c.Offered, c.Proven = true, true
	switch {
	case p.Violation != nil && p.Verdict == Violated:
		c.Least, c.Invariant = len(p.Violation.Plan.Deviations), p.Violation.Invariant.String()
	case p.Finding != nil:
		c.Verdict, c.Least, c.Invariant = Violated, k, p.Finding.Kind
	}
}
