// Package fingerprint digests the significant parameters of a request, so
// that a key that comes back with other parameters is noticed.
//
// Two requests have one fingerprint exactly when they go to one endpoint and
// their bodies mean the same JSON value: the order of an object's members,
// white space and the way a string is escaped do not matter, anything else
// does. The canonical body is RFC 8785 (JCS) with one deliberate departure:
// an integer literal keeps all its digits. JCS reads every number as a
// float64, where 9007199254740993 and 9007199254740992 are one number and two
// amounts would share a fingerprint.
//
// What numbers come to:
//   - -0 and 0 are equal, so are 1.0 and 1, 1e2 and 100, 0.10 and 0.1;
//   - an integer literal of any length is kept: 10000000000000000000000;
//   - a literal with a fraction or an exponent whose value the shortest
//     float64 form does not reproduce (9007199254740993.0, 1e400, 1e-400,
//     0.1000000000000000000001) is refused, since another value would share
//     its canonical form;
//   - from 1e21 on, an exponent form and the integer literal of the same value
//     differ. That errs to the safe side: a mismatch, never a wrong match.
//
// It does not know which members are significant: all are. It does not look
// at what they mean. The rule it keeps: no two different requests share a
// canonical form, and what cannot be told apart exactly is refused.
package fingerprint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBody is the longest body that is accepted, in bytes, before
// canonicalization.
const MaxBody = 64 << 10

// What a body is refused for. Match with errors.Is.
var (
	// ErrEmpty is returned for a body of no bytes: it was most likely read
	// before, and all such bodies would be equal.
	ErrEmpty = errors.New("fingerprint: the body is empty")
	// ErrTooLarge is returned for a body longer than MaxBody.
	ErrTooLarge = fmt.Errorf("fingerprint: the body is longer than %d bytes", MaxBody)
	// ErrSyntax is returned for a body that is not one I-JSON value (RFC
	// 7493): malformed, not UTF-8, an unpaired surrogate, a member twice.
	ErrSyntax = errors.New("fingerprint: the body is not one JSON value with unique members")
	// ErrNumber is returned for a number that a float64 does not hold
	// exactly enough to be told from its neighbours. The error is a
	// [*NumberError].
	ErrNumber = errors.New("fingerprint: the number has more digits or a larger exponent than can be compared exactly")
)

// NumberError is ErrNumber with the literal.
type NumberError struct {
	Literal string // as it stands in the body
	Offset  int    // of the literal in the body, in bytes
}

func (e *NumberError) Error() string {
	literal := e.Literal
	if len(literal) > 40 {
		literal = literal[:37] + "..."
	}
	return fmt.Sprintf("%v: %s at offset %d", ErrNumber, literal, e.Offset)
}

// Is makes errors.Is(err, ErrNumber) hold.
func (e *NumberError) Is(target error) bool { return target == ErrNumber }

// Print is what a request is known by.
type Print struct {
	// Digest is "v1." and the SHA-256, in unpadded URL-safe base64, of the
	// endpoint and the canonical body, each after its length as eight bytes,
	// big-endian. The prefix changes whenever any of this does, so that
	// digests of two versions never meet.
	Digest string
	// Canonical is the body as canonical JSON. It shares no memory with the
	// body it was made from.
	Canonical []byte
}

const (
	version    = "v1."
	lengthSize = 8
)

var canonical = []jsontext.Options{
	jsontext.CanonicalizeRawInts(false),
	jsontext.CanonicalizeRawFloats(true),
	jsontext.ReorderRawObjects(true),
}

// Of returns the fingerprint of a request to an endpoint ("POST /payments").
// It returns ErrEmpty, ErrTooLarge, ErrSyntax or ErrNumber for a body that
// has none.
func Of(endpoint string, body []byte) (Print, error) {
	switch {
	case len(body) == 0:
		return Print{}, ErrEmpty
	case len(body) > MaxBody:
		return Print{}, ErrTooLarge
	}
	// One buffer serves the digest and, as its tail, the canonical body.
	head := lengthSize + len(endpoint) + lengthSize
	buf := make([]byte, 0, head+len(body))
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(endpoint)))
	buf = append(buf, endpoint...)
	buf = append(buf, make([]byte, lengthSize)...)
	buf, err := jsontext.AppendFormat(buf, body, canonical...)
	if err != nil {
		return Print{}, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if err := checkNumbers(body); err != nil {
		return Print{}, err
	}
	binary.BigEndian.PutUint64(buf[head-lengthSize:], uint64(len(buf)-head))
	return Print{Digest: digest(buf), Canonical: buf[head:len(buf):len(buf)]}, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	text := [len(version) + 43]byte{}
	copy(text[:], version)
	base64.RawURLEncoding.Encode(text[len(version):], sum[:])
	return string(text[:])
}

// checkNumbers finds the numbers of a valid JSON text that are no integer
// literals and refuses the first that canonicalization would change.
func checkNumbers(body []byte) error {
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '"':
			i = afterString(body, i)
		case c == '-' || isDigit(c):
			end, integer := afterNumber(body, i)
			if !integer && !exact(body[i:end]) {
				return &NumberError{Literal: string(body[i:end]), Offset: i}
			}
			i = end
		default:
			i++
		}
	}
	return nil
}

// afterString returns the index after the string that starts at i.
func afterString(body []byte, i int) int {
	for i++; body[i] != '"'; i++ {
		if body[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// afterNumber returns the index after the number that starts at i, and
// whether it has neither fraction nor exponent.
func afterNumber(body []byte, i int) (end int, integer bool) {
	integer = true
	for ; i < len(body); i++ {
		switch c := body[i]; {
		case isDigit(c) || c == '-' || c == '+':
		case c == '.' || c == 'e' || c == 'E':
			integer = false
		default:
			return i, integer
		}
	}
	return i, integer
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// exact reports whether a literal has the value of the shortest decimal that
// reads back as its float64, which is what stands in the canonical form. The
// float64 is the nearest one, so the two are less than a factor of ten apart
// unless one of them is zero, and equal digits are equal values.
func exact(literal []byte) bool {
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil {
		return false // beyond the largest float64
	}
	var scratch [32]byte
	return equalDigits(significand(literal), significand(strconv.AppendFloat(scratch[:0], f, 'e', -1, 64)))
}

// significand returns the part of a number from its first to its last digit
// that is not zero, empty for zero. The decimal point is still in it.
func significand(literal []byte) []byte {
	first, last := -1, -1
	for i, c := range literal {
		if c == 'e' || c == 'E' {
			break
		}
		if '1' <= c && c <= '9' {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return nil
	}
	return literal[first : last+1]
}

// equalDigits compares two significands without their decimal points.
func equalDigits(a, b []byte) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == '.':
			a = a[1:]
		case b[0] == '.':
			b = b[1:]
		case a[0] != b[0]:
			return false
		default:
			a, b = a[1:], b[1:]
		}
	}
	return len(a) == len(b)
}
