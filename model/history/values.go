package history

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// What a value must be, said by reader and writer alike.
const (
	wantText     = "a string of valid UTF-8"
	wantCount    = "an integer of at least 0"
	wantDuration = "an integer of nanoseconds, at least 0"
	wantInstant  = "an integer of nanoseconds"
	wantDigest   = "a string of 16 lower-case hexadecimal digits"
	wantFlag     = "true or false"
)

func wantOneOf(names []string) string { return "one of " + strings.Join(names[1:], ", ") }

// values reads the values of one object, each after its name.
type values struct {
	decoder jsontext.Decoder
	seen    map[string]string // texts that came before, so that equal ones share memory
	scratch []byte
}

// member reads the value of one field of an event. It reports whether the
// value says anything that its kind must allow: zero is the same as absent,
// and kind and time stand on every line.
func (v *values) member(e *Event, f field) (is bool, p problem) {
	switch f {
	case fieldKind:
		e.Kind, p = parsed[Kind](v, kindNames[:])
		return false, p
	case fieldAt:
		e.At, p = v.duration(0)
		return false, p
	case fieldAttempt:
		var n int64
		n, p = v.integer(0, math.MaxInt, wantCount)
		e.Attempt = int(n)
		return n != 0, p
	case fieldAmount:
		e.Amount, p = v.integer(0, math.MaxInt64, wantCount)
		return e.Amount != 0, p
	case fieldStatus:
		var n int64
		n, p = v.integer(0, math.MaxInt, wantCount)
		e.Status = int(n)
		return n != 0, p
	case fieldVersion:
		e.Version, p = v.unsigned()
		return e.Version != 0, p
	case fieldOutcome:
		e.Outcome, p = parsed[Outcome](v, outcomeNames[:])
		return e.Outcome != OutcomeNone, p
	case fieldState:
		e.State, p = parsed[State](v, stateNames[:])
		return e.State != StateNone, p
	case fieldBody:
		e.Body, p = v.digest()
		return e.Body != 0, p
	case fieldRequest:
		e.Request, p = v.digest()
		return e.Request != 0, p
	case fieldWindowFrom:
		e.WindowFrom, p = v.duration(math.MinInt64)
		return e.WindowFrom != 0, p
	case fieldLeaseUntil:
		e.LeaseUntil, p = v.duration(math.MinInt64)
		return e.LeaseUntil != 0, p
	}
	if to := flagOf(e, f); to != nil {
		*to, p = v.flag()
		return *to, p
	}
	to := textOf(e, f)
	*to, p = v.text()
	return *to != "", p
}

func flagOf(e *Event, f field) *bool {
	switch f {
	case fieldReplayed:
		return &e.Replayed
	case fieldInsert:
		return &e.Insert
	case fieldTombstone:
		return &e.Tombstone
	}
	return nil
}

func textOf(e *Event, f field) *string {
	switch f {
	case fieldProcess:
		return &e.Process
	case fieldOperation:
		return &e.Operation
	case fieldScope:
		return &e.Scope
	case fieldKey:
		return &e.Key
	case fieldFingerprint:
		return &e.Fingerprint
	case fieldCurrency:
		return &e.Currency
	case fieldCharge:
		return &e.Charge
	case fieldProviderKey:
		return &e.ProviderKey
	case fieldOwner:
		return &e.Owner
	case fieldRun:
		return &e.Run
	}
	panic("history: field " + fieldNames[f] + " is no text")
}

// raw returns the value as it stands in the line, valid until the next call.
func (v *values) raw() (jsontext.Value, problem) {
	value, err := v.decoder.ReadValue()
	if err != nil {
		return nil, unreadable(err)
	}
	return value, problem{}
}

func (v *values) skip() problem {
	_, p := v.raw()
	return p
}

// unquoted returns a string's content, valid until the next call.
func (v *values) unquoted(want string) ([]byte, problem) {
	value, p := v.raw()
	if p.found() {
		return nil, p
	}
	if value.Kind() != jsontext.KindString {
		return nil, problem{want, quote(string(value))}
	}
	var err error
	if v.scratch, err = jsontext.AppendUnquote(v.scratch[:0], value); err != nil {
		return nil, problem{want, quote(string(value))}
	}
	return v.scratch, problem{}
}

func (v *values) text() (string, problem) {
	b, p := v.unquoted(wantText)
	if s, ok := v.seen[string(b)]; ok || p.found() {
		return s, p
	}
	s := string(b)
	v.seen[s] = s
	return s, p
}

func (v *values) digest() (uint64, problem) {
	b, p := v.unquoted(wantDigest)
	if p.found() || len(b) == 0 {
		return 0, p
	}
	n, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil || len(b) != 16 || strings.ToLower(string(b)) != string(b) {
		return 0, problem{wantDigest, quote(string(b))}
	}
	return n, p
}

func (v *values) flag() (bool, problem) {
	value, p := v.raw()
	switch {
	case p.found():
		return false, p
	case value.Kind() == jsontext.KindTrue:
		return true, p
	case value.Kind() == jsontext.KindFalse:
		return false, p
	}
	return false, problem{wantFlag, quote(string(value))}
}

func (v *values) integer(least, most int64, want string) (int64, problem) {
	value, p := v.raw()
	if p.found() {
		return 0, p
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < least || n > most {
		return 0, problem{want, quote(string(value))}
	}
	return n, p
}

func (v *values) unsigned() (uint64, problem) {
	value, p := v.raw()
	if p.found() {
		return 0, p
	}
	n, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil {
		return 0, problem{wantCount, quote(string(value))}
	}
	return n, p
}

func (v *values) duration(least int64) (time.Duration, problem) {
	want := wantDuration
	if least < 0 {
		want = wantInstant
	}
	n, p := v.integer(least, math.MaxInt64, want)
	return time.Duration(n), p
}

// parsed reads a word of a vocabulary; the empty string is the zero value.
func parsed[T ~uint8](v *values, names []string) (T, problem) {
	b, p := v.unquoted(wantOneOf(names))
	if p.found() || len(b) == 0 {
		return 0, p
	}
	i := slices.Index(names, string(b))
	if i <= 0 {
		return 0, problem{wantOneOf(names), quote(string(b))}
	}
	return T(i), p
}
