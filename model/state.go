package model

import (
	"slices"

	"github.com/chargeonce/chargeonce/model/history"
)

// MaxNet is how many net charges of one order are told apart. Where surplus
// charges are refunded later, more than that at once cannot be judged.
const MaxNet = 8

// Money is an amount with its currency. The zero value is not stated, and
// agrees with any.
type Money struct {
	Minor    int64  // minor units
	Currency string // ISO 4217
}

func (m Money) agrees(o Money) bool { return m == o || m == Money{} || o == Money{} }

// Parameters are what an attempt asks for.
type Parameters struct {
	Fingerprint string
	Money       Money
}

// Reply is a final answer, as far as every attempt must be told the same.
type Reply struct {
	Outcome history.Outcome
	Status  int    // HTTP status
	Body    uint64 // digest of headers and body
	Charge  string // the provider's id of the kept charge; empty if it is not told
}

// Key is what has been promised under one idempotency key.
type Key struct {
	Bound Parameters // of the first attempt that reached the service; zero before
	Final Reply      // what was told first; zero before
	Gone  bool       // somebody was told that the reply is no longer kept
}

// Told is what the client of an order may believe of the money.
type Told uint8

// What it may believe.
const (
	ToldNothing    Told = iota
	ToldPaid            // one charge is kept
	ToldNotCharged      // no charge is there and none will come
)

// Order is the money of one order and what its client was told of it. As long
// as every step is allowed, ToldPaid means at least one net charge and
// ToldNotCharged none.
type Order struct {
	Net   [MaxNet]string // the net charges, oldest first, then empty strings
	Money Money          // of the charges
	Told  Told
	Kept  string // ToldPaid: the charge that was named, if one was
}

// Charges returns how many net charges there are.
func (o *Order) Charges() int {
	n := 0
	for n < MaxNet && o.Net[n] != "" {
		n++
	}
	return n
}

func (o *Order) has(charge string) bool {
	return charge != "" && slices.Contains(o.Net[:], charge)
}

// State is one operation as clients may see it: a key, and the order that is
// paid under it. It is comparable, and the zero value is before everything.
type State struct {
	Key   Key
	Order Order
}
