package history

import (
	"fmt"
	"time"
)

// attempt names one attempt.
type attempt struct {
	operation, process string
	number             int
}

// sequence checks what takes more than one line to see: the order of time,
// that nothing follows the end, and that calls and their ends pair up.
type sequence struct {
	last struct { // the event before
		At   time.Duration
		Kind Kind
	}
	open map[attempt]bool // every attempt that was called, and whether it has not ended yet
}

// next says what is wrong with an event after those before it. An event with
// a problem is not counted as one of them.
func (s *sequence) next(e *Event) problem {
	switch {
	case s.last.Kind == KindEnd:
		return problem{`nothing after the event of kind "end"`, quote(e.Kind.String())}
	case e.At < s.last.At:
		return problem{fmt.Sprintf("at_ns of at least %d, as on the line before", s.last.At), fmt.Sprint(int64(e.At))}
	}
	if p := s.pair(e); p.found() {
		return p
	}
	s.last.At, s.last.Kind = e.At, e.Kind
	return problem{}
}

func (s *sequence) pair(e *Event) problem {
	if e.Kind != KindCall && e.Kind != KindReturn && e.Kind != KindUnanswered {
		return problem{}
	}
	name := attempt{e.Operation, e.Process, e.Attempt}
	open, called := s.open[name]
	switch {
	case e.Kind == KindCall && called:
		return problem{"one call for each attempt", "another of " + name.String()}
	case e.Kind != KindCall && !called:
		return problem{fmt.Sprintf("a call before the %v", e.Kind), "none of " + name.String()}
	case e.Kind != KindCall && !open:
		return problem{"one return or unanswered for each call", fmt.Sprintf("another %v of %v", e.Kind, name)}
	case s.open == nil:
		s.open = make(map[attempt]bool)
	}
	s.open[name] = e.Kind == KindCall
	return problem{}
}

func (a attempt) String() string {
	return fmt.Sprintf("attempt %d of %s by %s", a.number, quote(a.operation), quote(a.process))
}
