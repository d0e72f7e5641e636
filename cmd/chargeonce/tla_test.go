package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/tla"
)

func TestTLARefuses(t *testing.T) {
	t.Setenv(tla.JarVariable, filepath.Join(t.TempDir(), "nowhere.jar"))
	for args, want := range map[string]string{
		"-cfg keyd":           "did you mean keyed",
		"-cfg keyed,all":      `no cfg "all"`,
		"-cfg keyed,":         "commas",
		"keyed":               "too much",
		"-cfg window-live":    "cannot run TLC",
		"":                    "cannot run TLC",
		"-json -cfg no-fence": "cannot run TLC",
	} {
		r := call(t, "", append([]string{"tla"}, strings.Fields(args)...)...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, want) {
			t.Errorf("%q: exit code %d, %q, %q, want %q", args, r.code, r.out, r.errors, want)
		}
	}
}

// It says how to get what is missing.
func TestTLAWithoutTools(t *testing.T) {
	t.Setenv(tla.JarVariable, filepath.Join(t.TempDir(), "nowhere.jar"))
	t.Setenv("PATH", t.TempDir())
	if r := call(t, "", "tla"); r.code != exitUsage || !strings.Contains(r.errors, "install a JDK") {
		t.Errorf("exit code %d, %q", r.code, r.errors)
	}
	write(t, filepath.Join(os.Getenv("PATH"), "java"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(os.Getenv("PATH"), "java"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := call(t, "", "tla"); r.code != exitUsage || !strings.Contains(r.errors, "nowhere.jar") || !strings.Contains(r.errors, "mvn -q dependency:get") || !strings.Contains(r.errors, tla.JarVariable) {
		t.Errorf("exit code %d, %q", r.code, r.errors)
	}
}

// TLC itself, wherever it is asked from.
func TestTLA(t *testing.T) {
	if _, err := tla.FindTools(); errors.Is(err, tla.ErrNoTools) && os.Getenv("CHARGEONCE_REQUIRE_TLC") != "1" {
		t.Skipf("%v (CHARGEONCE_REQUIRE_TLC=1 makes this a failure)", err)
	}
	inNewDirectory(t)
	r := call(t, "", "tla", "-json", "-cfg", "window-live,no-mark,window-live-take-over-first")
	all := objects(t, r.out)
	if r.code != exitHeld || r.errors != "" || len(all) != 4 || len(files(t)) != 0 {
		t.Fatalf("exit code %d, %d lines, files %v, %s%s", r.code, len(all), files(t), r.out, r.errors)
	}
	for i, want := range []string{"window-live holds, 433 distinct of 821 generated states, depth 20", "no-mark SentJournaled falls, 3 states", "window-live-take-over-first Resolves falls, a liveness property"} {
		if got := fmt.Sprint(all[i]["cfg"], " ", all[i]["got"]); got != want || all[i]["ok"] != true || all[i]["expected"] != all[i]["got"] {
			t.Errorf("%v, want %q", all[i], want)
		}
	}
	if all[0]["distinct"] != 433.0 || all[0]["generated"] != 821.0 {
		t.Errorf("%v", all[0])
	}
	if o := all[3]; o["verdict"] != "held" || o["same"] != 3.0 || o["of"] != 3.0 {
		t.Errorf("%v", o)
	}
}

// asked runs the verb on two cfg files with answers that TLC could give.
func asked(t *testing.T, a *audit, answers map[string]tla.Report, err error) result {
	t.Helper()
	if err := a.choose(names{"keyed", "no-fence"}); err != nil {
		t.Fatal(err)
	}
	var out, errors bytes.Buffer
	k := &console{program: "chargeonce", out: bufio.NewWriter(&out), err: &errors}
	code := a.run(context.Background(), k, func(_ context.Context, j tla.Job) (tla.Report, error) {
		r, ok := answers[j.Config]
		if !ok {
			return r, err
		}
		return r, nil
	})
	_ = k.out.Flush()
	return result{code, out.String(), errors.String()}
}

func TestTLACompares(t *testing.T) {
	e := manifestEntry(t, "keyed")
	right := tla.Report{Outcome: tla.Holds, Distinct: e.Distinct, Generated: e.Generated, Depth: e.Depth}
	falls := tla.Report{Outcome: tla.StepBreaks, Property: "TerminalIsFinal", Trace: make([]tla.TraceState, 9)}
	off := right
	off.Generated++
	noVerdict := errors.New("TLC ended with 1 and no verdict:\nout of memory")
	for _, tt := range []struct {
		name         string
		keyed, fence *tla.Report
		code         exitCode
		wants        []string
	}{
		{"all the same", &right, &falls, exitHeld, []string{"same       keyed ", "same       no-fence", "2 of 2", "verdict     held\n"}},
		{"one counts otherwise", &off, &falls, exitSafety, []string{"differs    keyed ", fmt.Sprint(off.Generated), "expected", fmt.Sprint(right.Generated), "1 of 2", "violated: TLC says something else of keyed\n"}},
		{"what must fall holds", &right, &right, exitSafety, []string{"differs    no-fence", "TerminalIsFinal falls by a step, 9 states", "else of no-fence\n"}},
		{"one came to no verdict", nil, &falls, exitUndecided, []string{"undecided  keyed ", "same       no-fence", "undecided: keyed: TLC ended with 1 and no verdict: out of memory\n"}},
		{"a difference is told before a doubt", nil, &right, exitSafety, []string{"undecided  keyed ", "else of no-fence\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := make(map[string]tla.Report)
			for name, r := range map[string]*tla.Report{"cfg/keyed.cfg": tt.keyed, "cfg/no-fence.cfg": tt.fence} {
				if r != nil {
					answers[name] = *r
				}
			}
			r := asked(t, &audit{}, answers, noVerdict)
			if r.code != tt.code {
				t.Errorf("exit code %d, want %d", r.code, tt.code)
			}
			for _, want := range tt.wants {
				if !strings.Contains(r.out, want) {
					t.Errorf("it does not say %q:\n%s", want, r.out)
				}
			}
			all := objects(t, asked(t, &audit{json: true}, answers, noVerdict).out)
			for _, o := range all[:2] {
				if o["ok"] != (o["expected"] == o["got"]) {
					t.Errorf("%v", o)
				}
			}
			if len(all) != 3 || (all[2]["verdict"] == "held") != (tt.code == exitHeld) {
				t.Errorf("%v", all)
			}
		})
	}
}

func TestTLAInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a := &audit{json: true}
	if err := a.choose(nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	k := &console{program: "chargeonce", out: bufio.NewWriter(&out), err: &out}
	code := a.run(ctx, k, func(ctx context.Context, _ tla.Job) (tla.Report, error) {
		cancel()
		<-ctx.Done()
		return tla.Report{}, ctx.Err()
	})
	_ = k.out.Flush()
	all := objects(t, out.String())
	if o := all[0]; code != exitUndecided || len(all) != 1 || o["verdict"] != "undecided" || o["reason"] != fmt.Sprintf("stopped after 0 of %d", len(a.entries)) {
		t.Errorf("exit code %d, %v", code, all)
	}
	for _, e := range a.entries {
		if e.Class != tla.ClassCI {
			t.Errorf("%s is of class %s", e.Config, e.Class)
		}
	}
}
