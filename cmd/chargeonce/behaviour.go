package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chargeonce/chargeonce/tla"
)

// changes returns the facts that are new in a state, and those that are over
// and have no new one in their place.
func changes(before, after []tla.Fact) (all []tla.Fact) {
	for _, f := range after {
		if !slices.Contains(before, f) {
			all = append(all, f)
		}
	}
	for _, f := range before {
		single := countOf(before, f.Of) == 1 && countOf(after, f.Of) == 1 // a new one replaces it
		switch {
		case single, slices.Contains(after, f):
		case strings.HasPrefix(f.Of, "run "):
			all = append(all, tla.Fact{Of: f.Of, Is: "is over"})
		default:
			all = append(all, tla.Fact{Of: f.Of, Is: "no more: " + f.Is})
		}
	}
	return all
}

// countOf returns how many facts there are of one thing.
func countOf(all []tla.Fact, of string) (n int) {
	for _, f := range all {
		if f.Of == of {
			n++
		}
	}
	return n
}

// writeBehaviour tells a behaviour of the model action by action: what each
// one changed.
func writeBehaviour(w io.Writer, f *tla.Found) {
	var before []tla.Fact
	for i, v := range f.Trace {
		head := "at first"
		if i > 0 {
			head = v.Action
		}
		fmt.Fprintf(w, "%4d  %s\n", i, head)
		for _, c := range changes(before, v.Facts) {
			fmt.Fprintf(w, "          %-11s %s\n", c.Of, c.Is)
		}
		before = v.Facts
	}
	switch {
	case f.Loop < 0:
	case f.Loop == len(f.Trace)-1:
		fmt.Fprintln(w, "      and so it stays for ever: nothing that is fair changes it")
	default:
		fmt.Fprintf(w, "      and on from %d for ever\n", f.Loop)
	}
}
