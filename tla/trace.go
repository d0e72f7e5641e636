package tla

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// TraceModule is the name of the module that [TraceFiles] writes.
const TraceModule = "Trace"

// ErrTooLong is returned for a behaviour with more attempts or faults than a
// state of the model counts.
var ErrTooLong = errors.New("tla: a behaviour has more attempts or faults than the model counts")

// Behaviour is the states of a behaviour of ChargeOnce, the initial one first.
type Behaviour []protocol.State

// Counted follows behaviours again with attempts and faults counted, as the
// specification counts them, and returns the smallest constants that have
// enough of both for all of them. It returns ErrTooLong for one that has more
// than can be counted.
func Counted(c protocol.Config, all [][]protocol.Action) (protocol.Config, []Behaviour, error) {
	const attempts, faults = 15, 127
	c.Unbounded, c.Attempts, c.Others, c.Faults = false, attempts, attempts, faults
	fewest := [3]int{attempts, attempts, faults}
	for _, actions := range all {
		b, err := follow(&c, actions)
		if err != nil {
			return c, nil, err
		}
		last := b[len(b)-1]
		for i, left := range []int{last.Tries(protocol.P), last.Tries(protocol.Q), last.Budget()} {
			fewest[i] = min(fewest[i], left)
		}
	}
	c.Attempts, c.Others, c.Faults = attempts-fewest[0], attempts-fewest[1], faults-fewest[2]
	behaviours := make([]Behaviour, len(all))
	for i, actions := range all {
		b, err := follow(&c, actions)
		if err != nil {
			return c, nil, err
		}
		behaviours[i] = b
	}
	return c, behaviours, nil
}

func follow(c *protocol.Config, actions []protocol.Action) (Behaviour, error) {
	b := Behaviour{protocol.Initial(c)}
	for i, a := range actions {
		next, ok := protocol.Take(c, b[len(b)-1], a)
		if !ok {
			return nil, fmt.Errorf("%w, or it is none: action %d, %v", ErrTooLong, i+1, a)
		}
		b = append(b, next)
	}
	return b, nil
}

// TraceFiles returns a module that extends ChargeOnce and allows nothing but
// the behaviours, state by state, and its cfg file. Each of its steps is one of
// ChargeOnce too, so TLC comes to the end of each behaviour, or reports a
// deadlock in the last state of one that ChargeOnce does not have; `trace' and
// `at' in it say which and where. Many behaviours in one module are checked in
// hardly more time than one.
func TraceFiles(c *protocol.Config, all []Behaviour) (module, cfg string) {
	var b strings.Builder
	b.WriteString(traceHead)
	for i, behaviour := range all {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  <<")
		for j, s := range behaviour {
			if j > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n    [")
			for k, v := range stateInTLA(c, s) {
				if k > 0 {
					b.WriteString(", ")
				}
				b.WriteString(v.name + " |-> " + v.value)
			}
			b.WriteString("]")
		}
		b.WriteString(">>")
	}
	b.WriteString(traceTail)
	return b.String(), traceConfig(c)
}

const traceHead = `------------------------------- MODULE Trace -------------------------------
(* Behaviours that were recorded, as literals.  Each step must be the one    *)
(* that was recorded, and a step of ChargeOnce.                              *)
EXTENDS ChargeOnce

VARIABLES trace, at  \* which behaviour, and how far

Traces == <<
`

const traceTail = `>>

Starts(s) ==
    /\ rec = s.rec /\ late = s.late /\ run = s.run /\ msgs = s.msgs /\ ledger = s.ledger
    /\ refused = s.refused /\ told = s.told /\ tries = s.tries /\ asking = s.asking /\ budget = s.budget

Goes(s) ==
    /\ rec' = s.rec /\ late' = s.late /\ run' = s.run /\ msgs' = s.msgs /\ ledger' = s.ledger
    /\ refused' = s.refused /\ told' = s.told /\ tries' = s.tries /\ asking' = s.asking /\ budget' = s.budget

TraceInit ==
    /\ trace \in DOMAIN Traces
    /\ at = 1
    /\ Starts(Traces[trace][1])
    /\ Init

Follows ==
    /\ at < Len(Traces[trace])
    /\ trace' = trace
    /\ at' = at + 1
    /\ Goes(Traces[trace][at + 1])
    /\ Next

Ends == at = Len(Traces[trace]) /\ UNCHANGED <<vars, trace, at>>

TraceSpec == TraceInit /\ [][Follows \/ Ends]_<<vars, trace, at>>
=============================================================================
`

func traceConfig(c *protocol.Config) string {
	var b strings.Builder
	b.WriteString("SPECIFICATION TraceSpec\nCONSTANTS\n")
	for _, n := range []variable{
		{"Handlers", fmt.Sprint(c.Handlers)}, {"Attempts", fmt.Sprint(c.Attempts)}, {"Others", fmt.Sprint(c.Others)}, {"Faults", fmt.Sprint(c.Faults)},
		{"Reconciles", booleanInTLA(c.Reconciles)}, {"RollForward", booleanInTLA(c.RollForward)}, {"Keys", booleanInTLA(c.Keys)},
		{"StoresDeclines", booleanInTLA(c.StoresDeclines)}, {"Declines", booleanInTLA(c.Declines)}, {"Lookups", booleanInTLA(c.Lookups)},
		{"Foreign", booleanInTLA(c.Foreign)}, {"Ages", booleanInTLA(c.Ages)}, {"GivesUp", booleanInTLA(c.GivesUp)},
		{"Collects", booleanInTLA(c.Collects)}, {"Persistent", booleanInTLA(c.Persistent)},
	} {
		fmt.Fprintf(&b, "    %s = %s\n", n.name, n.value)
	}
	for d := range protocol.DefectCount {
		fmt.Fprintf(&b, "    %v = %s\n", d, booleanInTLA(c.Defects.Has(d)))
	}
	b.WriteString("CHECK_DEADLOCK TRUE\n")
	return b.String()
}

// variable is a variable or a constant of ChargeOnce and its value.
type variable struct{ name, value string }

// stateInTLA writes a state of the Go model in TLA+.
func stateInTLA(c *protocol.Config, s protocol.State) []variable {
	answer := func(a protocol.Answer) string {
		return fmt.Sprintf("[says |-> %q, charge |-> %d]", a.Says, a.Charge)
	}
	var runs, late, msgs, ledger, refused, told []string
	for h := 1; h <= c.Handlers || c.Reconciles && h == c.Handlers+1; h++ {
		r := s.Run(protocol.Slot(h))
		runs = append(runs, fmt.Sprintf("[pc |-> %q, step |-> %q, par |-> %q, ver |-> %d, ans |-> %s, may |-> %s]",
			r.At, r.Step, r.Parameters, r.Version, answer(r.Answer), booleanInTLA(r.May)))
	}
	for _, w := range s.Late() {
		late = append(late, fmt.Sprintf("[step |-> %q, ver |-> %d, owner |-> %d, par |-> %q, reply |-> %s]",
			w.Step, w.Version, w.Owner, w.Parameters, answer(w.Reply)))
	}
	for _, m := range s.Messages() {
		msgs = append(msgs, fmt.Sprintf("[by |-> %d, ver |-> %d, key |-> %d, copy |-> %s, par |-> %q]",
			m.By, m.Version, m.Key, booleanInTLA(m.Copy), m.Parameters))
	}
	for _, charge := range s.Ledger() {
		ledger = append(ledger, fmt.Sprintf("[key |-> %d, par |-> %q, known |-> %s]", charge.Key, charge.Parameters, booleanInTLA(charge.Known)))
	}
	for _, key := range s.Refused() {
		refused = append(refused, fmt.Sprint(key))
	}
	for _, x := range s.Told() {
		told = append(told, fmt.Sprintf("[par |-> %q, reply |-> %s]", x.Parameters, answer(x.Reply)))
	}
	r := s.Record()
	return []variable{
		{"rec", fmt.Sprintf("[state |-> %q, ver |-> %d, owner |-> %d, lease |-> %q, window |-> %q, par |-> %q, reply |-> %s]",
			r.State, r.Version, r.Owner, r.Lease, r.Window, r.Parameters, answer(r.Reply))},
		{"late", setInTLA(late)},
		{"run", sequenceInTLA(runs)},
		{"msgs", setInTLA(msgs)},
		{"ledger", sequenceInTLA(ledger)},
		{"refused", setInTLA(refused)},
		{"told", setInTLA(told)},
		{"tries", fmt.Sprintf("[p |-> %d, q |-> %d]", s.Tries(protocol.P), s.Tries(protocol.Q))},
		{"asking", booleanInTLA(s.Asking())},
		{"budget", fmt.Sprint(s.Budget())},
	}
}

func booleanInTLA(b bool) string             { return strings.ToUpper(fmt.Sprint(b)) }
func setInTLA(elements []string) string      { return "{" + strings.Join(elements, ", ") + "}" }
func sequenceInTLA(elements []string) string { return "<<" + strings.Join(elements, ", ") + ">>" }
