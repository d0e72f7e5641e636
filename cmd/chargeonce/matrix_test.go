package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// The whole matrix is what testdata/matrix.txt says, cell by cell. A cell
// that differs is told with its plan.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches the whole gallery, which takes minutes")
	}
	r := call(t, "", "matrix", "-json")
	all := objects(t, r.out)
	var file strings.Builder
	seen := map[string]bool{}
	for _, o := range all[:len(all)-1] {
		name := o["design"].(string) + " " + o["faults"].(string)
		seen[name] = true
		fmt.Fprintf(&file, "%s %s\n", name, o["cell"])
		if *update {
			continue
		}
		if o["expected"] != o["cell"] || o["ok"] != true {
			t.Errorf("%s: %q, expected %q\n%v", name, o["cell"], o["expected"], o["plan"])
		}
	}
	if *update {
		write(t, filepath.Join("testdata", "matrix.txt"), file.String())
		return
	}
	for name := range knownCells() {
		if !seen[name] {
			t.Errorf("%s is expected and was not computed", name)
		}
	}
	if end := all[len(all)-1]; r.code != exitHeld || end["verdict"] != "held" || end["cells"] != float64(len(seen)) || end["surprises"] != 0.0 {
		t.Errorf("exit code %d, %v", r.code, end)
	}
}

// knownRow is what is known of a design, in the order in which a row is
// computed.
func knownRow(d *impl.Design) (cells []*search.Cell) {
	known := knownCells()
	within := sim.Within(d.Breaks...)
	add := func(faults string) {
		c := known[d.Name+" "+faults]
		cells = append(cells, &c)
	}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		if within[class] {
			add(class.String())
		}
	}
	add(search.AllFaults)
	return cells
}

// Everything in the gallery is known, and what is known of the cell of all
// faults is what the design says of itself.
func TestMatrixIsOfTheGallery(t *testing.T) {
	known := 0
	for _, d := range designs.All() {
		for _, c := range knownRow(&d) {
			switch {
			case c.Verdict == "":
				t.Errorf("%s: nothing is known of one of its cells; rewrite testdata/matrix.txt with go test ./cmd/chargeonce -run TestMatrix -update", d.Name)
				continue
			case c.Faults != search.AllFaults:
			case d.Expect == held && c.Verdict != search.Held, d.Expect != held && (c.Verdict != search.Violated || c.Invariant != d.Expect):
				t.Errorf("%s should be %s, and its cell of all faults is %q", d.Name, d.Expect, c)
			}
			known++
		}
	}
	if n := len(knownCells()); n != known {
		t.Errorf("%d cells are known, and the gallery has %d", n, known)
	}
}

// The lines of the README around the matrix.
const matrixBegin, matrixEnd = "<!-- matrix: begin -->\n", "<!-- matrix: end -->\n"

// The table in the README is what matrix -markdown writes.
func TestMatrixInReadme(t *testing.T) {
	var want strings.Builder
	var form markdown
	form.head(&want)
	for _, d := range designs.All() {
		form.row(&want, &d, knownRow(&d))
	}
	name := filepath.Join("..", "..", "README.md")
	before, rest, begins := strings.Cut(read(t, name), matrixBegin)
	got, after, ends := strings.Cut(rest, matrixEnd)
	switch {
	case !begins || !ends:
		t.Fatalf("the README lacks the lines %q and %q", matrixBegin, matrixEnd)
	case *update:
		write(t, name, before+matrixBegin+want.String()+matrixEnd+after)
	case got != want.String():
		t.Errorf("the README has\n%s\nwant (write it with go test ./cmd/chargeonce -run TestMatrixInReadme -update)\n%s", got, want.String())
	}
}

var smallMatrix = []string{"matrix", "-deviations", "1", "-designs", "charge-then-save,local-lock,reference"}

func TestMatrixForms(t *testing.T) {
	directory := here(t)
	inNewDirectory(t)
	for _, form := range []struct{ flag, file string }{{"-json=false", "matrix-table.txt"}, {"-markdown", "matrix-markdown.txt"}} {
		r := call(t, "", with(smallMatrix, form.flag)...)
		if r.code != exitHeld || r.errors != "" {
			t.Errorf("exit code %d, %s", r.code, r.errors)
		}
		golden(t, directory, form.file, r.out)
		for line := range strings.Lines(r.out) {
			if n := len([]rune(line)) - 1; n > 120 && form.flag != "-markdown" {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	if left := files(t); len(left) > 0 {
		t.Errorf("files were written: %v", left)
	}
}

// Every class has a column of its own, or breaks an assumption.
func TestMatrixColumns(t *testing.T) {
	seen := map[string]plan.Class{}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		a := abbreviations[class]
		if other, twice := seen[a]; twice && a != "" || (len(a) == 2) != (class.Breaks() == "") {
			t.Errorf("the column of %s is %q, like that of %s", class, a, other)
		}
		seen[a] = class
	}
}

// surprise computes the row of a design of which something else is known.
func surprise(t *testing.T, o matrixOptions, name, known string) result {
	t.Helper()
	m, err := o.resolve()
	if err != nil {
		t.Fatal(err)
	}
	cell, err := search.ParseCell(known)
	if err != nil {
		t.Fatal(err)
	}
	cell.Design, cell.Faults, _ = strings.Cut(name, " ")
	m.known[name] = cell
	var out, errors bytes.Buffer
	c := &console{program: "chargeonce", out: bufio.NewWriter(&out), err: &errors}
	code, err := m.run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.out.Flush()
	return result{code, out.String(), errors.String()}
}

// What is not as known fails, with its plan.
func TestMatrixSurprises(t *testing.T) {
	inNewDirectory(t)
	o := matrixOptions{designs: names{"charge-then-save"}, deviations: count{n: 1}, workers: count{n: 1}}
	o.builds = builds{junit: "m.xml", github: true}
	r := surprise(t, o, "charge-then-save drop", "held 2")
	for _, want := range []string{"drop: SingleCharge 1, and held 2 was expected", "  drop provider→server-1 charge of", "verdict     violated: 1 of 20 cells are not as known", "::error title=chargeonce matrix charge-then-save::drop"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the report does not say %q:\n%s", want, r.out)
		}
	}
	if xml := read(t, "m.xml"); r.code != exitSafety || !strings.Contains(xml, `failures="1"`) {
		t.Errorf("exit code %d\n%s", r.code, xml)
	}
	o.json = true
	r = surprise(t, o, "charge-then-save drop", "held 2")
	all := objects(t, r.out)
	if r.code != exitSafety || all[0]["ok"] != false || all[0]["expected"] != "held 2" || all[0]["faults"] != "drop" || !strings.Contains(all[0]["plan"].(string), "drop provider→server-1") {
		t.Errorf("exit code %d, %v", r.code, all[0])
	}
	if end := all[len(all)-1]; end["verdict"] != "violated" || end["surprises"] != 1.0 || end["cells"] != 20.0 {
		t.Errorf("%v", end)
	}
	o.designs = names{"reference"}
	if r := surprise(t, o, "reference drop", "SingleCharge 1"); r.code != exitUndecided || last(t, r.out)["verdict"] != "undecided" {
		t.Errorf("a defect that was not found: exit code %d, %v", r.code, last(t, r.out))
	}
	if r := surprise(t, o, "reference drop", "SingleCharge 2"); r.code != exitHeld {
		t.Errorf("a defect beyond the bound: exit code %d, %v", r.code, last(t, r.out))
	}
}

func TestMatrixInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := callWith(ctx, "", smallMatrix...)
	if r.code != exitUndecided || !strings.Contains(r.out, "matrix -designs charge-then-save,local-lock,reference\n") || !strings.Contains(r.out, "undecided: stopped after 0 of 3 designs") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
	if r := callWith(ctx, "", with(smallMatrix, "-json")...); r.code != exitUndecided || last(t, r.out)["verdict"] != "undecided" {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
}

func TestMatrixBadInput(t *testing.T) {
	inNewDirectory(t)
	for _, tt := range []struct{ args, says string }{
		{"-designs refrence", "reference"}, {"-deviations -1", "from 0"}, {"-json -markdown", "one of"}, {"-junit nowhere/x", "nowhere/x"}, {"x", "too much"},
	} {
		r := call(t, "", append([]string{"matrix"}, strings.Fields(tt.args)...)...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, tt.says) {
			t.Errorf("matrix %s: exit code %d, %q, %q", tt.args, r.code, r.out, r.errors)
		}
	}
}

// A design that should hold is searched where retries and races are; another
// where its defect shows.
func TestMatrixWorlds(t *testing.T) {
	for _, d := range designs.All() {
		worlds, err := matrixWorlds(d)
		if err != nil || len(worlds) == 0 {
			t.Fatal(err, len(worlds))
		}
		want := matrixScenarios
		if d.Expect != held {
			want = scenariosOf(&d)
		}
		for _, w := range worlds {
			if !slices.Contains(want, w.Scenario.Name) && !slices.Equal(want, names{"all"}) || !slices.Contains(profilesOf(&d), w.Profile.Name) {
				t.Errorf("%s is searched in %s with %s", d.Name, w.Scenario.Name, w.Profile.Name)
			}
		}
	}
}
