package main

import (
	"context"
	"strings"
	"testing"
)

func TestCompareTable(t *testing.T) {
	args := []string{"compare", "-designs", "local-lock,timeout-means-failed", "-trials", "3", "-runs", "100"}
	r := call(t, "", args...)
	if r.code != exitHeld || r.errors != "" {
		t.Fatalf("exit code %d, %s", r.code, r.errors)
	}
	for line := range strings.Lines(r.out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"swarm", "uniform", "pct", "guided", "bytes", "local-lock", "timeout-means-failed", "best", "in all"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the table lacks %q:\n%s", want, r.out)
		}
	}
	if again := call(t, "", append(args, "-workers", "3")...); again != r {
		t.Errorf("with three workers:\n%s\nwithout:\n%s", again.out, r.out)
	}
}

func TestCompareJSON(t *testing.T) {
	r := call(t, "", "compare", "-strategies", "swarm,pct", "-designs", "local-lock,window-from-send", "-trials", "3", "-runs", "20", "-json")
	all := objects(t, r.out)
	if r.code != exitHeld || r.errors != "" || len(all) != 5 {
		t.Fatalf("exit code %d, %d lines, %s", r.code, len(all), r.errors)
	}
	for i, want := range []struct{ design, strategy string }{
		{"local-lock", "swarm"}, {"local-lock", "pct"}, {"window-from-send", "swarm"}, {"window-from-send", "pct"},
	} {
		o := all[i]
		found := want.design == "local-lock"
		if o["design"] != want.design || o["strategy"] != want.strategy || o["trials"] != 3.0 ||
			(o["median"] != nil) != found || (o["p95"] != nil) != found || (o["misses"] == 3.0) == found {
			t.Errorf("line %d: %v", i+1, o)
		}
	}
	end := all[4]
	if end["verdict"] != "held" || end["designs"] != 2.0 || end["best"] == nil || len(end["strategies"].([]any)) != 2 {
		t.Errorf("the last line is %v", end)
	}
}

// The strategies may stand after the flag, after "=", or alone; the flag
// alone means all of them.
func TestCompareStrategies(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-strategies", "swarm uniform pct guided bytes"},
		{"-strategies swarm,pct", "swarm pct"},
		{"-strategies=swarm,pct", "swarm pct"},
		{"swarm pct", "swarm pct"},
		{"-strategies=swarm pct", "swarm pct"},
	} {
		args := append([]string{"compare", "-designs", "local-lock", "-trials", "1", "-runs", "10"}, strings.Fields(tt.args)...)
		r := call(t, "", args...)
		header := strings.Fields(strings.Split(r.out, "\n")[3])
		if strings.Join(header, " ") != tt.want || r.code != exitHeld {
			t.Errorf("%s: exit code %d, %v, %s", tt.args, r.code, header, r.errors)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"-strategies luck":     `"luck"; the strategies are swarm`,
		"-strategies=swarm,":   "commas",
		"-strategies swarm, x": "commas",
		"-designs reference":   "not known to break",
		"-designs refrence":    "did you mean reference",
		"-trials 0":            "from 1",
		"-runs 0":              "from 1",
		"-runs 100000":         "to 99999",
		"-trial 5":             "did you mean -trials",
		"swarm sworm":          `"sworm"`,
	} {
		r := call(t, "", append([]string{"compare"}, strings.Fields(args)...)...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, want) {
			t.Errorf("%s: exit code %d, %q, want %q", args, r.code, r.errors, want)
		}
	}
}

func TestCompareFindsNothing(t *testing.T) {
	r := call(t, "", "compare", "-designs", "window-from-send", "-trials", "2", "-runs", "1", "-json")
	if o := last(t, r.out); r.code != exitVacuous || o["verdict"] != "vacuous" || o["best"] != nil {
		t.Errorf("exit code %d, %v", r.code, o)
	}
}

// What was compared before an interrupt is told, and no best is named.
func TestCompareInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := callWith(ctx, "", "compare", "-designs", "local-lock")
	if r.code != exitUndecided || !strings.Contains(r.out, "undecided: stopped after 0 of 1 designs") || strings.Contains(r.out, "best") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
	r = callWith(ctx, "", "compare", "-designs", "local-lock", "-json")
	if o := last(t, r.out); r.code != exitUndecided || o["verdict"] != "undecided" || o["designs"] != 0.0 {
		t.Errorf("exit code %d, %v", r.code, o)
	}
}
