package timeline

import (
	"fmt"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
)

// Describe says in words what a line of a trace tells, without its time.
// Events are those of the line's run.
func Describe(l *sim.Line, events []history.Event) string {
	what := l.Step.String() + " of " + l.Attempt.String()
	switch l.Mark {
	case sim.MarkSend:
		return fmt.Sprintf("%s sends %s to %s", l.Who, what, l.Peer)
	case sim.MarkAnswer:
		return fmt.Sprintf("%s answers %s to %s", l.Who, l.Attempt, l.Peer)
	case sim.MarkDeliver:
		return fmt.Sprintf("%s arrives at %s", what, l.Who)
	case sim.MarkReturn:
		return fmt.Sprintf("%s gets the answer to %s", l.Who, what)
	case sim.MarkStray:
		return fmt.Sprintf("the answer to %s reaches %s too late", what, l.Who)
	case sim.MarkLost:
		return fmt.Sprintf("%s is lost on its way from %s to %s", what, l.Who, l.Peer)
	case sim.MarkTimeout:
		return fmt.Sprintf("%s waits no longer for the answer to %s", l.Who, what)
	case sim.MarkCrash:
		return l.Who.String() + " dies"
	case sim.MarkRestart:
		return l.Who.String() + " starts again"
	case sim.MarkPause:
		return l.Who.String() + " stands still until " + at(int64(l.Value))
	case sim.MarkSettle:
		return fmt.Sprintf("%s decides on %s", l.Who, what)
	case sim.MarkHeal:
		return "the faults are over"
	case sim.MarkEnd:
		return "nothing more happens"
	case sim.MarkChoice:
		return "a choice at " + l.Who.String()
	case sim.MarkHistory:
		if l.Value < uint64(len(events)) {
			return describeEvent(&events[l.Value])
		}
	}
	return l.Mark.String()
}

// describeEvent says what an event tells: like the picture, with who it is.
func describeEvent(e *history.Event) string {
	who := e.Process
	if e.Kind == history.KindWrite || e.Kind == history.KindForget {
		who = "registry" // the one who asked stands in the text
	}
	if _, text := eventText(e); text != "" {
		return who + ": " + text
	}
	words := fmt.Sprintf("%v", e.Kind)
	if e.Operation != "" {
		words += " of " + e.Operation
	}
	if e.Process != "" {
		words = e.Process + ": " + words
	}
	return words
}

// At prints an instant of virtual time, in nanoseconds, as the picture does.
func At(nanos int64) string { return at(nanos) }
