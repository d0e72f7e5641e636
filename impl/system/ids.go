package system

import (
	"crypto/rand"

	"github.com/chargeonce/chargeonce/impl"
)

// RandomIDs draws names from the operating system's cryptographic source. It
// implements [impl.IDs]; the zero value is ready to use.
//
// Every name is 26 characters out of A-Z and 2-7 and holds 130 random bits, so
// that names never repeat, whatever the number of processes that draw them,
// and nobody guesses another client's key. It is shorter than any provider's
// or registry's bound and needs no quoting anywhere.
type RandomIDs struct{}

var _ impl.IDs = RandomIDs{}

// Key returns a fresh idempotency key.
func (RandomIDs) Key() string { return rand.Text() }

// Owner returns a fresh fencing token.
func (RandomIDs) Owner() string { return rand.Text() }
