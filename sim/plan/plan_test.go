package plan_test

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/plan"
)

func TestPlanPrintsAndParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := plans().Draw(t, "plan")
		text := want.String()
		got, err := plan.Parse(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("parsed back it is\n%swant\n%s", got, want)
		}
	})
}

// The order of the lines after the first one has no meaning, nor have
// comments, blank lines, indentation and foreign line ends.
func TestLayoutOfAPlanHasNoMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := plans().Draw(t, "plan")
		lines := strings.Split(strings.TrimSuffix(want.String(), "\n"), "\n")
		rest := rapid.Permutation(lines[1:]).Draw(t, "lines")
		noise := rapid.SampledFrom([]string{"", "\n", "   \n", "# hold on\n", "\t#\n"})
		end := rapid.SampledFrom([]string{"\n", "\r\n", "  \n"})
		indent := rapid.SampledFrom([]string{"", "  ", "\t"})
		var text strings.Builder
		for _, line := range append(lines[:1:1], rest...) {
			text.WriteString(noise.Draw(t, "noise") + indent.Draw(t, "indent") + line + end.Draw(t, "end"))
		}
		got, err := plan.Parse(strings.TrimSuffix(text.String(), "\n"))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		slices.Sort(got.Break)
		sorted := *want
		sorted.Break = slices.Sorted(slices.Values(want.Break))
		if !reflect.DeepEqual(got, &sorted) {
			t.Fatalf("parsed it is\n%swant\n%s", got, want)
		}
	})
}

// Equal plans print equal bytes, in whatever order their deviations are.
func TestEqualPlansPrintEqually(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plans().Draw(t, "plan")
		q := *p
		q.Deviations = rapid.Permutation(p.Deviations).Draw(t, "order")
		q.Absent = rapid.Permutation(p.Absent).Draw(t, "order of parts")
		if p.String() != q.String() {
			t.Fatalf("one prints\n%sthe other\n%s", p, &q)
		}
	})
}

// universe lists sites of all kinds of processes and all steps.
func universe() (all []plan.Site) {
	kinds := []plan.Process{plan.Client | 1, plan.Server | 2, plan.Reconciler | 1, plan.Registry, plan.Provider}
	attempt := plan.NewAttempt(plan.Client|1, 7, 2)
	for _, who := range kinds {
		for step := impl.StepNone + 1; step < impl.StepCount; step++ {
			for what := plan.WhatBefore; what <= plan.WhatAfter; what++ {
				all = append(all, plan.NewSite(what, who, 0, step, attempt))
			}
			if who == plan.Registry || who == plan.Provider {
				all = append(all, plan.NewSite(plan.WhatServe, who, 0, step, attempt))
			}
			for _, peer := range kinds {
				all = append(all, plan.NewSite(plan.WhatMessage, who, peer, step, attempt))
			}
		}
		if who != plan.Registry && who != plan.Provider {
			all = append(all, plan.NewSite(plan.WhatClock, who, 0, 0, 0))
		}
	}
	return all
}

// Every class with every one of its bounds has a line that parses back to it
// and to nothing else.
func TestEveryChoiceHasALineOfItsOwn(t *testing.T) {
	type word struct {
		class plan.Class
		bound plan.Bound
	}
	said := map[word]bool{}
	for _, site := range universe() {
		lines := map[string]plan.Class{}
		for _, c := range fitting(site) {
			said[word{c.Class, c.Bound}] = true
			switch c.Bound {
			case plan.BoundUntil:
				c.Step, c.Who = impl.StepLookUp, plan.Reconciler|1
			case plan.BoundBy:
				c.By = 12e6
			}
			want := plan.Deviation{Site: site, Choice: c}
			line := want.String()
			if other, taken := lines[line]; taken {
				t.Errorf("%q is said of %s and of %s", line, other, c.Class)
			}
			lines[line] = c.Class
			if got, err := plan.ParseDeviation(line); err != nil || got != want {
				t.Errorf("%q of class %s parses to %+v, %v", line, c.Class, got, err)
			}
		}
	}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		bounds := class.Bounds()
		if len(bounds) == 0 {
			bounds = []plan.Bound{plan.BoundNone}
		}
		for _, b := range bounds {
			if !said[word{class, b}] {
				t.Errorf("the choice %s %s fits no site at all", class, b)
			}
		}
	}
}

func TestClassesNameThemselvesAndWhatTheyBreak(t *testing.T) {
	broken := map[impl.Assumption]bool{}
	for class := plan.ClassNone + 1; class < plan.ClassCount; class++ {
		if got, err := plan.ParseClass(class.String()); err != nil || got != class {
			t.Errorf("ParseClass(%q) = %v, %v", class.String(), got, err)
		}
		if doc := class.Doc(); doc == "" || strings.Contains(doc, "\n") {
			t.Errorf("%s: what it does is not told in one line: %q", class, doc)
		}
		broken[class.Breaks()] = true
	}
	for _, a := range impl.Assumptions {
		if !broken[a] {
			t.Errorf("no class breaks %s", a)
		}
	}
	if _, err := plan.ParseClass("none"); err == nil || !strings.Contains(err.Error(), "hold-until") {
		t.Errorf("ParseClass(none): %v: want an error that lists the names", err)
	}
}

// The stories are texts and what is wrong with them. "line" reads one
// deviation, "plan" a whole plan.
func TestErrors(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors.txt", func(t *testing.T, d *datadriven.TestData) string {
		var err error
		switch d.Cmd {
		case "line":
			_, err = plan.ParseDeviation(d.Input)
		case "plan":
			_, err = plan.Parse(d.Input)
			var syntax *plan.SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%s: %v is no *SyntaxError", d.Pos, err)
			} else if lines := strings.Count(d.Input, "\n") + 1; syntax.Line < 1 || syntax.Line > lines || syntax.Unwrap() == nil {
				t.Errorf("%s: the error is said to be at line %d of %d", d.Pos, syntax.Line, lines)
			}
		default:
			t.Fatalf("%s: no command is called %s", d.Pos, d.Cmd)
		}
		if err == nil {
			return "no error\n"
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the message has more than one line: %q", d.Pos, err)
		}
		return err.Error() + "\n"
	})
}

// The golden file pins the format: a change that makes it fail makes the
// plans that people keep unreadable and needs a new version.
func TestGoldenPlan(t *testing.T) {
	golden, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse(string(golden))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.String(); got != string(golden) {
		t.Errorf("written again it is\n%s\nwant\n%s", got, golden)
	}
	attempt := func(try int) plan.Attempt { return plan.NewAttempt(plan.Client|1, 7, try) }
	want := &plan.Plan{
		Design: "charge-then-save", Scenario: "retry-other-replica", Expect: "SingleCharge", Hash: 0x5f2c00d1a7b3e904,
		Deviations: []plan.Deviation{
			{
				Site:   plan.NewSite(plan.WhatMessage, plan.Server|2, plan.Provider, impl.StepCharge, attempt(2)),
				Choice: plan.Choice{Class: plan.ClassHoldUntil, Bound: plan.BoundUntil, Until: plan.Until{Step: impl.StepLookUp, Who: plan.Reconciler | 1}},
			},
			{
				Site:   plan.NewSite(plan.WhatAfter, plan.Server|1, 0, impl.StepCharge, attempt(1)),
				Choice: plan.Choice{Class: plan.ClassCrash},
			},
		},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("it means %+v, want %+v", p, want)
	}
}

// What a deviation names in its site or in its choice it cannot be without.
func TestPartIsNamedBy(t *testing.T) {
	const line = "hold server-2→provider charge of client-1/order-7/try-2 until look-up of server-3"
	d, err := plan.ParseDeviation(line)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"server-2": true, "server-3": true, "client-1": true, "order-7": true,
		"server-1": false, "client-2": false, "order-1": false,
	} {
		part, err := plan.ParsePart(text)
		if err != nil || part.NamedBy(d) != want {
			t.Errorf("%s is named by %q: %v, %v; want %v", text, line, part.NamedBy(d), err, want)
		}
	}
}

func TestWithoutLeavesOutOneDeviationAndTheClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plans().Filter(func(p *plan.Plan) bool { return len(p.Deviations) > 0 }).Draw(t, "plan")
		before := p.String()
		i := rapid.IntRange(0, len(p.Deviations)-1).Draw(t, "i")
		q := p.Without(i)
		if slices.Contains(q.Deviations, p.Deviations[i]) || len(q.Deviations) != len(p.Deviations)-1 {
			t.Fatalf("without the %d-th it is\n%s", i, q)
		}
		if q.Expect != "" || q.Hash != 0 {
			t.Fatalf("it still claims to expect %q with hash %x", q.Expect, q.Hash)
		}
		if p.String() != before {
			t.Fatalf("the original changed to\n%s", p)
		}
	})
}

// FuzzParse holds that whatever parses prints as something that parses to
// the same, and that printing is stable.
func FuzzParse(f *testing.F) {
	golden, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(golden))
	f.Add("chargeonce plan v1\ndesign a\nscenario b\nbreak A1\nskew server-1 far-ahead\nlag beyond provider look-up of reconciler-1/sweep-3 #2\n")
	f.Add("chargeonce plan v1\ndesign a\nscenario b\nwithout order-2\nwithout server-1\nwithout client-15\ncrash server-2 after charge of client-1/order-1/try-1\n")
	f.Add("chargeonce plan v1\ndesign a\nscenario b\nhold server-1->registry claim of client-1/order-1/try-1 by 1h0m0.000000001s\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := plan.Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("the message has more than one line: %q", err)
			}
			return
		}
		printed := p.String()
		q, err := plan.Parse(printed)
		if err != nil {
			t.Fatalf("%q parses, and what it prints does not: %v\n%s", text, err, printed)
		}
		if !reflect.DeepEqual(p, q) || q.String() != printed {
			t.Fatalf("%q prints\n%sand that\n%s", text, printed, q)
		}
	})
}
