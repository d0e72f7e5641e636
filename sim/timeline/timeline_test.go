package timeline_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

// recorder keeps and judges the history of a run.
type recorder struct {
	events  []history.Event
	checker *invariant.Checker
}

func (r *recorder) Event(e *history.Event) {
	r.events = append(r.events, *e)
	r.checker.Event(e)
}

// perform makes a run and returns what is drawn of it.
func perform(t *testing.T, design, profile, scenario string, broken []impl.Assumption, choose sim.Chooser, weather uint64) *timeline.Run {
	t.Helper()
	d, err := designs.ByName(design)
	if err != nil {
		t.Fatal(err)
	}
	if profile == "" {
		profile = d.Profiles[0]
	}
	p, err := provider.ByName(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.ScenarioByName(scenario)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	w, err := sim.New(sim.Config{
		Design: d, Scenario: s, Profile: p, Classes: sim.Within(broken...), Break: broken,
		Store: store, Empty: func() error { store.Reset(); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := &recorder{checker: invariant.New(w.Header())}
	res := w.Run(choose, sim.Options{Weather: weather, Sink: r, Trace: true})
	run := &timeline.Run{Lines: w.Lines(), Events: r.events, Deviations: res.Deviations, Violation: -1}
	if v := r.checker.Violations(); len(v) > 0 {
		run.Violation = v[0].Index
	}
	return run
}

func draw(t *testing.T, run *timeline.Run) string {
	t.Helper()
	var b strings.Builder
	if err := timeline.Write(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fits fails where a line is too wide for a terminal, or has blanks at its end.
func fits(t *testing.T, picture string) {
	t.Helper()
	for line := range strings.Lines(picture) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > timeline.Width {
			t.Errorf("%d columns: %s", n, line)
		}
		if line == "" || strings.TrimRight(line, " ") != line || !utf8.ValidString(line) {
			t.Errorf("a line is empty, ends with blanks or is no text: %q", line)
		}
	}
}

// The pictures are those of plans without their first line. "short" leaves
// rows out of the middle.
func TestPictures(t *testing.T) {
	datadriven.RunTest(t, "testdata/pictures.txt", func(t *testing.T, d *datadriven.TestData) string {
		p, err := plan.Parse("chargeonce plan v1\n" + d.Input)
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		var f plan.Fixed
		f.Reset(p.Deviations)
		run := perform(t, p.Design, p.Profile, p.Scenario, p.Break, &f, p.Weather)
		if unmet := f.Unmet(); unmet != nil {
			t.Errorf("%s: the run does not come by %v", d.Pos, unmet)
		}
		if d.Cmd == "short" {
			run.MaxRows = 12
		}
		picture := draw(t, run)
		fits(t, picture)
		if again := draw(t, run); again != picture {
			t.Errorf("%s: drawn again it is another picture:\n%s", d.Pos, again)
		}
		return picture
	})
}

// Whatever happens in a run, its picture fits, tells every deviation, and marks
// the event by which an invariant falls.
func TestPicturesOfRandomRuns(t *testing.T) {
	for i, d := range designs.All() {
		for j, s := range sim.Scenarios {
			if (i+j)%len(sim.Scenarios) > 1 {
				continue
			}
			for n := range uint64(3) {
				var c search.Swarm
				weather := c.Reset(n, uint64(len(d.Name)*len(s.Name)), 1e9)
				run := perform(t, d.Name, "", s.Name, impl.Assumptions, &c, weather)
				picture := draw(t, run)
				fits(t, picture)
				if got := strings.Count(picture, "◀ here the invariant falls"); (got == 1) != (run.Violation >= 0) {
					t.Errorf("%s/%s: an invariant falls at event %d and is marked %d times:\n%s", d.Name, s.Name, run.Violation, got, picture)
				}
				for _, dev := range run.Deviations {
					if text := []rune(dev.String()); !strings.Contains(picture, string(text[:min(len(text), 30)])) {
						t.Errorf("%s/%s: %q is not told:\n%s", d.Name, s.Name, dev, picture)
					}
				}
				run.MaxRows = 10
				short := draw(t, run)
				fits(t, short)
				if rows := strings.Count(picture, "\n"); rows > 60 && strings.Count(short, "\n") >= rows {
					t.Errorf("%s/%s: nothing was left out of %d rows", d.Name, s.Name, rows)
				}
				if (run.Violation >= 0) != strings.Contains(short, "◀ here the invariant falls") {
					t.Errorf("%s/%s: with rows left out the mark of the violation is gone:\n%s", d.Name, s.Name, short)
				}
			}
		}
	}
}

// A picture that lacks rows says so, once, wherever the gap begins.
func TestRowsThatAreLeftOutAreMentioned(t *testing.T) {
	d, err := plan.ParseDeviation("crash server-1 after charge of client-1/order-1/try-1")
	if err != nil {
		t.Fatal(err)
	}
	var f plan.Fixed
	f.Reset([]plan.Deviation{d})
	run := perform(t, "charge-then-save", "", "one-payment", nil, &f, 0)
	whole := strings.Count(draw(t, run), "\n")
	for run.MaxRows = 2; run.MaxRows < whole; run.MaxRows += 2 {
		picture := draw(t, run)
		rows, said := strings.Count(picture, "\n"), strings.Count(picture, "rows left out")
		if lacks := rows-said < whole; lacks != (said == 1) {
			t.Errorf("with at most %d rows %d of %d are drawn, and %d times is said that some are left out:\n%s", run.MaxRows, rows-said, whole, said, picture)
		}
	}
}

// Where a request arrives twice it is answered twice, and each answer is drawn
// with what became of it.
func TestEveryAnswerIsDrawnWithItsOwnFate(t *testing.T) {
	var both []plan.Deviation
	for _, line := range []string{
		"duplicate server-1→registry claim of client-1/order-1/try-1",
		"hold registry→server-1 claim of client-1/order-1/try-1 by 12ms",
	} {
		d, err := plan.ParseDeviation(line)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, d)
	}
	var f plan.Fixed
	f.Reset(both)
	picture := draw(t, perform(t, "reference", "", "one-payment", nil, &f, 0))
	for _, want := range []string{
		"10ms │     ◀─────●     │     answer to claim of client-1/order-1/try-1 → 22ms\n",
		"20ms │     ◀─────●     │     answer to claim of client-1/order-1/try-1 → 25ms, too late\n",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("it lacks %q:\n%s", want, picture)
		}
	}
}

// full is a writer that takes only so much.
type full int

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteReturnsTheErrorOfItsWriter(t *testing.T) {
	var f plan.Fixed
	f.Reset(nil)
	run := perform(t, "reference", "", "one-payment", nil, &f, 0)
	run.MaxRows = 6
	for room := range len(draw(t, run)) {
		w := full(room)
		if err := timeline.Write(&w, run); !errors.Is(err, errFull) {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
	}
}

func TestMoney(t *testing.T) {
	for _, tt := range []struct {
		minor int64
		want  string
	}{{1200, "12.00 EUR"}, {5, "0.05 EUR"}, {100, "1.00 EUR"}, {0, "0.00 EUR"}, {123456789, "1234567.89 EUR"}} {
		if got := timeline.Money(tt.minor, "EUR"); got != tt.want {
			t.Errorf("%d is %s, want %s", tt.minor, got, tt.want)
		}
	}
}
