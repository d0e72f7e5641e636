// Package timeline draws a run as plain text: a lane for each process, a row
// for each message, write, ledger line, answer and fault, in at most 120
// columns.
//
// A message is one row, at the time when it leaves, that says what became of
// it. The rule it keeps: equal runs give equal bytes.
package timeline

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Width is the most columns that a line takes.
const Width = 120

// Run is what is drawn.
type Run struct {
	Lines      []sim.Line
	Events     []history.Event
	Deviations []plan.Deviation // in the order of the questions
	// Violation is the number of the event that breaks the invariant, -1 if
	// none does.
	Violation int
	// Operation is what the violation is about, where its event does not say.
	Operation string
	// Chain marks the rows of these lines in the margin, and leaves none of
	// them out; see [Chain].
	Chain []int
	// MaxRows leaves rows out of the middle if there are more; 0 is no limit.
	MaxRows int
}

// lane is a process and its column.
type lane struct {
	process plan.Process
	title   string
}

// row is a line of the picture.
type row struct {
	at       int64
	from, to int // lanes; to is -1 if the row is a mark on from
	mark     string
	text     string
	strong   bool // never left out
	chained  bool
}

// Write draws the run.
func Write(w io.Writer, r *Run) error {
	d := newDrawing(r)
	for i := range r.Lines {
		_, d.chained = slices.BinarySearch(r.Chain, i)
		d.line(i)
	}
	return d.write(w)
}

type drawing struct {
	run    *Run
	lanes  []lane
	byName map[string]int
	byID   map[plan.Process]int
	rows   []row
	choice int
	// chained says that the line which is drawn now is one of the chain.
	chained bool
}

func newDrawing(r *Run) *drawing {
	d := &drawing{run: r, byName: map[string]int{}, byID: map[plan.Process]int{}}
	seen := [256]bool{}
	for i := range r.Lines {
		seen[r.Lines[i].Who], seen[r.Lines[i].Peer] = true, true
	}
	for p := 1; p < 256; p++ {
		if !seen[p] {
			continue
		}
		id := plan.Process(p)
		d.byID[id], d.byName[id.String()] = len(d.lanes), len(d.lanes)
		d.lanes = append(d.lanes, lane{id, title(id)})
	}
	return d
}

// title is a lane's head, at most laneWidth-1 columns.
func title(p plan.Process) string {
	switch p.Kind() {
	case plan.Client:
		return fmt.Sprintf("clnt%d", p.Index())
	case plan.Server:
		return fmt.Sprintf("srvr%d", p.Index())
	case plan.Reconciler:
		return fmt.Sprintf("recn%d", p.Index())
	case plan.Registry:
		return "regis"
	default:
		return "provd"
	}
}

const laneWidth = 6

// line turns a line of the trace into a row, if it is one.
func (d *drawing) line(i int) {
	l := &d.run.Lines[i]
	from := d.byID[l.Who]
	switch l.Mark {
	case sim.MarkSend, sim.MarkAnswer:
		label := l.Step.String()
		if l.Mark == sim.MarkAnswer && label != "reply" {
			label = "answer to " + label
		}
		to := d.byID[l.Peer]
		fate, lost := d.fate(i)
		mark := "▶"
		if lost {
			mark = "✗"
		}
		d.add(row{at: l.At, from: from, to: to, mark: mark, text: label + " of " + l.Attempt.String() + fate})
	case sim.MarkTimeout:
		d.add(row{at: l.At, from: from, to: -1, mark: "…", text: "no answer to " + l.Step.String() + " of " + l.Attempt.String() + " in time"})
	case sim.MarkChoice:
		d.add(row{at: l.At, from: from, to: -1, mark: "!", text: d.run.Deviations[d.choice].String(), strong: true})
		d.choice++
	case sim.MarkCrash:
		d.add(row{at: l.At, from: from, to: -1, mark: "✗", text: l.Who.String() + " dies", strong: true})
	case sim.MarkRestart:
		d.add(row{at: l.At, from: from, to: -1, mark: "↻", text: l.Who.String() + " starts again", strong: true})
	case sim.MarkPause:
		d.add(row{at: l.At, from: from, to: -1, mark: "‖", text: l.Who.String() + " stands still until " + at(int64(l.Value)), strong: true})
	case sim.MarkHeal:
		d.add(row{at: l.At, from: -1, to: -1, text: "the faults are over"})
	case sim.MarkHistory:
		if int(l.Value) < len(d.run.Events) {
			d.event(int(l.Value))
		}
	}
}

// fate says what became of a message.
func (d *drawing) fate(i int) (text string, lost bool) {
	l := &d.run.Lines[i]
	// A request that arrived twice was answered twice: the first answer has
	// the first fate, the second the second.
	before := 0
	for j := range i {
		if e := &d.run.Lines[j]; l.Mark == sim.MarkAnswer && e.Mark == l.Mark && e.Value == l.Value && e.Who == l.Who {
			before++
		}
	}
	arrivals := 0
	first := i + 1
	if l.Mark == sim.MarkAnswer {
		first = 0
	}
	for j := first; j < len(d.run.Lines); j++ {
		f := &d.run.Lines[j]
		if f.Value != l.Value {
			continue
		}
		lost := f.Mark == sim.MarkLost && f.Who == l.Who && f.Peer == l.Peer
		returned := l.Mark == sim.MarkAnswer && (f.Mark == sim.MarkReturn || f.Mark == sim.MarkStray) && f.Who == l.Peer
		if before > 0 && (lost || returned) {
			before--
			continue
		}
		switch {
		case lost:
			return text + ": lost", arrivals == 0
		case l.Mark == sim.MarkSend && f.Mark == sim.MarkDeliver && f.Who == l.Peer, returned:
			arrivals++
			if arrivals > 1 {
				return text + " and " + at(f.At), false
			}
			text = " → " + at(f.At)
			if f.Mark == sim.MarkStray {
				text += ", too late"
			}
			if l.Mark == sim.MarkAnswer {
				return text, false
			}
		}
	}
	if arrivals == 0 {
		return ": never arrives", true
	}
	return text, false
}

// event turns an event of the history into a row.
func (d *drawing) event(i int) {
	e := &d.run.Events[i]
	r := row{at: int64(e.At), to: -1, strong: i == d.run.Violation}
	if at, ok := d.byName[e.Process]; ok {
		r.from = at
	}
	r.mark, r.text = eventText(e)
	switch e.Kind {
	case history.KindCharge, history.KindRefund:
		r.strong = true
	case history.KindWrite:
		r.from = d.byName["registry"]
	case history.KindForget:
		r.from, r.strong = d.byName["registry"], true
	}
	if r.text != "" {
		d.add(r)
	}
	if i == d.run.Violation {
		d.add(row{at: int64(e.At), from: -1, to: -1, text: "◀ here the invariant falls", strong: true})
	}
}

// eventText is the mark and the text of an event's row; the text of an event
// that has none is empty.
func eventText(e *history.Event) (mark, text string) {
	switch e.Kind {
	case history.KindReturn:
		mark = "?"
		if e.Outcome.Final() {
			mark = "✓"
		}
		text = fmt.Sprintf("hears %v %d of %s", e.Outcome, e.Status, e.Operation)
		if e.Charge != "" {
			text += ": " + e.Charge + " " + Money(e.Amount, e.Currency)
		}
		if e.Replayed {
			text += " (replayed)"
		}
	case history.KindGiveUp:
		mark, text = "∅", "gives "+e.Operation+" up without a final answer"
	case history.KindCharge:
		mark, text = "$", e.Charge+": "+Money(e.Amount, e.Currency)+" captured for "+e.Operation
	case history.KindAbsorbed:
		mark, text = "=", "the key is known: "+e.Charge+" again, no money moves"
	case history.KindRefusal:
		mark, text = "-", "declined for "+e.Operation
	case history.KindRefund:
		mark, text = "€", e.Charge+": "+Money(e.Amount, e.Currency)+" given back"
	case history.KindWrite:
		mark = "■"
		text = fmt.Sprintf("%s is %v, version %d, by %s", e.Operation, e.State, e.Version, e.Run)
		if strings.HasPrefix(e.Scope, "audit ") {
			text = "audit of " + text
		}
		if e.Tombstone {
			text = fmt.Sprintf("%s: the reply's body is dropped, by %s", e.Operation, e.Run)
		}
	case history.KindForget:
		mark, text = "□", "the record of "+e.Operation+" is forgotten"
	}
	return mark, text
}

func (d *drawing) add(r row) {
	r.chained = d.chained
	r.strong = r.strong || r.chained
	d.rows = append(d.rows, r)
}

// write prints the rows under the lanes' heads.
func (d *drawing) write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", 10))
	for _, l := range d.lanes {
		fmt.Fprintf(&b, "%-*s", laneWidth, l.title)
	}
	line := strings.TrimRight(b.String(), " ") + "\n"
	if _, err := io.WriteString(w, line); err != nil {
		return err
	}
	skip, until := d.gap()
	said := false
	for i := range d.rows {
		if i >= skip && i < until && !d.rows[i].strong {
			if !said {
				said = true
				if _, err := fmt.Fprintf(w, "%9s  (rows left out; replay -v shows all)\n", "…"); err != nil {
					return err
				}
			}
			continue
		}
		if _, err := io.WriteString(w, d.render(&d.rows[i])+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// gap says which rows to leave out.
func (d *drawing) gap() (from, to int) {
	limit := d.run.MaxRows
	if limit == 0 || len(d.rows) <= limit {
		return len(d.rows), len(d.rows)
	}
	return limit / 2, len(d.rows) - limit/2
}

func (d *drawing) render(r *row) string {
	cells := make([]string, len(d.lanes)*laneWidth)
	for i := range cells {
		cells[i] = " "
		if i%laneWidth == 0 {
			cells[i] = "│"
		}
	}
	switch {
	case r.from < 0:
	case r.to < 0:
		cells[r.from*laneWidth] = r.mark
	default:
		a, z := r.from*laneWidth, r.to*laneWidth
		mark := r.mark
		if a > z && mark == "▶" {
			mark = "◀"
		}
		for i := min(a, z) + 1; i < max(a, z); i++ {
			cells[i] = "─"
		}
		cells[a], cells[z] = "●", mark
	}
	margin := " "
	if r.chained {
		margin = "»"
	}
	text := fmt.Sprintf("%9s%s%s%s", at(r.at), margin, strings.Join(cells, ""), r.text)
	return clip(strings.TrimRight(text, " "))
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= Width {
		return s
	}
	return string([]rune(s)[:Width-1]) + "…"
}

// at prints an instant in milliseconds.
func at(nanos int64) string {
	ms := strconv.FormatFloat(float64(nanos/1000)/1000, 'f', -1, 64)
	return ms + "ms"
}

// Money prints an amount of minor units, two to the major unit.
func Money(minor int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", minor/100, minor%100, currency)
}
