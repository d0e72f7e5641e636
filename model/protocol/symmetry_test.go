package protocol

import "testing"

// Whoever exchanges the handlers of a state, before a step or after it, gets
// the same: the representatives of the ways on from a state are those from any
// other that equals it but for names. And no invariant tells the two apart.
func TestHandlersAreInterchangeable(t *testing.T) {
	for _, d := range []Defects{0, Defects(0).With(OwnerIsProcess), Defects(0).With(NoFence), Defects(0).With(ReplyBeforeSave)} {
		c := small()
		c.Handlers, c.Attempts, c.Faults, c.Reconciles, c.Defects = 2, 2, 1, false, d
		exchanged := 0
		for _, s := range reach(&c) {
			w := world{&c, s, s.Record()}
			other := w.renamed([]Slot{2, 1})
			if Canonical(&c, s) != Canonical(&c, other) || Canonical(&c, Canonical(&c, s)) != Canonical(&c, s) {
				t.Fatalf("%v and %v have two representatives", s, other)
			}
			if other == s {
				continue
			}
			exchanged++
			for _, i := range Invariants {
				if i.Hold(&c, s) != i.Hold(&c, other) {
					t.Fatalf("%s tells %v from %v", i.Name, s, other)
				}
			}
			if a, b := ways(&c, s), ways(&c, other); len(a) != len(b) {
				t.Fatalf("%v goes on in %d ways, %v in %d", s, len(a), other, len(b))
			} else {
				for next := range a {
					if a[next] != b[next] {
						t.Fatalf("%v leads to %v in %d ways, %v in %d", s, next, a[next], other, b[next])
					}
				}
			}
		}
		if exchanged == 0 {
			t.Error("no state changes when its handlers are exchanged")
		}
	}
}

// ways are the representatives of all states after s, and how many steps lead
// to each.
func ways(c *Config, s State) map[State]int {
	all := make(map[State]int)
	Next(c, s, func(_ Action, next State) { all[Canonical(c, next)]++ })
	return all
}

// Outlines are equal of states that differ in what does not count, and of no
// others.
func TestOutlines(t *testing.T) {
	c := small()
	c.Handlers, c.Attempts, c.Others, c.Faults, c.Reconciles = 2, 1, 1, 1, false
	wider := c
	wider.Handlers, wider.Reconciles, wider.Unbounded = 4, true, true
	outlines, classes := make(map[State]bool), make(map[State]bool)
	for _, s := range reach(&c) {
		uncounted := s
		uncounted.tries, uncounted.rest = 0, uncounted.rest&128
		least := uncounted
		outline := Outline(&c, s)
		for _, slots := range [][]Slot{{1, 2}, {2, 1}} {
			w := world{&c, uncounted, s.Record()}
			w.State = w.renamed(slots)
			w.rec = w.Record()
			for _, other := range []State{w.State, w.exchanged()} {
				if Outline(&c, other) != outline || Outline(&wider, other) != outline {
					t.Fatalf("%v and %v have two outlines", s, other)
				}
				if other.before(&least) {
					least = other
				}
			}
		}
		outlines[outline], classes[least] = true, true
	}
	if len(outlines) != len(classes) {
		t.Errorf("%d outlines for %d states that differ in what counts", len(outlines), len(classes))
	}
}
