package protocol

import (
	"fmt"
	"strings"
)

// String returns the state in one line: the record, the runs that are not
// idle, and then what is not empty.
func (s State) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	add("%v", s.Record())
	for h := Slot(1); h <= maxSlots; h++ {
		if r := s.Run(h); r.At != AtIdle {
			add("run %d %v", h, r)
		}
	}
	for _, w := range s.Late() {
		add("late %v", w)
	}
	for _, m := range s.Messages() {
		add("sent %v", m)
	}
	for i, c := range s.Ledger() {
		add("charge %d %v", i+1, c)
	}
	for _, key := range s.Refused() {
		add("declined key %d", key)
	}
	for _, t := range s.Told() {
		add("told %v: %v", t.Parameters, t.Reply)
	}
	if !s.Asking() {
		add("nobody asks")
	}
	add("left %d+%d tries, %d faults", s.Tries(P), s.Tries(Q), s.Budget())
	return strings.Join(parts, "; ")
}

// owner writes the owner of something.
func owner(h Slot) string {
	if h == Gone {
		return "a run that is over"
	}
	return fmt.Sprintf("run %d", h)
}

// String returns the record in words.
func (r Record) String() string {
	if !r.Exists() {
		return "no record"
	}
	text := fmt.Sprintf("record %v v%d of %s for %v", r.State, r.Version, owner(r.Owner), r.Parameters)
	if r.Lease != NoLease {
		text += ", lease " + r.Lease.String()
	}
	if r.Window > WindowOpen {
		text += ", window " + r.Window.String()
	}
	if r.Reply.Says != Nothing {
		text += ", reply " + r.Reply.String()
	}
	return text
}

// String returns the run in words.
func (r Run) String() string {
	text := "at " + r.At.String()
	if r.Step != NoStep {
		text += " after " + r.Step.String()
	}
	if r.Parameters != NoParameters {
		text += " for " + r.Parameters.String()
	}
	if r.Version > 0 {
		text += fmt.Sprintf(" on v%d", r.Version)
	}
	if r.Answer.Says != Nothing {
		text += " with " + r.Answer.String()
	}
	if r.May {
		text += ", may send"
	}
	return text
}

// String returns the write in words.
func (w Write) String() string {
	text := fmt.Sprintf("%v on v%d by %s", w.Step, w.Version, owner(w.Owner))
	if w.Reply.Says != Nothing {
		text += " of " + w.Reply.String()
	}
	return text
}

// String returns the message in words.
func (m Message) String() string {
	text := fmt.Sprintf("%v under key %d on v%d by %s", m.Parameters, m.Key, m.Version, owner(m.By))
	if m.Copy {
		text += ", a copy"
	}
	return text
}

// String returns the charge in words.
func (c Charge) String() string {
	text := fmt.Sprintf("%v under key %d", c.Parameters, c.Key)
	if !c.Known {
		text += ", key forgotten"
	}
	return text
}
