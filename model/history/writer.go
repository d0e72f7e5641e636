package history

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer writes a history. Equal headers and events give equal bytes.
type Writer struct {
	w        io.Writer
	buf      []byte
	line     int // of the next event
	sequence sequence
	err      error // of w; nothing is written after it
}

// flushAt is how many bytes are kept back before they go to the
// underlying writer.
const flushAt = 32 << 10

// NewWriter returns a writer and writes the header. It returns a *LineError
// if a duration of the header is negative.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	m := members{buf: []byte(`{"format":"` + Format + `"`)}
	m.name("version")
	m.buf = strconv.AppendInt(m.buf, Version, 10)
	for _, d := range h.durations() {
		m.duration(d.name, *d.value)
	}
	for _, p := range h.promises() {
		if *p.value {
			m.name(p.name)
			m.buf = append(m.buf, "true"...)
		}
	}
	if m.problem.found() {
		return nil, m.problem.at(1)
	}
	return &Writer{w: w, buf: append(m.buf, '}', '\n'), line: 2}, nil
}

// headerMember is a member of the header and where its value is.
type headerMember[T any] struct {
	name  string
	value *T
}

func (h *Header) durations() []headerMember[time.Duration] {
	return []headerMember[time.Duration]{
		{"retry_horizon_ns", &h.RetryHorizon},
		{"provider_window_ns", &h.ProviderWindow},
		{"settled_ns", &h.Settled},
	}
}

func (h *Header) promises() []headerMember[bool] {
	return []headerMember[bool]{
		{"keyless", &h.Keyless},
		{"once", &h.Once},
		{"compensates", &h.Compensates},
		{"complete", &h.Complete},
	}
}

// Event writes one event. It returns a *LineError, and writes nothing, for an
// event that a Reader would refuse at this place; otherwise an error is that
// of the underlying writer.
func (w *Writer) Event(e *Event) error {
	if w.err != nil {
		return w.err
	}
	start := len(w.buf)
	m := members{buf: w.buf}
	m.event(e)
	p := m.problem
	if !p.found() {
		p = misfit(e.Kind, m.present)
	}
	if !p.found() {
		p = w.sequence.next(e)
	}
	if p.found() {
		w.buf = m.buf[:start]
		return p.at(w.line)
	}
	w.buf = append(m.buf, '}', '\n')
	w.line++
	if len(w.buf) >= flushAt {
		return w.Flush()
	}
	return nil
}

// Flush hands everything over to the underlying writer.
func (w *Writer) Flush() error {
	if w.err == nil {
		_, w.err = w.w.Write(w.buf)
		w.buf = w.buf[:0]
	}
	return w.err
}

// members appends the members of one object, leaves out what is zero, and
// keeps the first value that the format does not allow.
type members struct {
	buf     []byte
	present fields
	problem problem
}

func (m *members) event(e *Event) {
	m.buf = append(m.buf, `{"kind":"`...)
	m.buf = append(m.buf, e.Kind.String()...)
	m.buf = append(m.buf, '"')
	m.duration(fieldNames[fieldAt], e.At)
	m.text(fieldProcess, e.Process)
	m.text(fieldOperation, e.Operation)
	m.count(fieldAttempt, int64(e.Attempt))
	m.text(fieldScope, e.Scope)
	m.text(fieldKey, e.Key)
	m.text(fieldFingerprint, e.Fingerprint)
	m.count(fieldAmount, e.Amount)
	m.text(fieldCurrency, e.Currency)
	m.word(fieldOutcome, int(e.Outcome), outcomeNames[:])
	m.count(fieldStatus, int64(e.Status))
	m.digest(fieldBody, e.Body)
	m.flag(fieldReplayed, e.Replayed)
	m.text(fieldCharge, e.Charge)
	m.text(fieldProviderKey, e.ProviderKey)
	m.digest(fieldRequest, e.Request)
	m.word(fieldState, int(e.State), stateNames[:])
	if e.Version != 0 {
		m.member(fieldVersion)
		m.buf = strconv.AppendUint(m.buf, e.Version, 10)
	}
	m.text(fieldOwner, e.Owner)
	m.text(fieldRun, e.Run)
	m.flag(fieldInsert, e.Insert)
	m.flag(fieldTombstone, e.Tombstone)
	m.instant(fieldWindowFrom, e.WindowFrom)
	m.instant(fieldLeaseUntil, e.LeaseUntil)
}

func (m *members) name(name string) {
	m.buf = append(m.buf, ',', '"')
	m.buf = append(m.buf, name...)
	m.buf = append(m.buf, '"', ':')
}

func (m *members) member(f field) {
	m.present |= 1 << f
	m.name(fieldNames[f])
}

func (m *members) refuse(name, want, got string) {
	if !m.problem.found() {
		m.problem = problem{want, got}.in(name)
	}
}

func (m *members) text(f field, s string) {
	if s == "" {
		return
	}
	m.member(f)
	buf, err := jsontext.AppendQuote(m.buf, s)
	if err != nil {
		m.refuse(fieldNames[f], wantText, quote(s))
		return
	}
	m.buf = buf
}

func (m *members) count(f field, n int64) {
	switch {
	case n < 0:
		m.refuse(fieldNames[f], wantCount, strconv.FormatInt(n, 10))
	case n > 0:
		m.member(f)
		m.buf = strconv.AppendInt(m.buf, n, 10)
	}
}

func (m *members) duration(name string, d time.Duration) {
	switch {
	case d < 0:
		m.refuse(name, wantDuration, strconv.FormatInt(int64(d), 10))
	case d > 0:
		m.name(name)
		m.buf = strconv.AppendInt(m.buf, int64(d), 10)
	}
}

func (m *members) instant(f field, d time.Duration) {
	if d != 0 {
		m.member(f)
		m.buf = strconv.AppendInt(m.buf, int64(d), 10)
	}
}

func (m *members) digest(f field, d uint64) {
	if d != 0 {
		m.member(f)
		m.buf = fmt.Appendf(m.buf, `"%016x"`, d)
	}
}

func (m *members) flag(f field, is bool) {
	if is {
		m.member(f)
		m.buf = append(m.buf, "true"...)
	}
}

func (m *members) word(f field, i int, names []string) {
	switch {
	case i >= len(names):
		m.refuse(fieldNames[f], wantOneOf(names), nameOf(names, i, fieldNames[f]))
	case i > 0:
		m.member(f)
		m.buf = append(m.buf, '"')
		m.buf = append(m.buf, names[i]...)
		m.buf = append(m.buf, '"')
	}
}
