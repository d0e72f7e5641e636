package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// fact is a line of a state of the model: of what, and what is so.
type fact struct {
	of, is string
}

// facts returns what there is to say of a state, in a fixed order.
func facts(c *protocol.Config, s protocol.State) []fact {
	all := []fact{{"record", strings.TrimPrefix(s.Record().String(), "record ")}}
	slots := c.Handlers
	if c.Reconciles {
		slots++
	}
	for h := 1; h <= slots; h++ {
		if r := s.Run(protocol.Slot(h)); r.At != protocol.AtIdle {
			all = append(all, fact{fmt.Sprintf("run %d", h), r.String()})
		}
	}
	for _, w := range s.Late() {
		all = append(all, fact{"unapplied", w.String()})
	}
	for _, m := range s.Messages() {
		all = append(all, fact{"on its way", "charge of " + m.String()})
	}
	for i, charge := range s.Ledger() {
		all = append(all, fact{fmt.Sprintf("charge %d", i+1), charge.String()})
	}
	for _, key := range s.Refused() {
		all = append(all, fact{"provider", fmt.Sprintf("keeps a decline under key %d", key)})
	}
	for _, t := range s.Told() {
		all = append(all, fact{"told", fmt.Sprintf("%v: %v", t.Parameters, t.Reply)})
	}
	if !s.Asking() {
		all = append(all, fact{"client", "asks no more"})
	}
	return append(all, fact{"left", fmt.Sprintf("tries with p: %d, with q: %d, faults: %d", s.Tries(protocol.P), s.Tries(protocol.Q), s.Budget())})
}

// changes returns the facts that are new in a state, and those that are over
// and have no new one in their place.
func changes(before, after []fact) (all []fact) {
	for _, f := range after {
		if !slices.Contains(before, f) {
			all = append(all, f)
		}
	}
	for _, f := range before {
		follows := func(a fact) bool { return a.of == f.of && (single(f.of) || a.is == f.is) }
		switch {
		case slices.ContainsFunc(after, follows):
		case strings.HasPrefix(f.of, "run "):
			all = append(all, fact{f.of, "is over"})
		default:
			all = append(all, fact{f.of, "no more: " + f.is})
		}
	}
	return all
}

// single reports whether there is at most one fact of the kind, so that a new
// one replaces it.
func single(of string) bool {
	return of == "record" || of == "left" || strings.HasPrefix(of, "run ") || strings.HasPrefix(of, "charge ")
}

// writeBehaviour tells a behaviour of the model action by action: what each
// one changed.
func writeBehaviour(w io.Writer, c *protocol.Config, t explore.Trace[protocol.State]) {
	var before []fact
	for i, v := range t.States {
		head := "at first"
		if i > 0 {
			head = protocol.ActionOf(uint16(v.Action)).String()
		}
		fmt.Fprintf(w, "%4d  %s\n", i, head)
		after := facts(c, v.State)
		for _, f := range changes(before, after) {
			fmt.Fprintf(w, "          %-11s %s\n", f.of, f.is)
		}
		before = after
	}
	switch {
	case t.Loop < 0:
	case t.Loop == len(t.States)-1:
		fmt.Fprintln(w, "      and so it stays for ever: nothing that is fair changes it")
	default:
		fmt.Fprintf(w, "      and on from %d for ever\n", t.Loop)
	}
}
