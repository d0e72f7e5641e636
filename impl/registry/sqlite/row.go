package sqlite

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// States and outcomes stand in the database by name, so that a person can
// read it and the order of the constants does not matter.
var (
	states   = names(impl.StateNone, impl.StateClaimed, impl.StateSent, impl.StateSucceeded, impl.StateDeclined, impl.StateReview)
	outcomes = names(impl.OutcomeNone, impl.OutcomePaid, impl.OutcomeDeclined)
)

func names[T fmt.Stringer](all ...T) map[string]T {
	m := make(map[string]T, len(all))
	for _, v := range all {
		m[v.String()] = v
	}
	return m
}

// stored returns the record as it is stored: what is not kept is dropped.
func stored(rec impl.Record, version uint64) impl.Record {
	rec.Version = version
	rec.Reply.Replayed = false
	for _, at := range []*time.Time{&rec.WindowFrom, &rec.LeaseUntil, &rec.ExpiresAt} {
		*at = at.Round(0).UTC()
	}
	return rec
}

// row returns the values of the columns, with room for two more. It returns
// an error for a record that the schema cannot hold.
func row(rec *impl.Record) ([]any, error) {
	if _, ok := states[rec.State.String()]; !ok {
		return nil, fmt.Errorf("%v has no name", rec.State)
	}
	if _, ok := outcomes[rec.Reply.Outcome.String()]; !ok {
		return nil, fmt.Errorf("%v has no name", rec.Reply.Outcome)
	}
	for _, at := range []time.Time{rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt} {
		if !at.IsZero() && (at.Before(earliest) || at.After(latest)) {
			return nil, fmt.Errorf("%v is out of range: want an instant between %v and %v, or the zero time", at, earliest, latest)
		}
	}
	return append(make([]any, 0, 20),
		rec.Scope, rec.Key, rec.Fingerprint, rec.Request, rec.ProviderKey,
		instant(rec.WindowFrom), rec.State.String(), int64(rec.Version), rec.Owner, instant(rec.LeaseUntil),
		rec.Reply.Outcome.String(), rec.Reply.Status, encodeHeader(rec.Reply.Header), rec.Reply.Body, rec.Reply.ChargeID,
		rec.ChargeID, instant(rec.ExpiresAt), rec.Tombstone,
	), nil
}

func scan(rows *sql.Rows, rec *impl.Record) error {
	var state, outcome string
	var windowFrom, leaseUntil, expiresAt, version int64
	var request, header, body blob
	err := rows.Scan(
		&rec.Scope, &rec.Key, &rec.Fingerprint, &request, &rec.ProviderKey,
		&windowFrom, &state, &version, &rec.Owner, &leaseUntil,
		&outcome, &rec.Reply.Status, &header, &body, &rec.Reply.ChargeID,
		&rec.ChargeID, &expiresAt, &rec.Tombstone,
	)
	if err != nil {
		return err
	}
	var ok bool
	if rec.State, ok = states[state]; !ok {
		return fmt.Errorf("record %q %q: state %q is unknown", rec.Scope, rec.Key, state)
	}
	if rec.Reply.Outcome, ok = outcomes[outcome]; !ok {
		return fmt.Errorf("record %q %q: outcome %q is unknown", rec.Scope, rec.Key, outcome)
	}
	if rec.Reply.Header, err = decodeHeader(header); err != nil {
		return fmt.Errorf("record %q %q: %w", rec.Scope, rec.Key, err)
	}
	rec.Version = uint64(version)
	rec.Request, rec.Reply.Body = request, body
	rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt = parseInstant(windowFrom), parseInstant(leaseUntil), parseInstant(expiresAt)
	return nil
}

// Instants stand in the database as nanoseconds since 1970, the zero time as
// the least integer, so that it sorts before all others.
const zeroInstant = math.MinInt64

var (
	earliest = time.Unix(0, zeroInstant+1).UTC()   // in 1677
	latest   = time.Unix(0, math.MaxInt64-1).UTC() // in 2262
)

func instant(t time.Time) int64 {
	if t.IsZero() {
		return zeroInstant
	}
	return t.UnixNano()
}

// instantBound is the instant for a comparison, where one that the schema
// cannot hold is beyond all that it holds.
func instantBound(t time.Time) int64 {
	switch {
	case !t.After(time.Time{}):
		return zeroInstant
	case t.Before(earliest):
		return zeroInstant + 1
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func parseInstant(n int64) time.Time {
	if n == zeroInstant {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// blob scans bytes and keeps none (NULL) and empty apart.
type blob []byte

// Scan implements [sql.Scanner].
func (b *blob) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = append([]byte{}, src...)
	default:
		return fmt.Errorf("a blob is %T", src)
	}
	return nil
}

// encodeHeader writes name and value of each field, each after its length as
// an unsigned varint. Header fields are bytes, not text, to this package.
func encodeHeader(fields []impl.HeaderField) []byte {
	if fields == nil {
		return nil
	}
	size := 0
	for _, f := range fields {
		size += len(f.Name) + len(f.Value) + 2*binary.MaxVarintLen16
	}
	b := make([]byte, 0, size)
	for _, f := range fields {
		for _, s := range [...]string{f.Name, f.Value} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
	}
	return b
}

var errHeader = errors.New("the stored headers are damaged")

func decodeHeader(b []byte) ([]impl.HeaderField, error) {
	if b == nil {
		return nil, nil
	}
	fields := make([]impl.HeaderField, 0, 4)
	for len(b) > 0 {
		var pair [2]string
		for i := range pair {
			n, size := binary.Uvarint(b)
			if size <= 0 || n > uint64(len(b)-size) {
				return nil, errHeader
			}
			b = b[size:]
			pair[i], b = string(b[:n]), b[n:]
		}
		fields = append(fields, impl.HeaderField{Name: pair[0], Value: pair[1]})
	}
	return fields, nil
}
