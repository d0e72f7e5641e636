package history

import (
	"fmt"
	"strconv"
)

// LineError is returned for a line that is not in the format: nothing can be
// said of such a history.
type LineError struct {
	Line int    // from 1, which is the header
	Want string // what should stand there, in one line
	Got  string // what stands there, in one line
}

func (e *LineError) Error() string {
	return fmt.Sprintf("history: line %d: want %s, got %s", e.Line, e.Want, e.Got)
}

// Inconsistency is returned for lines that are in the format and cannot all
// be true of a system that keeps its promises: it is a violation, not bad
// input.
type Inconsistency struct {
	Line      int    // from 1, which is the header: the line at which it shows
	Invariant string // the property that it breaks, "WellFormed" if none has a name of its own
	Want      string // what should stand there, in one line
	Got       string // what stands there, in one line
}

func (e *Inconsistency) Error() string {
	return fmt.Sprintf("history: line %d: %s: want %s, got %s", e.Line, e.Invariant, e.Want, e.Got)
}

// problem is what is wrong with a line; the zero value is nothing.
type problem struct{ want, got string }

func (p problem) found() bool { return p.want != "" }

// in says of which member the problem is, if it is not the line's.
func (p problem) in(member string) problem {
	if p.found() && p.want != wantObject {
		p.want = fmt.Sprintf("member %q: %s", member, p.want)
	}
	return p
}

// at is the problem as an error of a line, nil if there is none.
func (p problem) at(line int) error {
	if p.found() {
		return &LineError{line, p.want, p.got}
	}
	return nil
}

// quote shows a piece of input in one short line.
func quote(b string) string {
	const most = 40
	if len(b) > most {
		return strconv.QuoteToASCII(b[:most]) + "…"
	}
	return strconv.QuoteToASCII(b)
}
