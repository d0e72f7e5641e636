package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
)

func TestBadInput(t *testing.T) {
	inNewDirectory(t)
	write(t, "empty", "")
	write(t, "foreign", "{\"a\":1}\n")
	write(t, "cut", "{\"format\":\"chargeonce history\",\"version\":1}\n{\"kind\":\"call\"")
	write(t, "text", "{\"format\":\"chargeonce history\",\"version\":1}\nhello\n")
	before := files(t)
	head := "chargeonce plan v1\ndesign reference\nscenario one-payment\n"
	for _, tt := range []struct {
		args  string
		stdin string
		wants []string // all in the one line on standard error
	}{
		{"simulate", "", []string{`no verb "simulate"`, "did you mean sim"}},
		{"xyzzy", "", []string{`no verb "xyzzy"`, "replay"}},
		{"help xyzzy", "", []string{`no verb "xyzzy"`}},
		{"help sim replay", "", []string{"one VERB"}},
		{"sim -desing reference", "", []string{"no flag -desing", "did you mean -design", "chargeonce help sim"}},
		{"scenarios -v", "", []string{"no flag -v", "-json"}},
		{"help -v", "", []string{"no flag -v"}},
		{"sim reference", "", []string{`"reference" is too much`}},
		{"sim -design refrence", "", []string{`"refrence"`, "reference"}},
		{"sim -scenario one", "", []string{`"one"`, "one-payment"}},
		{"sim -scenario one-payment,", "", []string{"-scenario", "commas"}},
		{"sim -profile stripe", "", []string{`"stripe"`, "keyed"}},
		{"sim -faults lightning", "", []string{`"lightning"`, "drop"}},
		{"sim -faults forget-keys", "", []string{"forget-keys", "-break A1"}},
		{"sim -break A9", "", []string{`"A9"`, "A1"}},
		{"sim -registry postgres", "", []string{"memory or sqlite"}},
		{"sim -runs 0", "", []string{"-runs", "from 1"}},
		{"sim -runs -5", "", []string{"-runs", "from 1"}},
		{"sim -runs many", "", []string{"-runs", "whole number"}},
		{"sim -runs", "", []string{"-runs", "argument"}},
		{"sim -workers -1", "", []string{"-workers", "from 0"}},
		{"sim -seed -1", "", []string{"-seed", "from 0"}},
		{"sim -json=perhaps", "", []string{"-json"}},
		{"sim -plan nowhere/x.plan", "", []string{"nowhere/x.plan"}},
		{"sim -plan .", "", []string{"directory"}},
		{"sim -history -", "", []string{`"-"`}},
		{"sim -history empty/x", "", []string{"empty/x"}},
		{"sim -history x -plan x", "", []string{"both"}},
		{"replay", "", []string{"PLANFILE"}},
		{"replay a b", "", []string{`"b" is too much`}},
		{"replay nowhere.plan", "", []string{"nowhere.plan"}},
		{"replay .", "", []string{"directory"}},
		{"replay empty", "", []string{"empty", "chargeonce plan v1"}},
		{"replay -", "chargeonce plan v2\n", []string{"line 1", "chargeonce plan v1"}},
		{"replay -", head + "drop it\n", []string{"line 4", `"it"`}},
		{"replay -", head + "drop server-1→moon charge of client-1/order-1/try-1\n", []string{"line 4", `"moon"`}},
		{"replay -", head + "drop server-3→provider charge of client-1/order-1/try-1\n", []string{"server-3", "server-1 to server-2"}},
		{"replay -", head + "drop server-1→provider charge of client-2/order-1/try-1\n", []string{"client-2", "client-1"}},
		{"replay -", head + "drop server-1→provider charge of client-1/order-2/try-1\n", []string{"order-2", "order-1"}},
		{"replay -", head + "forget provider charge of client-1/order-1/try-1\n", []string{"A1", "break A1"}},
		{"replay -", strings.Replace(head, "reference", "refrence", 1), []string{"refrence", "reference"}},
		{"replay -", strings.Replace(head, "one-payment", "two-payments", 1), []string{"two-payments", "one-payment"}},
		{"replay -", head + "profile stripe\n", []string{"stripe", "keyed"}},
		{"replay -", head + "expect Happiness\n", []string{"Happiness", "SingleCharge"}},
		{"replay -design refrence -", head, []string{"refrence", "reference"}},
		{"replay -history nowhere/x -", head, []string{"nowhere/x"}},
		{"check", "", []string{"HISTORY.jsonl"}},
		{"check -budget 0s -", "", []string{"-budget", "more than 0"}},
		{"check nowhere.jsonl", "", []string{"nowhere.jsonl"}},
		{"check .", "", []string{"directory"}},
		{"check empty", "", []string{"line 1", "an empty file"}},
		{"check foreign", "", []string{"line 1", "header"}},
		{"check cut", "", []string{"line 2", "newline"}},
		{"check text", "", []string{"line 2", "JSON object"}},
		{"designs refrence", "", []string{"refrence", "reference"}},
		{"scenarios mixed", "", []string{`"mixed" is too much`}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			r := call(t, tt.stdin, strings.Fields(tt.args)...)
			if r.code != exitUsage {
				t.Errorf("exit code %d, want %d", r.code, exitUsage)
			}
			if r.out != "" {
				t.Errorf("standard output:\n%s", r.out)
			}
			if !strings.HasPrefix(r.errors, "chargeonce") || strings.Count(r.errors, "\n") != 1 || !strings.HasSuffix(r.errors, "\n") {
				t.Errorf("standard error is not one line of the command:\n%s", r.errors)
			}
			for _, want := range tt.wants {
				if !strings.Contains(r.errors, want) {
					t.Errorf("%q does not say %q", r.errors, want)
				}
			}
		})
	}
	if after := files(t); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("bad input wrote files: %v, before: %v", after, before)
	}
}

func TestFlagsMayFollowOperands(t *testing.T) {
	v := verb{name: "test"}
	fs := v.flags()
	asJSON := fs.Bool("json", false, "")
	for _, tt := range []struct {
		args, operands string
		set            bool
	}{
		{"a -json b", "a b", true},
		{"-json a", "a", true},
		{"a - -json", "a -", true},
		{"a -- -json", "a -json", false},
		{"", "", false},
	} {
		*asJSON = false
		operands, err := parse(fs, strings.Fields(tt.args))
		if err != nil || strings.Join(operands, " ") != tt.operands || *asJSON != tt.set {
			t.Errorf("parse %q: operands %q, flag %v, %v; want %q, %v", tt.args, operands, *asJSON, err, tt.operands, tt.set)
		}
	}
}

// brokenWriter fails as the operating system would.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestBrokenOutput(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code exitCode
		says string
	}{
		{"a reader that has gone ends it quietly", syscall.EPIPE, exitHeld, ""},
		{"a full disk is told", errors.New("no space left on device"), exitUsage, "chargeonce: the output is not complete: no space left on device\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, args := range [][]string{{"designs"}, {"designs", "-json"}, {"help"}, {"sim", "-runs", "100"}} {
				var stderr bytes.Buffer
				c := &console{program: "chargeonce", out: bufio.NewWriter(brokenWriter{tt.err}), err: &stderr}
				if code := run(context.Background(), c, args); code != tt.code || stderr.String() != tt.says {
					t.Errorf("%v: exit code %d, standard error %q; want %d, %q", args, code, stderr.String(), tt.code, tt.says)
				}
			}
		})
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	var said strings.Builder
	c := &console{err: &said}
	if code := c.refuse("sim", errors.Join(errors.New("one"), errors.New("two"))); code != exitUsage || said.String() != "chargeonce sim: one; two\n" {
		t.Errorf("exit code %d, %q", code, said.String())
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"sim", "sim", 0}, {"sim", "", 3}, {"", "sim", 3}, {"sin", "sim", 1}, {"desing", "design", 2}, {"kitten", "sitting", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
