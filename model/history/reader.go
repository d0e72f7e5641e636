package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	wantHeader = `the header {"format":"` + Format + `","version":1,…}`
	wantObject = "one JSON object on the line"
)

// Reader reads a history line by line. It is strict: see the package.
type Reader struct {
	lines    lines
	source   bytes.Reader
	values   values
	header   Header
	sequence sequence
	err      error // given again by every Next
}

// NewReader returns a reader and reads the header. It returns a *LineError if
// the first line is not one, or one of a later version; any other error is
// that of the underlying reader.
func NewReader(r io.Reader) (*Reader, error) {
	d := &Reader{
		lines:  lines{r: bufio.NewReaderSize(r, 64<<10)},
		values: values{seen: make(map[string]string)},
	}
	line, err := d.lines.next()
	switch {
	case err == io.EOF:
		return nil, &LineError{1, wantHeader, "an empty file"}
	case err != nil:
		return nil, err
	}
	if err := d.readHeader(line); err != nil {
		return nil, err
	}
	return d, nil
}

// Header returns the first line.
func (d *Reader) Header() Header { return d.header }

// Next reads one event into e, all fields of it. It returns io.EOF after the
// last one and a *LineError for a line that is not in the format; any other
// error is that of the underlying reader. It does not read on after an error.
func (d *Reader) Next(e *Event) error {
	if d.err != nil {
		return d.err
	}
	var line []byte
	if line, d.err = d.lines.next(); d.err != nil {
		return d.err
	}
	*e = Event{}
	p := d.event(line, e)
	d.err = p.at(d.lines.number)
	return d.err
}

// All iterates over the events that are left and ends after the first error.
func (d *Reader) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			var e Event
			err := d.Next(&e)
			if err == io.EOF || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Read reads a whole history. It returns what was read before an error; the
// errors are those of NewReader and Next, but for io.EOF.
func Read(r io.Reader) (Header, []Event, error) {
	d, err := NewReader(r)
	if err != nil {
		return Header{}, nil, err
	}
	var events []Event
	for e, err := range d.All() {
		if err != nil {
			return d.header, events, err
		}
		events = append(events, e)
	}
	return d.header, events, nil
}

// readHeader looks for format and version first: what else the header of a
// later version holds is not known here.
func (d *Reader) readHeader(line []byte) error {
	var format string
	var version int64
	p := d.object(line, func(name string) (p problem) {
		switch name {
		case "format":
			format, p = d.values.text()
		case "version":
			version, p = d.values.integer(0, math.MaxInt64, wantCount)
		default:
			p = d.values.skip()
		}
		return p.in(name)
	})
	switch {
	case p.found() && format == Format:
		return p.at(1)
	case format != Format:
		return &LineError{1, wantHeader, quote(string(line))}
	case version > Version:
		return &LineError{1, fmt.Sprint("version ", Version), fmt.Sprintf("version %d, which is newer than this reader", version)}
	case version < Version:
		return &LineError{1, fmt.Sprint("version ", Version), fmt.Sprint("version ", version)}
	}
	return d.object(line, d.headerMember).at(1)
}

func (d *Reader) headerMember(name string) (p problem) {
	if name == "format" || name == "version" {
		return d.values.skip()
	}
	for _, m := range d.header.durations() {
		if m.name == name {
			*m.value, p = d.values.duration(0)
			return p.in(name)
		}
	}
	for _, m := range d.header.promises() {
		if m.name == name {
			*m.value, p = d.values.flag()
			return p.in(name)
		}
	}
	return problem{"a member of the header", quote(name)}
}

func (d *Reader) event(line []byte, e *Event) problem {
	var present fields
	p := d.object(line, func(name string) problem {
		f := field(slices.Index(fieldNames[:], name))
		if f >= fieldCount {
			return problem{"a member of the format", quote(name)}
		}
		is, p := d.values.member(e, f)
		if is {
			present |= 1 << f
		}
		return p.in(name)
	})
	if !p.found() {
		p = misfit(e.Kind, present)
	}
	if !p.found() {
		p = d.sequence.next(e)
	}
	return p
}

// object reads the line as one JSON object and calls member after each name,
// which must read the value.
func (d *Reader) object(line []byte, member func(name string) problem) problem {
	d.source.Reset(line)
	d.values.decoder.Reset(&d.source)
	decoder := &d.values.decoder
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return problem{wantObject, quote(string(line))}
	}
	for {
		token, err := decoder.ReadToken()
		switch {
		case err != nil:
			return unreadable(err)
		case token.Kind() == jsontext.KindEndObject:
			if rest := bytes.TrimSpace(line[decoder.InputOffset():]); len(rest) > 0 {
				return problem{wantObject, "more after it: " + quote(string(rest))}
			}
			return problem{}
		}
		if p := member(token.String()); p.found() {
			return p
		}
	}
}

// unreadable says where a line is no JSON. The words of the JSON package are
// not used, since they may change.
func unreadable(err error) problem {
	var syntax *jsontext.SyntacticError
	switch {
	case !errors.As(err, &syntax):
		return problem{wantObject, "the end of the line in the middle of it"}
	case errors.Is(err, jsontext.ErrDuplicateName):
		return problem{"each member once", "a second " + quote(syntax.JSONPointer.LastToken())}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return problem{wantObject, "the end of the line in the middle of it"}
	}
	return problem{wantObject, "no JSON at byte " + strconv.FormatInt(syntax.ByteOffset+1, 10)}
}
