package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability"
	"github.com/chargeonce/chargeonce/model/history"
)

// What sim records, check judges alike.
func TestCheckAgreesWithSim(t *testing.T) {
	for _, d := range designs.All() {
		t.Run(d.Name, func(t *testing.T) {
			inNewDirectory(t)
			ran := call(t, "", "sim", "-json", "-design", d.Name, "-runs", "200", "-history", "run.jsonl")
			simulated := last(t, ran.out)
			r := call(t, "", "check", "-json", "run.jsonl")
			checked := last(t, r.out)
			if r.code != ran.code || checked["verdict"] != simulated["verdict"] {
				t.Errorf("sim: exit code %d, %v; check: exit code %d, %v", ran.code, simulated, r.code, checked)
			}
			told := func(o map[string]any) bool {
				return o["invariant"] == simulated["invariant"] && o["sentence"] == simulated["sentence"]
			}
			if !slices.ContainsFunc(objects(t, r.out), told) {
				t.Errorf("sim says of %v: %v; check says\n%s", simulated["invariant"], simulated["sentence"], r.out)
			}
			text := call(t, "", "check", "run.jsonl")
			if text.code != r.code || !strings.Contains(text.out, "\nverdict     "+checked["verdict"].(string)) && !strings.HasPrefix(text.out, "verdict") {
				t.Errorf("as text: exit code %d\n%s", text.code, text.out)
			}
		})
	}
}

// recorded is a history that holds, of a scenario without faults.
func recorded(t *testing.T, scenario string) string {
	t.Helper()
	inNewDirectory(t)
	r := call(t, "", "sim", "-json", "-runs", "1", "-faults", "none", "-profile", "keyed", "-scenario", scenario, "-history", "run.jsonl")
	if r.code != exitHeld {
		t.Fatalf("exit code %d, %s", r.code, r.errors)
	}
	return read(t, "run.jsonl")
}

// A history in which one member of one line is another cannot be true.
func TestCheckFindsAlteredLines(t *testing.T) {
	lines := strings.SplitAfter(recorded(t, "retry-after-retention"), "\n")
	altered := map[string]int{}
	for i := 1; i < len(lines)-1; i++ {
		var members map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &members); err != nil {
			t.Fatal(err)
		}
		for name, alter := range map[string]func(any) any{
			"status": func(any) any { return 502 },
			"charge": func(v any) any { return v.(string) + "0" },
			"amount": func(v any) any { return v.(float64) + 1 },
			"key":    func(v any) any { return v.(string) + "0" },
		} {
			value, there := members[name]
			if !there {
				continue
			}
			members[name] = alter(value)
			line, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			members[name] = value
			text := strings.Join(lines[:i], "") + string(line) + "\n" + strings.Join(lines[i+1:], "")
			r := call(t, text, "check", "-json", "-")
			o := last(t, r.out)
			if r.code != exitSafety || o["verdict"] != "violated" || o["invariant"] == nil || o["line"] == nil {
				t.Errorf("line %d with another %s: exit code %d, %v", i+1, name, r.code, o)
			}
			altered[name]++
		}
	}
	if len(altered) != 4 {
		t.Errorf("only these were altered: %v", altered)
	}
}

// encode writes a history.
func encode(t *testing.T, h history.Header, events []history.Event) string {
	t.Helper()
	var b bytes.Buffer
	w, err := history.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	const scope = "4:acme POST /payments"
	call1 := history.Event{Kind: history.KindCall, At: 1, Process: "client-1", Operation: "order-1", Attempt: 1, Scope: scope, Key: "k1", Fingerprint: "f1", Amount: 1200, Currency: "EUR"}
	charge := history.Event{Kind: history.KindCharge, At: 2, Process: "provider", Operation: "order-1", Amount: 1200, Currency: "EUR", Charge: "ch_1"}
	paid := history.Event{Kind: history.KindReturn, At: 3, Process: "client-1", Operation: "order-1", Attempt: 1, Amount: 1200, Currency: "EUR", Outcome: history.OutcomePaid, Status: 201, Body: 7, Charge: "ch_1"}
	end := history.Event{Kind: history.KindEnd, At: 9}
	second := charge
	second.At, second.Charge = 4, "ch_2"
	early := paid
	early.At = 2
	other := call1
	other.Operation, other.Key, other.At = "order-2", "k2", 3
	moved := paid
	moved.Operation, moved.Status = "order-2", 402
	giveUp := history.Event{Kind: history.KindGiveUp, At: 5, Process: "client-1", Operation: "order-1"}
	unanswered := history.Event{Kind: history.KindUnanswered, At: 3, Process: "client-1", Operation: "order-1", Attempt: 1}
	heal := history.Event{Kind: history.KindHeal, At: 4}
	for _, tt := range []struct {
		name    string
		events  []history.Event
		code    exitCode
		breaks  []string // the first is the one that is told
		line    int
		members map[string]any
	}{
		{"paid once", []history.Event{call1, charge, paid, end}, exitHeld, nil, 0, map[string]any{"verdict": "held", "operations": 1.0, "events": 4.0}},
		{"charged twice", []history.Event{call1, charge, paid, second, end}, exitSafety, []string{"SingleCharge", "Linearizable"}, 5, map[string]any{"operation": "order-1"}},
		{"paid before it was charged", []history.Event{call1, early, charge, end}, exitSafety, []string{"TruthfulReply", "Linearizable"}, 3, nil},
		{"an outcome that does not fit its status", []history.Event{call1, charge, other, moved, end}, exitSafety, []string{"TruthfulReply"}, 5, map[string]any{"operation": "order-2"}},
		{"given up", []history.Event{call1, unanswered, heal, giveUp, end}, exitLiveness, []string{"Resolves"}, 0, nil},
		{"nothing", nil, exitVacuous, nil, 0, map[string]any{"verdict": "vacuous", "operations": 0.0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := encode(t, history.Header{}, tt.events)
			r := call(t, text, "check", "-json", "-")
			all := objects(t, r.out)
			o := all[len(all)-1]
			if r.code != tt.code || r.errors != "" {
				t.Errorf("exit code %d, want %d; standard error %q", r.code, tt.code, r.errors)
			}
			var breaks []string
			for _, b := range all[:len(all)-1] {
				breaks = append(breaks, b["invariant"].(string))
				if tt.line > 0 && b["line"] != float64(tt.line) {
					t.Errorf("%v at line %v, want %d", b["invariant"], b["line"], tt.line)
				}
			}
			for _, want := range tt.breaks {
				if !slices.Contains(breaks, want) {
					t.Errorf("%s is not told: %v", want, all)
				}
			}
			switch {
			case tt.breaks == nil && breaks != nil:
				t.Errorf("%v fell", breaks)
			case tt.breaks != nil && (breaks == nil || breaks[0] != tt.breaks[0] || o["invariant"] != tt.breaks[0]):
				t.Errorf("%v fell, and %v is told; want %s", breaks, o["invariant"], tt.breaks[0])
			}
			if tt.line > 0 && o["line"] != float64(tt.line) {
				t.Errorf("the last line says line %v, want %d", o["line"], tt.line)
			}
			for name, want := range tt.members {
				if o[name] != want {
					t.Errorf("%s is %v, want %v", name, o[name], want)
				}
			}
			text = call(t, text, "check", "-").out
			for _, want := range append(tt.breaks, "verdict     "+o["verdict"].(string)) {
				if !strings.Contains(text, want) {
					t.Errorf("the text does not say %q:\n%s", want, text)
				}
			}
		})
	}
}

// Where the search for the place was cut off, no line is told.
func TestUnexplainedWithoutPlace(t *testing.T) {
	f := linearizability.Finding{Verdict: linearizability.Violated, Orders: []string{"order-1"}, Event: -1}
	if b := unexplained(f); b != (breach{"Linearizable", "order-1", 0, "no order of what happened explains it"}) {
		t.Errorf("%+v", b)
	}
}

// A search that is cut off is no pass.
func TestCheckUndecided(t *testing.T) {
	const scope = "4:acme POST /payments"
	var events []history.Event
	for i := 1; i <= 14; i++ {
		events = append(events, history.Event{
			Kind: history.KindCall, At: 1, Process: fmt.Sprint("client-", i), Operation: "order-1", Attempt: 1, Scope: scope,
			Key: "k1", Fingerprint: fmt.Sprint("f", i), Amount: int64(i), Currency: "EUR",
		})
	}
	for i := 1; i <= 14; i++ {
		outcome, status := history.OutcomeMismatch, 422
		events = append(events, history.Event{
			Kind: history.KindReturn, At: 2, Process: fmt.Sprint("client-", i), Operation: "order-1", Attempt: 1, Outcome: outcome, Status: status,
		})
	}
	r := call(t, encode(t, history.Header{}, events), "check", "-json", "-budget", "1ns", "-")
	if o := last(t, r.out); r.code != exitUndecided || o["verdict"] != "undecided" || o["reason"] == nil {
		t.Errorf("exit code %d, %v", r.code, o)
	}
}
