package main

import (
	"strings"
	"testing"
)

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 1: "100 %", 0.95: "95 %", 0.0876: "8.8 %", 0.00014978: "0.015 %", 3e-9: "3e-07 %"} {
		if got := percent(share); got != want {
			t.Errorf("%v is shown as %q, want %q", share, got, want)
		}
	}
}

// A campaign that held says what it leaves open, unless its runs were not
// independent or it found something.
func TestSimTellsTheResidualRisk(t *testing.T) {
	inNewDirectory(t)
	for _, tt := range []struct {
		args string
		told bool
	}{
		{"sim -runs 300", true},
		{"sim -runs 300 -strategy uniform", true},
		{"sim -runs 300 -strategy guided", false},
		{"sim -runs 3000 -design charge-then-save -plan=", false},
	} {
		text := call(t, "", strings.Fields(tt.args)...)
		if got := strings.Contains(text.out, "\nresidual    with 95 % confidence fewer than 0.99 % of runs"); got != tt.told {
			t.Errorf("%s: told %v, want %v:\n%s", tt.args, got, tt.told, text.out)
		}
		o := last(t, call(t, "", strings.Fields(tt.args+" -json")...).out)
		r, got := o["residual"].(map[string]any)
		if got != tt.told || got && (r["violation_rate_below"].(float64) > 0.01 || r["confidence"] != 0.95 || r["sets"].(float64) < 10) {
			t.Errorf("%s -json: %v", tt.args, r)
		}
	}
	if help := oneLine(call(t, "", "help", "sim").out); !strings.Contains(help, "the rule of three") {
		t.Error("the help does not explain the residual line")
	}
}

func TestSimTakesAStrategy(t *testing.T) {
	o := last(t, call(t, "", "sim", "-runs", "50", "-strategy", "pct", "-json").out)
	if o["strategy"] != "pct" || o["verdict"] != "held" {
		t.Errorf("%v", o)
	}
	if r := call(t, "", "sim", "-strategy", "luck"); r.code != exitUsage || !strings.Contains(r.errors, "the strategies are swarm") {
		t.Errorf("exit code %d, %s", r.code, r.errors)
	}
}
