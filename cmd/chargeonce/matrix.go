package main

import (
	"bufio"
	"context"
	_ "embed" // what the cells are expected to be
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

func matrixVerb() verb {
	return verb{
		name: "matrix", summary: "show which faults break which designs, and by how few",
		doc: `Each design of the gallery is searched exhaustively with each kind of fault alone, and with all of them
together. A cell says up to how many faults all plans hold, or by how few one breaks what. A layer of plans that is larger
than the budget is not begun. The outcome is compared with what is known of the gallery; what differs is told with its plan.
An undecided exit also stands for a defect that is known and was not found.`,
		examples: []string{
			"chargeonce matrix",
			"chargeonce matrix -designs reference,charge-then-save -deviations 1",
			"chargeonce matrix -markdown",
			"chargeonce matrix -json -junit matrix.xml",
		},
		codes: []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided, exitNondeterministic},
		command: func(fs *flag.FlagSet) action {
			o := &matrixOptions{deviations: count{2, 0, 20}, budget: count{30000, 0, 1e9}, workers: count{0, 0, 1024}}
			fs.Var(&o.designs, "designs", "`NAMES` of the gallery; if not given all")
			fs.Var(&o.deviations, "deviations", "run plans with at most `N` faults")
			fs.Var(&o.budget, "budget", "plans (`N`) that a layer may have in a world; ten times as many where a known defect is looked for; 0 is no bound")
			fs.Var(&o.workers, "workers", "`N` runs at a time; 0 is one for each processor")
			fs.BoolVar(&o.markdown, "markdown", false, "write a table in Markdown")
			fs.BoolVar(&o.json, "json", false, "write JSON, one object a cell, and a last one for the whole")
			fs.StringVar(&o.builds.junit, "junit", "", "write the outcome to `FILE` as JUnit XML")
			fs.BoolVar(&o.builds.github, "github", false, "annotate the workflow of GitHub Actions with what is not as known")
			return func(ctx context.Context, c *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				m, err := o.resolve()
				if err != nil {
					return 0, err
				}
				return m.run(ctx, c)
			}
		},
	}
}

// matrixOptions are the flags of matrix.
type matrixOptions struct {
	designs                     names
	deviations, budget, workers count
	markdown, json              bool
	builds                      builds
}

// matrix is what is to be computed.
type matrix struct {
	search.MatrixOptions
	designs  []impl.Design
	known    map[string]search.Cell // by design and faults
	form     form
	json     bool
	builds   builds
	began    time.Time
	cells    int
	plans    int
	judged   []judged // one for each design
	surprise []exitCode
	odd      int // cells that are not as known
}

// form is how people are shown a matrix.
type form interface {
	head(w io.Writer)
	row(w io.Writer, d *impl.Design, cells []*search.Cell)
}

func (o *matrixOptions) resolve() (*matrix, error) {
	if o.json && o.markdown {
		return nil, fmt.Errorf("want one of -json and -markdown")
	}
	chosen, err := designsByName(o.designs)
	if err != nil {
		return nil, err
	}
	m := &matrix{designs: chosen, known: knownCells(), json: o.json, builds: o.builds, form: &table{}}
	if o.markdown {
		m.form = markdown{}
	}
	m.Worlds, m.Deviations, m.Budget, m.Workers, m.Open = matrixWorlds, o.deviations.n, o.budget.n, o.workers.n, openMemory
	if m.Workers == 0 {
		m.Workers = runtime.GOMAXPROCS(0)
	}
	if o.builds.junit != "" {
		return m, writable(o.builds.junit)
	}
	return m, nil
}

// matrixScenarios are those in which designs that should hold are searched:
// one client whose retry goes elsewhere, and two clients with one key.
var matrixScenarios = names{"retry-other-replica", "two-replicas-one-key"}

// matrixWorlds are the worlds of a design: with each provider that it is
// meant for, those in which its defect shows, or a small choice.
func matrixWorlds(d impl.Design) ([]search.Subject, error) {
	if d.Expect == held {
		return search.Worlds(d, search.Selection{Scenarios: matrixScenarios})
	}
	return worldsOf(d)
}

//go:embed testdata/matrix.txt
var knownMatrix string

// knownCells reads what is known: lines of a design, its faults, and the cell.
func knownCells() map[string]search.Cell {
	all := map[string]search.Cell{}
	lines := bufio.NewScanner(strings.NewReader(knownMatrix))
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 3)
		if len(words) < 3 {
			continue
		}
		c, err := search.ParseCell(words[2])
		if err != nil {
			panic(fmt.Sprintf("chargeonce: testdata/matrix.txt: %v", err))
		}
		c.Design, c.Faults = words[0], words[1]
		all[cellName(&c)] = c
	}
	return all
}

func cellName(c *search.Cell) string { return c.Design + " " + c.Faults }

// cellLine is a line of matrix -json. The names of its members stay.
type cellLine struct {
	Design     string         `json:"design"`
	Faults     string         `json:"faults"` // a class, or all
	Verdict    search.Verdict `json:"verdict"`
	Reason     string         `json:"reason,omitempty"`
	Deviations int            `json:"deviations"`          // held: up to so many; violated: by so many
	Minimal    *bool          `json:"minimal,omitempty"`   // violated: by no fewer
	Invariant  string         `json:"invariant,omitempty"` // what falls
	Sooner     string         `json:"sooner,omitempty"`    // what else falls by fewer, and by how few
	Plans      int            `json:"plans"`               // run
	Plan       string         `json:"plan,omitempty"`
	Cell       string         `json:"cell"`     // all of the above in a few words
	Expected   string         `json:"expected"` // likewise; "" if nothing is known
	OK         bool           `json:"ok"`
}

// matrixLine is the last line of matrix -json.
type matrixLine struct {
	Verdict       search.Verdict `json:"verdict"` // held: all cells are as known
	Reason        string         `json:"reason,omitempty"`
	Cells         int            `json:"cells"`
	Surprises     int            `json:"surprises"`
	Plans         int            `json:"plans"`
	RunsPerSecond float64        `json:"runs_per_second"`
}

// run computes the matrix, a row at a time.
func (m *matrix) run(ctx context.Context, k *console) (exitCode, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	m.began = time.Now()
	if !m.json {
		m.form.head(k.out)
	}
	for i := range m.designs {
		_ = k.out.Flush() // run tells of an output that is broken
		cells, err := m.row(ctx, k, &m.designs[i])
		if ctx.Err() != nil {
			m.interrupted(k, i)
			return exitUndecided, nil
		}
		if err != nil {
			return 0, err
		}
		if !m.json {
			m.form.row(k.out, &m.designs[i], cells)
		}
	}
	return m.conclude(k), nil
}

// row computes the cells of a design and compares them with what is known.
func (m *matrix) row(ctx context.Context, k *console, d *impl.Design) (cells []*search.Cell, err error) {
	j := judged{suite: "matrix", name: d.Name, verdict: search.Held}
	line := &progress{w: k.err}
	err = search.Row(ctx, *d, m.MatrixOptions, func(c *search.Cell) {
		cells = append(cells, c)
		m.cells++
		m.plans += c.Plans
		l := newCellLine(c)
		known, ok := m.known[cellName(c)]
		if ok {
			l.Expected = known.String()
		}
		l.OK = asKnown(d, c, &known, ok)
		if !l.OK {
			m.surprised(&j, &l, c)
		}
		if m.json {
			k.line(l)
			_ = k.out.Flush()
		} else if k.terminal && time.Since(m.began) > patience {
			line.replace(fmt.Sprintf("%s, %s: %s; %s plans so far", d.Name, c.Faults, c, grouped(m.plans)))
		}
	})
	line.erase()
	m.judged = append(m.judged, j)
	return cells, err
}

func newCellLine(c *search.Cell) cellLine {
	l := cellLine{
		Design: c.Design, Faults: c.Faults, Verdict: c.Verdict, Reason: c.Reason, Deviations: max(c.Bound, 0),
		Invariant: c.Invariant, Sooner: c.Sooner, Plans: c.Plans, Cell: c.String(),
	}
	switch {
	case c.Verdict == search.Violated:
		l.Deviations, l.Minimal = c.Least, &c.Proven
	case c.Verdict == search.Held && !c.Offered:
		l.Verdict = "not-applicable"
	}
	if p := cellPlan(c); p != nil {
		l.Plan = p.String()
	}
	return l
}

func cellPlan(c *search.Cell) *plan.Plan {
	if c.Violation != nil {
		return c.Violation.Plan
	}
	return c.FindingAt
}

// asKnown compares a cell with what is known of it. Of a design that nothing
// is known of, the gallery's word counts: one that should hold does not fall,
// and another falls as it says.
func asKnown(d *impl.Design, c, known *search.Cell, isKnown bool) bool {
	switch {
	case isKnown:
		return c.Agrees(known)
	case d.Expect == held:
		return c.Verdict == search.Held
	case c.Faults == search.AllFaults:
		return c.Verdict == search.Violated && c.Invariant == d.Expect
	}
	return c.Verdict == search.Held || c.Verdict == search.Violated
}

// surprised notes a cell that is not as known.
func (m *matrix) surprised(j *judged, l *cellLine, c *search.Cell) {
	m.odd++
	if j.message != "" {
		j.message += "; "
	}
	want := l.Expected
	if want == "" {
		want = "something else"
	}
	j.message += fmt.Sprintf("%s: %s, and %s was expected", c.Faults, c, want)
	j.detail += l.Plan
	switch c.Verdict {
	case search.Held:
		j.verdict = search.Undecided
		m.surprise = append(m.surprise, exitUndecided)
	default:
		j.verdict = c.Verdict
		m.surprise = append(m.surprise, exitOf(c.Verdict, []string{c.Invariant}))
	}
}

// conclude tells of what is not as known.
func (m *matrix) conclude(k *console) exitCode {
	code := exitHeld
	for _, c := range []exitCode{exitNondeterministic, exitSafety, exitLiveness, exitUndecided} {
		if slices.Contains(m.surprise, c) {
			code = c
			break
		}
	}
	verdict := map[exitCode]search.Verdict{
		exitHeld: search.Held, exitSafety: search.Violated, exitLiveness: search.Violated,
		exitUndecided: search.Undecided, exitNondeterministic: search.Nondeterministic,
	}[code]
	elapsed := time.Since(m.began)
	var reason string
	if m.odd > 0 {
		reason = fmt.Sprintf("%d of %d cells are not as known", m.odd, m.cells)
	}
	if m.json {
		k.line(matrixLine{verdict, reason, m.cells, m.odd, m.plans, rate(m.plans, elapsed)})
	} else {
		m.tell(k, string(verdict), reason, elapsed)
	}
	m.builds.tell(k, "matrix", m.json, m.judged)
	return code
}

// tell ends the report for people. In Markdown it is not part of the table,
// and goes to standard error if there is something to say.
func (m *matrix) tell(k *console, verdict, reason string, elapsed time.Duration) {
	w := io.Writer(k.out)
	if _, ok := m.form.(markdown); ok {
		if w = k.err; reason == "" {
			return
		}
	}
	for i := range m.judged {
		if j := &m.judged[i]; j.failed() {
			fmt.Fprintf(w, "\n%s\n%s\n", j.name, wrap(j.message+".", "  "))
			indented(w, j.detail)
		}
	}
	fmt.Fprintln(w)
	labelled(w, "plans", "%s run in %.1f s, %.0f a second", grouped(m.plans), elapsed.Seconds(), rate(m.plans, elapsed))
	if reason == "" {
		labelled(w, "verdict", "%s: all %d cells are as known", verdict, m.cells)
		return
	}
	labelled(w, "verdict", "%s: %s", verdict, reason)
}

// interrupted says what was covered and how to go on.
func (m *matrix) interrupted(k *console, done int) {
	var rest []string
	for i := done; i < len(m.designs); i++ {
		rest = append(rest, m.designs[i].Name)
	}
	reason := fmt.Sprintf("stopped after %d of %d designs", done, len(m.designs))
	if m.json {
		k.line(matrixLine{search.Undecided, reason, m.cells, m.odd, m.plans, rate(m.plans, time.Since(m.began))})
		return
	}
	fmt.Fprintln(k.out)
	labelled(k.out, "to go on", "chargeonce matrix -designs %s", strings.Join(rest, ","))
	labelled(k.out, "verdict", "undecided: %s", reason)
}

// abbreviations are the heads of the columns of the text table.
var abbreviations = [plan.ClassCount]string{
	plan.ClassDrop: "dr", plan.ClassDuplicate: "du", plan.ClassHold: "ho", plan.ClassHoldUntil: "hu",
	plan.ClassCutLink: "cl", plan.ClassCutNode: "cn", plan.ClassStallLink: "sl", plan.ClassStallNode: "sn",
	plan.ClassCrash: "cr", plan.ClassPause: "pa", plan.ClassSkew: "sk", plan.ClassJump: "ju", plan.ClassRefuse: "re",
	plan.ClassFreeze: "fz", plan.ClassDecline: "de", plan.ClassFailBefore: "fb", plan.ClassFailAfter: "fa",
	plan.ClassLate: "la", plan.ClassLag: "lg",
}

// table is the matrix in at most 120 columns. Classes that break an
// assumption have no column: few designs are searched with them.
type table struct{}

const tableFormat = "%-26s %-20s"

func (*table) head(w io.Writer) {
	var legend, heads []string
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if a := abbreviations[c]; a != "" {
			legend = append(legend, a+" "+c.String())
			heads = append(heads, a)
		}
	}
	fmt.Fprint(w, wrap(strings.Join(legend, ", ")+".", ""))
	fmt.Fprint(w, wrap("A number: so many faults of this kind break the design, and no fewer. >N: it takes more than N, or random delays too. +N: all plans with at most N hold. -: there are no such faults in its worlds.", ""))
	fmt.Fprintf(w, "\n"+tableFormat+" %s\n", "", "all together", strings.Join(heads, " "))
}

func (*table) row(w io.Writer, d *impl.Design, cells []*search.Cell) {
	var marks [plan.ClassCount]string
	var all, beyond string
	for _, c := range cells {
		class, err := plan.ParseClass(c.Faults)
		switch {
		case err != nil:
			all = summary(c)
		case abbreviations[class] == "":
			beyond += fmt.Sprintf(" %s %s", c.Faults, mark(c))
		default:
			marks[class] = mark(c)
		}
	}
	line := fmt.Sprintf(tableFormat, d.Name, all)
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if abbreviations[c] != "" {
			line += fmt.Sprintf(" %-2s", marks[c])
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
	if beyond != "" {
		fmt.Fprintf(w, "%-26s %s\n", "", strings.TrimSpace(beyond))
	}
}

// summary is the cell of all faults as people read it.
func summary(c *search.Cell) string {
	if c.Verdict == search.Held {
		return fmt.Sprintf("held ≤%d", c.Bound)
	}
	if c.Verdict == search.Violated {
		return c.Invariant + " " + c.Size()
	}
	return string(c.Verdict)
}

// mark is a cell in two columns.
func mark(c *search.Cell) string {
	switch {
	case c.Verdict == search.Violated:
		return c.Size()
	case c.Verdict != search.Held:
		return "?"
	case !c.Offered:
		return "-"
	}
	return fmt.Sprintf("+%d", c.Bound)
}

// markdown is the matrix as the table of the README.
type markdown struct{}

func (markdown) head(w io.Writer) {
	fmt.Fprint(w, "| design | breaks | all faults together | by how many of one kind any invariant falls |\n|---|---|---|---|\n")
}

func (markdown) row(w io.Writer, d *impl.Design, cells []*search.Cell) {
	var all string
	by := map[int][]string{}
	for _, c := range cells {
		switch {
		case c.Faults == search.AllFaults && c.Verdict == search.Held:
			all = "holds with ≤ " + fmt.Sprint(c.Bound)
		case c.Faults == search.AllFaults && c.Verdict == search.Violated:
			all = "by " + strings.Replace(c.Size(), ">", "more than ", 1)
			if c.Sooner != "" {
				all += " (" + c.Sooner + ")"
			}
		case c.Faults == search.AllFaults:
			all = string(c.Verdict)
		case c.Verdict == search.Violated:
			by[c.Least] = append(by[c.Least], c.Faults)
		}
	}
	breaks := d.Expect
	if breaks == held {
		breaks = "nothing"
	}
	fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", d.Name, breaks, all, brokenBy(by))
}

// brokenBy lists the single classes that break a design, by how few.
func brokenBy(by map[int][]string) string {
	if len(by[0]) > 0 {
		return "none needed"
	}
	var parts []string
	for n := 1; n <= 20; n++ {
		if len(by[n]) > 0 {
			parts = append(parts, fmt.Sprintf("%d: %s", n, strings.Join(by[n], ", ")))
		}
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, "; ")
}
