package tla

import (
	"fmt"
	"slices"
	"strings"
)

// canonical reads a value of TLA+ as TLC writes it and writes it again with
// the elements of sets and the fields of records in alphabetical order, so
// that equal values are equal texts.
func canonical(text string) (string, error) {
	p := valueParser{rest: text}
	v := p.value()
	p.skipSpace()
	if p.err == nil && p.rest != "" {
		p.fail("the end")
	}
	return v, p.err
}

// valueParser reads from rest and keeps its first error.
type valueParser struct {
	rest string
	err  error
}

func (p *valueParser) fail(want string) {
	if p.err == nil {
		p.err = fmt.Errorf("want %s at %.40q", want, p.rest)
	}
	p.rest = ""
}

func (p *valueParser) skipSpace() { p.rest = strings.TrimLeft(p.rest, " \n\r\t") }

// accept takes token off, if it is next.
func (p *valueParser) accept(token string) bool {
	p.skipSpace()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *valueParser) expect(token string) {
	if !p.accept(token) {
		p.fail(token)
	}
}

func (p *valueParser) value() string {
	switch {
	case p.accept("{"):
		elements := p.list("}", p.value)
		slices.Sort(elements)
		return "{" + strings.Join(elements, ", ") + "}"
	case p.accept("<<"):
		return "<<" + strings.Join(p.list(">>", p.value), ", ") + ">>"
	case p.accept("["):
		fields := p.list("]", p.field)
		slices.Sort(fields)
		return "[" + strings.Join(fields, ", ") + "]"
	case p.accept(`"`):
		word, rest, ok := strings.Cut(p.rest, `"`)
		if !ok {
			p.fail(`"`)
		}
		p.rest = rest
		return `"` + word + `"`
	default:
		return p.word()
	}
}

func (p *valueParser) list(end string, element func() string) []string {
	var all []string
	for p.err == nil && !p.accept(end) {
		if len(all) > 0 {
			p.expect(",")
		}
		all = append(all, element())
	}
	return all
}

func (p *valueParser) field() string {
	name := p.word()
	p.expect("|->")
	return name + " |-> " + p.value()
}

// word is a name or a number.
func (p *valueParser) word() string {
	p.skipSpace()
	n := len(p.rest) - len(strings.TrimPrefix(p.rest, "-"))
	for n < len(p.rest) && (p.rest[n] == '_' || '0' <= p.rest[n] && p.rest[n] <= '9' || 'A' <= p.rest[n] && p.rest[n] <= 'Z' || 'a' <= p.rest[n] && p.rest[n] <= 'z') {
		n++
	}
	word := p.rest[:n]
	if word == "" || word == "-" {
		p.fail("a value")
		return ""
	}
	p.rest = p.rest[n:]
	return word
}

// canonicalState reads a state as TLC writes it, a conjunction of variables
// with their values, and writes it in one line with the variables in
// alphabetical order.
func canonicalState(text string) (string, error) {
	var all []string
	for _, conjunct := range strings.Split("\n"+text, "\n/\\ ")[1:] {
		name, value, ok := strings.Cut(conjunct, "=")
		if !ok {
			return "", fmt.Errorf("no variable in %q", conjunct)
		}
		v, err := canonical(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, strings.TrimSpace(name)+" = "+v)
	}
	slices.Sort(all)
	return strings.Join(all, "; "), nil
}
