package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
)

// Plan is a run: which design in which world, and the choices that are not
// benign.
type Plan struct {
	Design     string
	Scenario   string
	Absent     []Part            // what of the scenario is left out, each part once; sorted by Sort
	Profile    string            // the provider's profile; "" is the design's first
	Break      []impl.Assumption // which assumptions the world may break
	Weather    uint64            // 0: fixed delays; otherwise base delays are a hash of it and the site
	Deviations []Deviation       // at most one for a site; the order has no meaning
	Expect     string            // "held" or the invariant that falls; "" is not stated
	Hash       uint64            // the trace hash of the run; 0 is not stated
}

// first is the first line of a plan.
const first = "chargeonce plan v1"

// String returns the plan as text that Parse reads. Deviations come in the
// order of their text, so that equal plans give equal bytes.
func (p *Plan) String() string {
	var b strings.Builder
	b.WriteString(first + "\n")
	line := func(word, value string) {
		if value != "" {
			b.WriteString(word + " " + value + "\n")
		}
	}
	line("design", p.Design)
	line("scenario", p.Scenario)
	for _, part := range p.absent() {
		line("without", part.String())
	}
	line("profile", p.Profile)
	for _, a := range p.Break {
		line("break", string(a))
	}
	line("weather", strconv.FormatUint(p.Weather, 10))
	for _, l := range p.lines() {
		b.WriteString(l + "\n")
	}
	line("expect", p.Expect)
	if p.Hash != 0 {
		line("hash", fmt.Sprintf("%016x", p.Hash))
	}
	return b.String()
}

// absent returns the parts that are left out in their order.
func (p *Plan) absent() []Part {
	parts := slices.Clone(p.Absent)
	slices.SortFunc(parts, Part.compare)
	return parts
}

func (p *Plan) lines() []string {
	lines := make([]string, len(p.Deviations))
	for i, d := range p.Deviations {
		lines[i] = d.String()
	}
	slices.Sort(lines)
	return lines
}

// SyntaxError is returned by Parse. Its message is one line.
type SyntaxError struct {
	Line int // from 1
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("plan: line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Parse reads a plan. Blank lines and lines that begin with # are passed
// over. The error is a *SyntaxError.
func Parse(text string) (*Plan, error) {
	p := &Plan{}
	started := false
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var err error
		if !started {
			if line != first {
				return nil, &SyntaxError{number, fmt.Errorf("want the first line %q, not %q", first, clip(line))}
			}
			started = true
			continue
		}
		word, value, _ := strings.Cut(line, " ")
		value = strings.TrimSpace(value)
		switch word {
		case "design", "scenario", "profile", "weather", "expect", "hash":
			if seen[word] {
				err = fmt.Errorf("%s stands here a second time", word)
			} else if value == "" {
				err = fmt.Errorf("%s has no value", word)
			} else {
				err = p.set(word, value)
			}
			seen[word] = true
		case "break":
			if !slices.Contains(impl.Assumptions, impl.Assumption(value)) {
				err = fmt.Errorf("no assumption is called %q: want one of %v", clip(value), impl.Assumptions)
			}
			if slices.Contains(p.Break, impl.Assumption(value)) {
				err = fmt.Errorf("break %s stands here a second time", value)
			}
			p.Break = append(p.Break, impl.Assumption(value))
		case "without":
			var part Part
			if part, err = ParsePart(value); err == nil && slices.Contains(p.Absent, part) {
				err = fmt.Errorf("without %s stands here a second time", part)
			}
			p.Absent = append(p.Absent, part)
		default:
			var d Deviation
			if d, err = ParseDeviation(line); err == nil {
				if slices.ContainsFunc(p.Deviations, func(o Deviation) bool { return o.Site == d.Site }) {
					err = fmt.Errorf("a second choice at the site %q", d.Site)
				}
				p.Deviations = append(p.Deviations, d)
			}
		}
		if err != nil {
			return nil, &SyntaxError{number, err}
		}
	}
	switch {
	case !started:
		return nil, &SyntaxError{max(number, 1), fmt.Errorf("the plan is empty: want the first line %q", first)}
	case p.Design == "":
		return nil, &SyntaxError{number, errors.New("the plan names no design: want a line like \"design reference\"")}
	case p.Scenario == "":
		return nil, &SyntaxError{number, errors.New("the plan names no scenario: want a line like \"scenario one-payment\"")}
	}
	p.Sort()
	return p, nil
}

func (p *Plan) set(word, value string) (err error) {
	switch word {
	case "design":
		p.Design = value
	case "scenario":
		p.Scenario = value
	case "profile":
		p.Profile = value
	case "expect":
		p.Expect = value
	case "weather":
		if p.Weather, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = fmt.Errorf("weather %q: want a whole number, 0 for fixed delays", clip(value))
		}
	case "hash":
		if p.Hash, err = strconv.ParseUint(value, 16, 64); err != nil || len(value) != 16 {
			err = fmt.Errorf("hash %q: want 16 hexadecimal digits", clip(value))
		}
	}
	return err
}

// Sort puts the deviations into the canonical order of their sites, and the
// parts that are left out into theirs.
func (p *Plan) Sort() {
	slices.SortFunc(p.Absent, Part.compare)
	slices.SortFunc(p.Deviations, func(a, b Deviation) int { return cmp.Compare(a.Site, b.Site) })
}

// Without returns a copy of the plan that lacks the i-th deviation, and what
// was expected of the whole.
func (p *Plan) Without(i int) *Plan {
	q := *p
	q.Deviations = slices.Delete(slices.Clone(p.Deviations), i, i+1)
	q.Expect, q.Hash = "", 0
	return &q
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
