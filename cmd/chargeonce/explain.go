package main

import (
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
permitted them and the requests that began it. Then the very same plan is run on the other designs of the gallery, to see
which of them it does not break. PLANFILE is - for standard input.`,
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
	fixes   []fix
}

// fix is a design under which the plan holds.
type fix struct {
	Design  string `json:"design"`
	Summary string `json:"summary"`
	Expect  string `json:"expect"`  // what the gallery says of it
	Applied int    `json:"applied"` // deviations whose site its run comes by
}

func (o *explainOptions) run(c *console, name string) (exitCode, error) {
	text, err := c.readPlan(name)
	if err != nil {
		return 0, err
	}
	p, err := plan.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	subject, err := subjectOf(p, "")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	others := otherDesigns(subject)
	subjects := make([]search.Subject, len(others))
	for i := range others {
		subjects[i] = *subject
		subjects[i].Design = others[i]
	}
	found, err := search.Explain(*subject, p, subjects, openMemory)
	if err != nil {
		return 0, err
	}
	e := &explanation{Explanation: found, plan: p, subject: subject}
	e.addFixes(others)
	return o.tell(c, e), nil
}

// otherDesigns are the designs that the plan of a subject can be run on: the
// reference first, then those that should hold, then the others.
func otherDesigns(s *search.Subject) (all []impl.Design) {
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
		of := *s
		of.Design = d
		if d.Name != s.Design.Name && slices.Contains(profilesOf(&d), s.Profile.Name) && validate(&of) == nil {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b impl.Design) int { return rank(&a) - rank(&b) })
	return all
}

func (e *explanation) addFixes(others []impl.Design) {
	for _, f := range e.Fixes {
		for i := range others {
			if d := &others[i]; d.Name == f.Design {
				e.fixes = append(e.fixes, fix{d.Name, d.Summary, d.Expect, f.Applied})
			}
		}
	}
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
		Fixes: append([]fix{}, e.fixes...), Finding: newFinding(e.Whole.Result.Finding),
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

// writeFixes says which designs the plan does not break.
func (e *explanation) writeFixes(w io.Writer) {
	if len(e.fixes) == 0 {
		fmt.Fprint(w, "\nNo other design of the gallery for this provider comes by the plan's sites and holds.\n")
		return
	}
	fmt.Fprint(w, "\nThe very same plan does not break:\n\n")
	for i, f := range e.fixes {
		if i == maxFixes {
			fmt.Fprintf(w, "  and %d more; -json lists them\n", len(e.fixes)-i)
			break
		}
		note := ""
		if f.Applied < len(e.plan.Deviations) {
			note = fmt.Sprintf("; %d of %d faults apply there", f.Applied, len(e.plan.Deviations))
		}
		if f.Expect != held {
			note += "; something else breaks " + f.Expect
		}
		text := wrap(f.Summary+note, strings.Repeat(" ", 28))
		fmt.Fprintf(w, "  %-25s %s", f.Design, strings.TrimLeft(text, " "))
	}
}

// maxFixes bounds how many designs are told to people.
const maxFixes = 8
