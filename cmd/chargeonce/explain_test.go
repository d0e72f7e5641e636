package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const crashedSaver = `chargeonce plan v1
design charge-then-save
scenario one-payment
profile keyed
weather 0
crash server-1 after charge of client-1/order-1/try-1
expect SingleCharge
`

func TestExplain(t *testing.T) {
	directory := here(t)
	r := call(t, crashedSaver, "explain", "-")
	if r.code != exitSafety || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	head, repairs, found := strings.Cut(r.out, "\nAny one of these put right in the design")
	if !found || !strings.Contains(repairs, "\n  handler  ") || !strings.Contains(repairs, "\nOther designs that the very same plan does not break:\n") || !strings.Contains(r.out, "\n  reference  ") {
		t.Errorf("it does not say what would have helped:\n%s", r.out)
	}
	golden(t, directory, "explain.txt", head)
	for line := range strings.Lines(r.out) {
		if n := len([]rune(line)) - 1; n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The chain has both charges, the write and the request behind each, and
// nothing of what the client heard in between.
func TestExplainJSON(t *testing.T) {
	r := call(t, crashedSaver, "explain", "-json", "-")
	o := last(t, r.out)
	if r.code != exitSafety || o["verdict"] != "violated" || o["invariant"] != "SingleCharge" || o["plan"] != crashedSaver {
		t.Errorf("exit code %d, %v", r.code, o)
	}
	var chain []string
	for _, line := range o["chain"].([]any) {
		chain = append(chain, line.(string))
	}
	text := strings.Join(chain, "\n")
	for _, want := range []string{
		"sends request of client-1/order-1/try-1 to server-1", "sends claim of client-1/order-1/try-1 to registry",
		"order-1 is claimed, version 1, by server-1/1", "crash server-1 after charge of client-1/order-1/try-1",
		"provider: ch_1: 12.00 EUR captured", "sends take-over of", "order-1 is claimed, version 2", "provider: ch_2: 12.00 EUR captured",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("the chain has not once %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "hears") || len(chain) > 20 {
		t.Errorf("the chain is of %d lines:\n%s", len(chain), text)
	}
	parts := o["deviations"].([]any)
	part := parts[0].(map[string]any)
	if len(parts) != 1 || part["verdict"] != "held" || part["sentence"] != "without it all invariants hold" ||
		part["with"] != "server-1 dies" || part["at_ns"] != part["without_at_ns"] || !strings.Contains(part["without"].(string), "complete of client-1/order-1/try-1") {
		t.Errorf("%v", parts)
	}
	first := o["fixes"].([]any)[0].(map[string]any)
	if first["design"] != "reference" || first["applied"] != 1.0 {
		t.Errorf("%v", first)
	}
	for _, f := range o["fixes"].([]any) {
		if f := f.(map[string]any); f["design"] == "charge-then-save" || f["applied"] == 0.0 {
			t.Errorf("%v", f)
		}
	}
}

// Of a design that is the reference with one decision taken otherwise it says
// which, and the rule; of one whose deployment breaks an assumption, that.
func TestExplainRepairs(t *testing.T) {
	plans := filepath.Join(here(t), "..", "..", "impl", "designs", "testdata", "plans")
	for design, want := range map[string]string{
		"retry-past-window":     "\nThis put right in the design, the very same plan holds:\n\n  can-send                  the window runs from the claim,",
		"settles-while-sending": "\nThis put right in the design, the very same plan holds:\n\n  dead                      a send is dead when lease,",
		"short-retention":       "\nThis put right in the design, the very same plan holds:\n\n  configuration             the configuration of reference\n",
		"async-failover":        "\nNothing put right in the design makes the plan hold: what is wrong is its deployment, which does\nnot keep A3.\n",
		"outbox-without-dedupe": "\nNo one thing put right in the design makes the plan hold.\n",
	} {
		r := call(t, "", "explain", filepath.Join(plans, design+".plan"))
		if r.code != exitSafety || !strings.Contains(r.out, want) {
			t.Errorf("%s: exit code %d:\n%s", design, r.code, r.out)
		}
	}
	o := last(t, call(t, "", "explain", "-json", filepath.Join(plans, "window-moved.plan")).out)
	first := o["repairs"].([]any)[0].(map[string]any)
	if first["what"] != "mark" || first["rule"] == "" || first["applied"].(float64) == 0 {
		t.Errorf("%v", o["repairs"])
	}
}

// Each fault of a plan with two is needed; one that does nothing is told.
func TestExplainParts(t *testing.T) {
	idle := strings.Replace(crashedSaver, "crash", "drop registry→server-2 claim of client-1/order-1/try-1\ncrash", 1)
	r := call(t, idle, "explain", "-")
	if r.code != exitSafety || !strings.Contains(r.out, "falls all the same; it changes nothing.") || !strings.Contains(r.out, "Without it all invariants hold") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
	skewed := strings.Replace(crashedSaver, "crash", "skew server-1 fast\ncrash", 1)
	if r := call(t, skewed, "explain", "-"); r.code != exitSafety || !strings.Contains(r.out, "The runs part at 10ms: registry decides on claim of client-1/order-1/try-1, with other\n     content.") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
	benign := "chargeonce plan v1\ndesign reference\nscenario one-payment\n"
	if r := call(t, benign, "explain", "-"); r.code != exitHeld || !strings.Contains(r.out, "The plan has none") || strings.Contains(r.out, "»") {
		t.Errorf("exit code %d:\n%s", r.code, r.out)
	}
	if r := call(t, "", "explain"); r.code != exitUsage || !strings.Contains(r.errors, "PLANFILE") {
		t.Errorf("%+v", r)
	}
	if r := call(t, "hello", "explain", "-"); r.code != exitUsage || !strings.Contains(r.errors, "line 1") {
		t.Errorf("%+v", r)
	}
}
