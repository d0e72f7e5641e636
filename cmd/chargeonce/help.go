package main

import (
	"context"
	_ "embed" // the help is the package's doc
	"flag"
	"fmt"
	"io"
	"strings"
)

//go:embed doc.go
var source string

func helpVerb() verb {
	return verb{
		name: "help", operands: "[VERB]", summary: "show this text, or that of a verb",
		examples: []string{"chargeonce help sim", "chargeonce sim -h"},
		codes:    []exitCode{exitHeld, exitUsage},
		command: func(*flag.FlagSet) action {
			return func(_ context.Context, c *console, operands []string) (exitCode, error) {
				return exitHeld, help(c.out, operands)
			}
		},
	}
}

func help(w io.Writer, operands []string) error {
	switch len(operands) {
	case 0:
		_, _ = io.WriteString(w, manual())
		return nil
	case 1:
		v, err := findVerb(operands[0])
		if err == nil {
			v.help(w)
		}
		return err
	}
	return fmt.Errorf("%q is too much: want one VERB", operands[1])
}

// manual is the doc of this package as plain text.
func manual() string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		text, comment := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "//")
		if !comment {
			break
		}
		text = strings.TrimPrefix(strings.TrimPrefix(text, " "), "# ")
		if code, ok := strings.CutPrefix(text, "\t"); ok {
			text = "  " + code
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// help writes what there is to know of a verb.
func (v *verb) help(w io.Writer) {
	fs := v.flags()
	v.command(fs)
	usage := "chargeonce " + v.name
	flags := flagLines(fs)
	if len(flags) > 0 {
		usage += " [flags]"
	}
	if v.operands != "" {
		usage += " " + v.operands
	}
	fmt.Fprintf(w, "%s\n\n%s%s.\n", usage, strings.ToUpper(v.summary[:1]), v.summary[1:])
	if v.doc != "" {
		fmt.Fprintf(w, "\n%s", wrap(v.doc, ""))
	}
	section(w, "Flags", flags)
	section(w, "Examples", v.examples)
	var codes []string
	for _, code := range v.codes {
		codes = append(codes, fmt.Sprintf("%d  %s", code, exitDocs[code]))
	}
	section(w, "Exit codes", codes)
}

func section(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// flagLines says what each flag is for, and its default unless that is
// nothing.
func flagLines(fs *flag.FlagSet) (lines []string) {
	const column = 18
	fs.VisitAll(func(f *flag.Flag) {
		what, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		head := strings.TrimSpace("-" + f.Name + " " + what)
		text := strings.Split(strings.TrimSpace(wrap(usage, strings.Repeat(" ", column))), "\n")
		lines = append(lines, fmt.Sprintf("%-*s%s", column, head, text[0]))
		lines = append(lines, text[1:]...)
	})
	return lines
}
