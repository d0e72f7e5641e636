// Package idemkey bounds the client's idempotency key and derives the
// provider's key from it.
package idemkey

// MaxLength is the longest key that a client may send, in bytes.
const MaxLength = 255

// Parse returns the key if it has valid syntax.
func Parse(s string) (string, error) { return s, nil }

// Derive returns the provider key of an operation.
func Derive(scope, key, verb string, sequence int) string { return scope + key + verb }
