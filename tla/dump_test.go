package tla

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/compensate"
	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/protocol"
	"github.com/chargeonce/chargeonce/model/retention"
	"github.com/chargeonce/chargeonce/model/window"
)

// statesInTLA returns, by module, the states of its twin as text in TLA+; the
// smallest cfg is compared always.
var statesInTLA = map[string]struct {
	smallest string
	all      func(*testing.T, Config) map[string]bool
}{
	"ChargeOnce": {"keyless-no-lookup", func(t *testing.T, c Config) map[string]bool { return reachable(t, &chargeOnce, c, chargeOnceInTLA) }},
	"Window":     {"window-no-lookup", func(t *testing.T, c Config) map[string]bool { return reachable(t, &windowParts, c, windowInTLA) }},
	"Retention":  {"retention-reuse", func(t *testing.T, c Config) map[string]bool { return reachable(t, &retentionParts, c, retentionInTLA) }},
	"Compensate": {"compensate", func(t *testing.T, c Config) map[string]bool {
		return reachable(t, &compensateParts, c, compensateInTLA)
	}},
}

// TestStatesAreTheSame compares the states themselves and not only their
// number: everything that TLC reaches with everything that the Go model
// reaches, both as text in TLA+.
func TestStatesAreTheSame(t *testing.T) {
	tlc := tools(t)
	for _, e := range readManifest(t).Specifications {
		states := statesInTLA[e.Module]
		if states.all == nil || e.Kind != KindProtocol || e.Class != ClassCI {
			continue
		}
		t.Run(e.Config, func(t *testing.T) {
			if e.Config != states.smallest && os.Getenv(nightlyVariable) != "1" {
				t.Skipf("nightly (%s=1 runs it); %s is compared always", nightlyVariable, states.smallest)
			}
			if testing.Short() {
				t.Skip("-short: no run of TLC that writes all states")
			}
			dump := filepath.Join(t.TempDir(), "states.dump")
			if _, err := tlc.Run(context.Background(), Job{Dir: ".", Module: e.Module, Config: e.ConfigFile(), Dump: dump}); err != nil {
				t.Fatal(err)
			}
			theirs := readDump(t, dump)
			ours := states.all(t, readConfig(t, e))
			if len(theirs) != e.Distinct {
				t.Errorf("TLC wrote %d states and counted %d", len(theirs), e.Distinct)
			}
			compareStates(t, ours, theirs)
		})
	}
}

func compareStates(t *testing.T, ours, theirs map[string]bool) {
	t.Helper()
	const enough = 3
	report := func(what string, these, those map[string]bool) {
		var only []string
		for s := range these {
			if !those[s] {
				only = append(only, s)
			}
		}
		slices.Sort(only)
		for _, s := range only[:min(enough, len(only))] {
			t.Errorf("only in %s (%d such): %s", what, len(only), s)
		}
	}
	report("the Go model", ours, theirs)
	report("TLC's", theirs, ours)
}

// readDump reads the file of TLC's -dump: states with a header each and an
// empty line between them.
func readDump(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	states := make(map[string]bool)
	var lines []string
	finish := func() {
		if len(lines) == 0 {
			return
		}
		s, err := canonicalState(strings.Join(lines, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		states[s] = true
		lines = nil
	}
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		switch line := scanner.Text(); {
		case strings.HasPrefix(line, "State "), line == "":
			finish()
		default:
			lines = append(lines, line)
		}
	}
	finish()
	return states
}

// reachable returns the Go model's states as TLA+.
func reachable[C any, S comparable](t *testing.T, p *parts[C, S], c Config, inTLA func(*C, S) string) map[string]bool {
	t.Helper()
	w, err := p.world(c)
	if err != nil {
		t.Fatal(err)
	}
	m := w.model()
	seen := make(map[S]bool)
	texts := make(map[string]bool)
	var steps []explore.Step[S]
	for queue := m.Initial(); len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		text, err := canonicalState(inTLA(w.config, queue[0]))
		if err != nil {
			t.Fatal(err)
		}
		texts[text] = true
		steps = m.Next(steps[:0], queue[0])
		for _, s := range steps {
			queue = append(queue, s.Next)
		}
	}
	if len(texts) != len(seen) {
		t.Errorf("%d states of the Go model are %d states of TLA+", len(seen), len(texts))
	}
	return texts
}

// chargeOnceInTLA writes a state of the Go model as TLC would.
func chargeOnceInTLA(cfg *protocol.Config, s protocol.State) string {
	var lines []string
	for _, v := range stateInTLA(cfg, s) {
		lines = append(lines, "/\\ "+v.name+" = "+v.value)
	}
	return strings.Join(lines, "\n")
}

// windowInTLA writes a state of the Go model as TLC would.
func windowInTLA(cfg *window.Config, s window.State) string {
	var runs, msgs []string
	for h := 1; h <= cfg.Runs; h++ {
		r := s.Run(window.Slot(h))
		runs = append(runs, fmt.Sprintf("[pc |-> %q, until |-> %d, at |-> %d, can |-> %s, dead |-> %s, found |-> %s, first |-> %s, fresh |-> %s]",
			r.At, r.Until, r.Read, booleanInTLA(r.Can), booleanInTLA(r.Dead), booleanInTLA(r.Found), booleanInTLA(r.First), booleanInTLA(r.Fresh)))
	}
	for _, m := range s.Messages() {
		msgs = append(msgs, fmt.Sprintf("[by |-> %d, waits |-> %s, life |-> %d]", m.By, booleanInTLA(m.Waits), m.Life))
	}
	return strings.Join([]string{
		fmt.Sprintf("/\\ rec = [state |-> %q, from |-> %d, until |-> %d]", s.Record.State, s.Record.From, s.Record.Until),
		"/\\ run = " + sequenceInTLA(runs),
		"/\\ msgs = " + setInTLA(msgs),
		fmt.Sprintf("/\\ age = %d", s.Age),
		fmt.Sprintf("/\\ charges = %d", s.Charges),
	}, "\n")
}

// compensateInTLA writes a state of the Go model as TLC would.
func compensateInTLA(cfg *compensate.Config, s compensate.State) string {
	answer := func(a compensate.Answer) string {
		return fmt.Sprintf("[says |-> %q, charge |-> %d]", a.Says, a.Charge)
	}
	var runs, late, ledger, told []string
	for h := 1; h <= cfg.Handlers+cfg.Reconcilers; h++ {
		r := s.Run(compensate.Slot(h))
		var todo []string
		for _, charge := range r.Todo.Charges() {
			todo = append(todo, fmt.Sprint(charge))
		}
		runs = append(runs, fmt.Sprintf("[pc |-> %q, step |-> %q, ans |-> %s, alone |-> %s, fresh |-> %s, todo |-> %s]",
			r.At, r.Step, answer(r.Answer), booleanInTLA(r.Alone), booleanInTLA(r.Fresh), setInTLA(todo)))
	}
	for _, w := range s.Late() {
		late = append(late, fmt.Sprintf("[step |-> %q, owner |-> %d, reply |-> %s]", w.Step, w.Owner, answer(w.Reply)))
	}
	for i := uint8(1); i <= s.Made; i++ {
		ledger = append(ledger, fmt.Sprintf("[refunds |-> %d, loose |-> %d]", s.Charge(i).Refunds, s.Charge(i).Loose))
	}
	for _, a := range s.Told() {
		told = append(told, answer(a))
	}
	r := s.Record
	return strings.Join([]string{
		fmt.Sprintf("/\\ rec = [state |-> %q, owner |-> %d, lease |-> %q, window |-> %q, eager |-> %s, reply |-> %s]",
			r.State, r.Owner, r.Lease, r.Window, booleanInTLA(r.Eager), answer(r.Reply)),
		fmt.Sprintf("/\\ audit = [state |-> %q, lease |-> %q]", s.Audit.State, s.Audit.Lease),
		"/\\ late = " + setInTLA(late),
		"/\\ run = " + sequenceInTLA(runs),
		fmt.Sprintf("/\\ stray = %d", s.Stray),
		"/\\ ledger = " + sequenceInTLA(ledger),
		"/\\ told = " + setInTLA(told),
		fmt.Sprintf("/\\ tries = %d", s.Tries),
		"/\\ asking = " + booleanInTLA(s.Asking),
		fmt.Sprintf("/\\ budget = %d", s.Budget),
	}, "\n")
}

// retentionInTLA writes a state of the Go model as TLC would.
func retentionInTLA(_ *retention.Config, s retention.State) string {
	r, by, of := s.Record, "-", "-"
	if r.Exists() {
		by = r.By.String()
	}
	if s.Key.Age >= 0 {
		of = s.Key.Of.String()
	}
	lives := func(of []int8) string {
		var all []string
		for w, n := range of {
			all = append(all, fmt.Sprintf("%v |-> %d", retention.Sender(w), n))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	var told []string
	for _, t := range s.Told() {
		told = append(told, fmt.Sprintf("[to |-> %q, says |-> %q, of |-> %q]", t.To, t.Says, t.Of))
	}
	return strings.Join([]string{
		fmt.Sprintf("/\\ rec = [state |-> %q, by |-> %q, landed |-> %s, expires |-> %d, tomb |-> %s, print |-> %s]",
			r.State, by, booleanInTLA(r.Landed), r.Expires, booleanInTLA(r.Tomb), booleanInTLA(r.Print)),
		fmt.Sprintf("/\\ until = %d", s.Until),
		"/\\ req = " + lives(s.Requests[:]),
		"/\\ ins = " + lives(s.Inserts[:]),
		fmt.Sprintf("/\\ key = [age |-> %d, of |-> %q]", s.Key.Age, of),
		fmt.Sprintf("/\\ charges = [first |-> %d, second |-> %d]", s.Charges[0], s.Charges[1]),
		"/\\ told = " + setInTLA(told),
		fmt.Sprintf("/\\ forgot = %d", s.Forgot),
		"/\\ stale = " + booleanInTLA(s.Stale),
	}, "\n")
}
