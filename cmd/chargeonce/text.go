package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// textWidth is how wide text is that is made of sentences. Tables and
// pictures may take up to 120 columns.
const textWidth = 96

// wrap breaks text between words; all lines begin with the indent.
func wrap(text, indent string) string {
	var b strings.Builder
	column := 0
	for _, w := range strings.Fields(text) {
		n := utf8.RuneCountInString(w)
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+n > textWidth:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(w)
		column += n
	}
	b.WriteString("\n")
	return b.String()
}

// labelWidth is the width of what stands before a line of a report.
const labelWidth = 12

// labelled writes a line of a report, with more lines under it if it is long.
func labelled(w io.Writer, label, format string, args ...any) {
	indent := strings.Repeat(" ", labelWidth)
	text := wrap(fmt.Sprintf(format, args...), indent)
	fmt.Fprintf(w, "%-*s%s", labelWidth, label, strings.TrimPrefix(text, indent))
}

// grid writes cells of equal width in rows, under a label.
func grid(w io.Writer, label string, perRow int, cells []string) {
	for i := 0; i < len(cells); i += perRow {
		row := fmt.Sprintf("%-*s%s", labelWidth, label, strings.Join(cells[i:min(i+perRow, len(cells))], "   "))
		fmt.Fprintln(w, strings.TrimRight(row, " "))
		label = ""
	}
}

// indented writes a block of lines a little to the right.
func indented(w io.Writer, block string) {
	for line := range strings.Lines(block) {
		fmt.Fprintf(w, "  %s", line)
	}
}

// quote makes a word that a shell takes as it stands.
func quote(word string) string {
	safe := func(r rune) bool {
		return strings.ContainsRune("._-/+:@%,=", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
