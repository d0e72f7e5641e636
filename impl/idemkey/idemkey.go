// Package idemkey bounds the client's idempotency key and derives the
// provider's key from it.
//
// A key is what remains of the Idempotency-Key header after its structured
// field String (RFC 9651; draft-ietf-httpapi-idempotency-key-header-07) is
// unquoted: printable ASCII, where a String may hold spaces. It is compared
// byte for byte; nothing is trimmed, folded or normalized, since two spellings
// that one party takes for one key and another for two are a second charge.
// For the same reason a key that begins or ends with a space is refused:
// somebody on the way may trim it.
//
// It does not read the header and it does not judge how well a key was
// chosen; one per operation, and never another for a retry, is the client's
// part. The rule it keeps: a provider key depends on the operation alone,
// never on anything that changes from attempt to attempt.
package idemkey

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxLength is the longest key that a client may send, in bytes. The draft
// leaves it to the resource; 255 is what Stripe documents.
const MaxLength = 255

// What a key is refused for. Match with errors.Is.
var (
	// ErrEmpty is returned for a key of no bytes.
	ErrEmpty = errors.New("idemkey: the key is empty")
	// ErrTooLong is returned for a key of more than MaxLength bytes.
	ErrTooLong = fmt.Errorf("idemkey: the key is longer than %d bytes", MaxLength)
	// ErrCharacter is returned for a byte that is not printable ASCII, and
	// for a space at either end. The error is a [*CharacterError].
	ErrCharacter = errors.New("idemkey: the key may hold printable ASCII only, and no space at its ends")
)

// CharacterError is ErrCharacter with the place.
type CharacterError struct {
	Offset int // of the byte in the key
	Byte   byte
}

func (e *CharacterError) Error() string {
	return fmt.Sprintf("%v: byte 0x%02x at offset %d", ErrCharacter, e.Byte, e.Offset)
}

// Is makes errors.Is(err, ErrCharacter) hold.
func (e *CharacterError) Is(target error) bool { return target == ErrCharacter }

// Parse returns s, unchanged, if it is a key: 1 to MaxLength bytes of
// printable ASCII (0x20 to 0x7e) that neither begin nor end with a space. It
// returns ErrEmpty, ErrTooLong or ErrCharacter otherwise.
func Parse(s string) (string, error) {
	switch {
	case len(s) == 0:
		return "", ErrEmpty
	case len(s) > MaxLength:
		return "", ErrTooLong
	}
	for i := range len(s) {
		atEnd := i == 0 || i == len(s)-1
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && atEnd {
			return "", &CharacterError{Offset: i, Byte: c}
		}
	}
	return s, nil
}

// Derive returns the provider key of one send of an operation: 46 characters
// out of A-Z, a-z, 0-9, "-" and "_", within the 64 that the most narrow of the
// providers allows (Adyen).
//
// The verb is what is asked of the provider ("charge", "refund"). The sequence
// is 1, and goes up only after a definite "no" that was written down: rotating
// the key while a send may live is a second charge.
//
// It is "v1-" and the SHA-256, in unpadded URL-safe base64, of scope, key and
// verb, each after its length as eight bytes, and of the sequence as eight
// bytes, all big-endian. Lengths come first, so no two operations run
// together. It is derived and not drawn, so it survives the loss of the
// record; and it must never change for an operation that is under way, so
// another derivation needs another prefix and a rule for the records that
// are there.
func Derive(scope, key, verb string, sequence int) string {
	var space [512]byte // enough for most, so that nothing is allocated
	b := space[:0]
	for _, part := range [...]string{scope, key, verb} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(sequence))
	sum := sha256.Sum256(b)
	text := [len(version) + 43]byte{}
	copy(text[:], version)
	base64.RawURLEncoding.Encode(text[len(version):], sum[:])
	return string(text[:])
}

const version = "v1-"
