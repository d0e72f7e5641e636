package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/sim/search"
	"github.com/chargeonce/chargeonce/tla"
)

// raced runs a race on a small world with what TLC could say of it.
func raced(t *testing.T, ctx context.Context, json bool, said tla.Report, err error) result {
	t.Helper()
	o := &exploreOptions{config: "unstored", json: json}
	o.workers.n = 2
	r, problem := newRace(o)
	if problem != nil {
		t.Fatal(problem)
	}
	var out, complaints bytes.Buffer
	k := &console{program: "chargeonce", out: bufio.NewWriter(&out), err: &complaints}
	code, problem := r.run(ctx, k, func(_ context.Context, j tla.Job) (tla.Report, error) {
		if j.Config != "cfg/unstored.cfg" || !j.Racing || j.Workers != 2 {
			t.Errorf("TLC is asked %+v", j)
		}
		return said, err
	})
	if problem != nil {
		t.Fatal(problem)
	}
	_ = k.out.Flush()
	return result{code, out.String(), complaints.String()}
}

func TestExploreVersusTLC(t *testing.T) {
	m, err := tla.ReadManifest(tla.Files)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := m.Entry("unstored")
	right := tla.Report{Outcome: tla.Holds, Distinct: e.Distinct, Generated: e.Generated, Depth: e.Depth, Searched: time.Duration(e.Distinct) * time.Millisecond}
	other, falls := right, tla.Report{Outcome: tla.Invariant, Property: "SingleCharge"}
	other.Generated++
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		said  tla.Report
		err   error
		code  exitCode
		wants []string
	}{
		{"the same", context.Background(), right, nil, exitHeld, []string{"2 workers", "1,000 a second, ", "times TLC's", "held: both"}},
		{"other counts", context.Background(), other, nil, exitSafety, []string{"violated: unstored: the explorer counts", fmt.Sprint(other.Generated)}},
		{"TLC finds something", context.Background(), falls, nil, exitSafety, []string{"TLC says that SingleCharge falls"}},
		{"TLC comes to no verdict", context.Background(), tla.Report{}, errors.New("out of\nmemory"), exitUndecided, []string{"undecided: unstored: out of memory"}},
		{"stopped", stopped, right, nil, exitUndecided, []string{"undecided: stopped after 0 of 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := raced(t, tt.ctx, false, tt.said, tt.err)
			if r.code != tt.code || r.errors != "" {
				t.Errorf("exit code %d, want %d; %q", r.code, tt.code, r.errors)
			}
			for _, want := range tt.wants {
				if !strings.Contains(r.out, want) {
					t.Errorf("it does not say %q:\n%s", want, r.out)
				}
			}
			o := last(t, raced(t, tt.ctx, true, tt.said, tt.err).out)
			if (o["verdict"] == string(search.Held)) != (tt.code == exitHeld) || o["workers"] != 2.0 {
				t.Errorf("%v", o)
			}
			if tt.code != exitHeld {
				return
			}
			world := o["worlds"].([]any)[0].(map[string]any)
			theirs, ours := world["tlc"].(map[string]any), world["explorer"].(map[string]any)
			if world["distinct"] != float64(e.Distinct) || theirs["states_per_second"] != 1000.0 || ours["seconds"].(float64) <= 0 || world["ratio"].(float64) <= 0 {
				t.Errorf("%v", world)
			}
		})
	}
}

func TestExploreVersusTLCRefuses(t *testing.T) {
	t.Setenv(tla.JarVariable, filepath.Join(t.TempDir(), "nowhere.jar"))
	for args, want := range map[string]string{
		"":                        "cannot run TLC",
		"-json -config keyless":   "cannot run TLC",
		"-config keyed,keyd":      "did you mean keyed",
		"-config keyed,":          "commas",
		"-defect NoGuard":         "leave -defect, ",
		"-invariant SingleCharge": "leave -defect, ",
		"-sequential":             "leave -defect, ",
		"-symmetry":               "leave -defect, ",
	} {
		r := call(t, "", append([]string{"explore", "-versus-tlc"}, strings.Fields(args)...)...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, want) {
			t.Errorf("%q: exit code %d, %q, %q, want %q", args, r.code, r.out, r.errors, want)
		}
	}
}
