package main

import (
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

func TestLists(t *testing.T) {
	for _, tt := range []struct {
		verb    string
		n       int
		members string // all that each line has
		first   map[string]any
	}{
		{"designs", len(designs.All()), "name doc expect source detail profiles scenarios model", map[string]any{"name": designs.All()[0].Name}},
		{"scenarios", len(sim.Scenarios), "name doc servers clients orders", map[string]any{"name": "one-payment", "servers": 2.0, "clients": 1.0, "orders": 1.0}},
		{"profiles", len(provider.Profiles), "name doc keys stores_declines lookup window_ns stores_failures refunds_once refund_keys", map[string]any{"name": "keyed", "keys": true}},
		{"faults", int(plan.ClassCount) - 1, "name doc breaks", map[string]any{"name": "drop", "breaks": ""}},
		{"invariants", len(invariant.All()), "name kind doc", map[string]any{"name": "SingleCharge", "kind": "safety"}},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			text, lines := call(t, "", tt.verb), call(t, "", tt.verb, "-json")
			if text.code != exitHeld || lines.code != exitHeld || text.errors+lines.errors != "" {
				t.Fatalf("exit codes %d and %d, %q", text.code, lines.code, text.errors+lines.errors)
			}
			all := objects(t, lines.out)
			if len(all) != tt.n {
				t.Errorf("%d lines, want %d", len(all), tt.n)
			}
			for name, want := range tt.first {
				if all[0][name] != want {
					t.Errorf("the first line's %s is %v, want %v", name, all[0][name], want)
				}
			}
			for _, o := range all {
				for _, name := range strings.Fields(tt.members) {
					if _, there := o[name]; !there {
						t.Errorf("%v has no %s", o["name"], name)
					}
				}
				doc := o["doc"].(string)
				if doc == "" || strings.Contains(doc, "\n") || !strings.Contains(text.out, o["name"].(string)) || !strings.Contains(text.out, doc) {
					t.Errorf("%v: the text and its doc %q disagree", o["name"], doc)
				}
			}
		})
	}
}

func TestDesignsByName(t *testing.T) {
	r := call(t, "", "designs", saver)
	for _, want := range []string{saver, "SingleCharge", "akash-network/console#3449", "It believes that"} {
		if r.code != exitHeld || !strings.Contains(r.out, want) {
			t.Errorf("exit code %d, %q is not told:\n%s", r.code, want, r.out)
		}
	}
	if all := objects(t, call(t, "", "designs", "-json", saver, "reference").out); len(all) != 2 || all[1]["expect"] != held {
		t.Errorf("%v", all)
	}
}
