package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// The help is the package's doc, and the doc lists what the table of verbs
// and the exit codes say.
func TestHelpIsTheDoc(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(text string) string {
		return strings.TrimSpace(regexp.MustCompile(`(?m)^(# |\t|  )`).ReplaceAllString(text, ""))
	}
	help := call(t, "", "help")
	if plain(f.Doc.Text()) != plain(help.out) || help.code != exitHeld {
		t.Errorf("exit code %d, help:\n%s\ndoc:\n%s", help.code, help.out, f.Doc.Text())
	}
	_, listed, _ := strings.Cut(help.out, "Verbs\n\n")
	listed, _, _ = strings.Cut(listed, "\n\n")
	var table []string
	for _, v := range verbs() {
		table = append(table, fmt.Sprintf("  %-12s%s", v.name, v.summary))
	}
	if want := strings.Join(table, "\n"); listed != want {
		t.Errorf("the doc lists\n%s\nand the verbs are\n%s", listed, want)
	}
	for code := exitHeld; code <= exitNondeterministic; code++ {
		if line := fmt.Sprintf("\n  %d  %s\n", code, exitDocs[code]); !strings.Contains(help.out, line) {
			t.Errorf("the doc lacks the exit code%s", line)
		}
	}
}

func TestHelp(t *testing.T) {
	manual := call(t, "", "help").out
	for _, args := range [][]string{{}, {"-h"}, {"--help"}, {"-help"}} {
		if r := call(t, "", args...); r.code != exitHeld || r.out != manual || r.errors != "" {
			t.Errorf("%v: exit code %d, %q, %q", args, r.code, r.out, r.errors)
		}
	}
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			want := call(t, "", "help", v.name)
			if want.code != exitHeld || want.errors != "" {
				t.Fatalf("exit code %d, %s", want.code, want.errors)
			}
			for _, args := range [][]string{{v.name, "-h"}, {v.name, "--help"}, {"-h", v.name}} {
				if got := call(t, "", args...); got != want {
					t.Errorf("%v says %q, help %s says %q", args, got.out, v.name, want.out)
				}
			}
			for _, part := range []string{"chargeonce " + v.name, "Examples\n", "Exit codes\n"} {
				if !strings.Contains(want.out, part) {
					t.Errorf("the help lacks %q", part)
				}
			}
			for line := range strings.Lines(want.out) {
				if n := len([]rune(line)); n > 120 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

// The examples of the help are commands that the flags take.
func TestExamplesParse(t *testing.T) {
	for _, v := range verbs() {
		for _, example := range v.examples {
			for _, command := range strings.Split(example, " && ") {
				command, _, _ = strings.Cut(command, " < ")
				words := strings.Fields(command)
				named, err := findVerb(words[1])
				if err != nil {
					t.Errorf("%s: %v", example, err)
					continue
				}
				fs := named.flags()
				named.command(fs)
				if _, err := parse(fs, words[2:]); err != nil && !strings.Contains(err.Error(), "help") {
					t.Errorf("%s: %v", example, err)
				}
			}
		}
	}
}
