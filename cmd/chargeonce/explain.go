package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/sim/timeline"
)

func explainVerb() verb {
	return verb{
		name: "explain", operands: "PLANFILE", summary: "say what each fault of a plan does, and what would have helped",
		doc: `The plan is run once more without each of its faults: what becomes of it then, and where the two runs part.
The picture marks with » what the violation rests on: the charges, the messages that carried them, the writes that
permitted them and the requests that began it. Then the very same plan is run again with one thing of the design put right:
each decision in which it may differ from the reference, or a whole part of it. And it is run on the other designs of the
gallery, to see which of them it does not break. PLANFILE is - for standard input.`,
		examples: []string{"chargeonce explain charge-then-save.plan", "chargeonce explain -json charge-then-save.plan"},
		codes:    []exitCode{exitHeld, exitSafety, exitUsage, exitLiveness, exitUndecided, exitVacuous, exitNondeterministic},
		command: func(fs *flag.FlagSet) action {
			o := &explainOptions{}
			fs.BoolVar(&o.json, "json", false, "write one JSON object instead of text")
			return func(_ context.Context, c *console, operands []string) (exitCode, error) {
				name, err := oneOperand(operands, "PLANFILE")
				if err != nil {
					return 0, err
				}
				return o.run(c, name)
			}
		},
	}
}

// explainOptions are the flags of explain.
type explainOptions struct {
	json bool
}

// explanation is a plan that was explained.
type explanation struct {
	*search.Explanation
	plan    *plan.Plan
	subject *search.Subject
	repairs []repair
	fixes   []fix
}

// repair is one thing of the design that, put right, makes the plan hold.
type repair struct {
	What    string `json:"what"`
	Rule    string `json:"rule"`    // how the reference has it
	Applied int    `json:"applied"` // deviations whose site its run comes by
	size    designs.Size
}

// fix is a design under which the plan holds.
type fix struct {
	Design  string `json:"design"`
	Summary string `json:"summary"`
	Expect  string `json:"expect"`  // what the gallery says of it
	Applied int    `json:"applied"` // deviations whose site its run comes by
}

func (o *explainOptions) run(c *console, name string) (exitCode, error) {
	p, subject, err := c.loadPlan(name, "")
	if err != nil {
		return 0, err
	}
	e := &explanation{plan: p, subject: subject}
	if err := e.explain(); err != nil {
		return 0, err
	}
	return o.tell(c, e), nil
}

// explain runs the plan in parts, and on what might hold.
func (e *explanation) explain() (err error) {
	var subjects []search.Subject
	add := func(d impl.Design) {
		of := *e.subject
		of.Design = d
		subjects = append(subjects, of)
	}
	repairs := slices.DeleteFunc(designs.Repairs(e.subject.Design), func(r designs.Repair) bool { return !e.fits(r.Design) })
	for _, r := range repairs {
		add(r.Design)
	}
	others := e.otherDesigns()
	for _, d := range others {
		add(d)
	}
	if e.Explanation, err = search.Explain(*e.subject, e.plan, subjects, openMemory); err != nil {
		return err
	}
	for _, f := range e.Fixes {
		if f.Other < len(repairs) {
			r := &repairs[f.Other]
			e.repairs = append(e.repairs, repair{r.What, r.Rule, f.Applied, r.Size})
			continue
		}
		d := &others[f.Other-len(repairs)]
		e.fixes = append(e.fixes, fix{d.Name, d.Summary, d.Expect, f.Applied})
	}
	return nil
}

// fits reports whether the plan can be run on a design.
func (e *explanation) fits(d impl.Design) bool {
	of := *e.subject
	of.Design = d
	return validate(&of) == nil
}

// otherDesigns are the designs that the plan can be run on: the reference
// first, then those that should hold, then the others.
func (e *explanation) otherDesigns() (all []impl.Design) {
	rank := func(d *impl.Design) int {
		switch {
		case d.Name == "reference":
			return 0
		case d.Expect == held:
			return 1
		}
		return 2
	}
	for _, d := range designs.All() {
		if d.Name != e.subject.Design.Name && slices.Contains(profilesOf(&d), e.subject.Profile.Name) && e.fits(d) {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b impl.Design) int { return rank(&a) - rank(&b) })
	return all
}

// first is the violation to explain: the one that the plan expects if it is
// there, otherwise the gravest.
func (e *explanation) first() *invariant.Violation {
	return (&replayed{Replay: e.Whole, plan: e.plan}).first()
}

// explained is the output with -json. The names of its members stay.
type explained struct {
	Verdict    search.Verdict `json:"verdict"`
	Reason     string         `json:"reason,omitempty"`
	Design     string         `json:"design"`
	Scenario   string         `json:"scenario"`
	Profile    string         `json:"profile"`
	Plan       string         `json:"plan"`
	Deviations []part         `json:"deviations"`
	Chain      []string       `json:"chain"` // what the violation rests on, in order
	Repairs    []repair       `json:"repairs"`
	Fixes      []fix          `json:"fixes"`

	*fall
	Finding *finding `json:"finding,omitempty"`
}

// part is what one deviation of the plan does.
type part struct {
	Deviation string         `json:"deviation"`
	Verdict   search.Verdict `json:"verdict"` // of the run without it
	Falls     []string       `json:"falls"`   // invariants that fall without it too
	At        int64          `json:"at_ns"`   // virtual time at which the runs part; -1 if they do not
	With      string         `json:"with,omitempty"`
	Without   string         `json:"without,omitempty"`
	WithoutAt int64          `json:"without_at_ns"`
	Sentence  string         `json:"sentence"`
}

// newPart puts what a deviation does into words.
func newPart(e *explanation, w *search.Without) part {
	p := part{Deviation: w.Deviation.String(), Verdict: w.Run.Verdict, Falls: append([]string{}, w.Falls...), At: -1, WithoutAt: -1}
	switch {
	case w.Run.Verdict == search.Nondeterministic || w.Run.Verdict == search.Undecided:
		p.Sentence = "without it: " + w.Run.Reason
	case w.Run.Result.Finding != nil:
		p.Sentence = "without it the code under test breaks the rules: " + w.Run.Result.Finding.Message
	case len(w.Falls) == 0:
		p.Sentence = "without it all invariants hold"
	default:
		p.Sentence = "without it " + strings.Join(w.Falls, ", ") + " falls all the same"
		if v := e.first(); v != nil && !slices.Contains(w.Falls, v.Invariant.String()) {
			p.Sentence = "without it " + v.Invariant.String() + " holds, and " + strings.Join(w.Falls, ", ") + " falls"
		}
	}
	if n := len(w.Run.Unmet); n > 0 {
		p.Sentence += fmt.Sprintf(" (%d of the other lines is met no more)", n)
	}
	if w.Line < 0 {
		p.Sentence += "; it changes nothing"
		return p
	}
	with, without := &e.Whole.Lines[w.Line], &w.Run.Lines[w.Other]
	p.At, p.With = with.At, timeline.Describe(with, e.Whole.Events)
	p.WithoutAt, p.Without = without.At, timeline.Describe(without, w.Run.Events)
	return p
}

// chain is what the first violation rests on.
func (e *explanation) chain() (picture *timeline.Run, sentences []string) {
	picture = &timeline.Run{Lines: e.Whole.Lines, Events: e.Whole.Events, Deviations: e.Whole.Result.Deviations, Violation: -1, MaxRows: maxRows}
	if v := e.first(); v != nil {
		picture.Violation, picture.Operation = v.Index, v.Operation
	}
	picture.Chain = timeline.Chain(picture)
	choice := 0
	for _, i := range picture.Chain {
		l := &e.Whole.Lines[i]
		text := timeline.Describe(l, e.Whole.Events)
		if l.Mark == sim.MarkChoice {
			text = e.Whole.Result.Deviations[choice].String()
			choice++
		}
		sentences = append(sentences, timeline.At(l.At)+" "+text)
	}
	return picture, sentences
}

// tell writes the explanation and returns the exit code, that of the plan.
func (o *explainOptions) tell(c *console, e *explanation) exitCode {
	picture, sentences := e.chain()
	out := &explained{
		Verdict: e.Whole.Verdict, Reason: e.Whole.Reason, Design: e.subject.Design.Name, Scenario: e.subject.Scenario.Name,
		Profile: e.subject.Profile.Name, Plan: e.plan.String(), Deviations: []part{}, Chain: append([]string{}, sentences...),
		Repairs: append([]repair{}, e.repairs...), Fixes: append([]fix{}, e.fixes...), Finding: newFinding(e.Whole.Result.Finding),
	}
	for i := range e.Without {
		out.Deviations = append(out.Deviations, newPart(e, &e.Without[i]))
	}
	whole := &outcome{Verdict: out.Verdict, Reason: out.Reason, Finding: out.Finding}
	if v := e.first(); v != nil {
		var others []string
		for i := range e.Whole.Violations {
			if n := e.Whole.Violations[i].Invariant; n != v.Invariant {
				others = append(others, n.String())
			}
		}
		out.fall = newFall(v, others)
		whole.fall = out.fall
	}
	if o.json {
		c.line(out)
	} else {
		e.write(c.out, out, picture)
		writeVerdict(c.out, whole, "")
	}
	return whole.exit()
}

// write writes the explanation for people.
func (e *explanation) write(w io.Writer, out *explained, picture *timeline.Run) {
	labelled(w, "design", "%s: %s", e.subject.Design.Name, e.subject.Design.Summary)
	writeScenario(w, e.subject)
	labelled(w, "profile", "%s: %s", e.subject.Profile.Name, e.subject.Profile.Doc)
	if out.fall != nil {
		writeFall(w, out.fall)
	}
	if out.Finding != nil {
		writeFinding(w, out.Finding)
	}
	fmt.Fprint(w, "\nWhat each fault of the plan does:\n")
	if len(out.Deviations) == 0 {
		fmt.Fprint(w, "\n  The plan has none: the run is what it is without any fault.\n")
	}
	for i := range out.Deviations {
		out.Deviations[i].write(w, i+1)
	}
	heading := "The run"
	if len(picture.Chain) > 0 {
		heading += "; what the violation rests on is marked »"
	}
	fmt.Fprintf(w, "\n%s:\n\n", heading)
	// An error is the output's, and run tells of it.
	_ = timeline.Write(w, picture)
	if out.fall != nil || out.Finding != nil {
		e.writeRepairs(w)
		e.writeFixes(w)
	}
	fmt.Fprintln(w)
}

func (p *part) write(w io.Writer, number int) {
	fmt.Fprintf(w, "\n%3d. %s\n", number, p.Deviation)
	fmt.Fprint(w, wrap(strings.ToUpper(p.Sentence[:1])+p.Sentence[1:]+".", "     "))
	switch {
	case p.At < 0:
	case p.At == p.WithoutAt && p.With == p.Without:
		fmt.Fprint(w, wrap("The runs part at "+timeline.At(p.At)+": "+p.With+", with other content.", "     "))
	default:
		fmt.Fprint(w, wrap("The runs part at "+timeline.At(p.At)+": "+p.With+".", "     "))
		fmt.Fprint(w, wrap("Without it, at "+timeline.At(p.WithoutAt)+": "+p.Without+".", "     "))
	}
}

// smallest are the repairs to tell people of: those that put right the least.
func (e *explanation) smallest() []repair {
	if len(e.repairs) == 0 {
		return nil
	}
	least := slices.MinFunc(e.repairs, func(a, b repair) int { return cmp.Compare(a.size, b.size) }).size
	return slices.DeleteFunc(slices.Clone(e.repairs), func(r repair) bool { return r.size > least })
}

// writeRepairs says what put right in the design makes the plan hold.
func (e *explanation) writeRepairs(w io.Writer) {
	repairs := e.smallest()
	switch {
	case e.subject.Design.Expect == held:
		return // what is wrong is not the design
	case len(repairs) == 0 && len(e.subject.Break) > 0:
		fmt.Fprintf(w, "\n%s", wrap("Nothing put right in the design makes the plan hold: what is wrong is its deployment, which does not keep "+joined(e.subject.Break)+".", ""))
		return
	case len(repairs) == 0:
		fmt.Fprint(w, "\nNo one thing put right in the design makes the plan hold.\n")
		return
	case len(repairs) == 1:
		fmt.Fprint(w, "\nThis put right in the design, the very same plan holds:\n\n")
	default:
		fmt.Fprint(w, "\nAny one of these put right in the design, the very same plan holds:\n\n")
	}
	for _, r := range repairs {
		e.writeLine(w, r.What, r.Rule, r.Applied)
	}
}

// writeLine writes a line of what makes the plan hold.
func (e *explanation) writeLine(w io.Writer, name, text string, applied int) {
	if applied < len(e.plan.Deviations) {
		text += fmt.Sprintf("; %d of %d faults apply there", applied, len(e.plan.Deviations))
	}
	fmt.Fprintf(w, "  %-25s %s", name, strings.TrimLeft(wrap(text, strings.Repeat(" ", 28)), " "))
}

// writeFixes says which designs the plan does not break.
func (e *explanation) writeFixes(w io.Writer) {
	if len(e.fixes) == 0 {
		fmt.Fprint(w, "\nNo other design of the gallery for this provider comes by the plan's sites and holds.\n")
		return
	}
	fmt.Fprint(w, "\nOther designs that the very same plan does not break:\n\n")
	for i, f := range e.fixes {
		if i == maxFixes {
			fmt.Fprintf(w, "  and %d more; -json lists them\n", len(e.fixes)-i)
			break
		}
		text := f.Summary
		if f.Expect != held {
			text += "; something else breaks " + f.Expect
		}
		e.writeLine(w, f.Design, text, f.Applied)
	}
}

// maxFixes bounds how many designs are told to people.
const maxFixes = 8
