package behaviour

import "strings"

// bound is an instant that the code compares a clock with.
type bound uint8

// The bounds, by what is behind them.
const (
	leaseEnd   bound = iota // others may resolve
	sendEnd                 // the owner may not send any more
	death                   // no send that the lease permitted can land unseen
	roomEnd                 // no take-over: the window has no room for a healthy run
	guardEnd                // no send: the provider may forget the key
	horizonEnd              // no attempt can come any more
	expiry                  // the reply may be dropped
	boundCount
)

// reasons are what something is required of instants for.
type reasons uint32

// The assumptions that are reasons. After them come two for each bound: a
// clock says that it is ahead, or that it is behind.
const (
	closeClocks   reasons = 1 << iota // AS, and that time goes on
	shortLife                         // A2
	keyWindow                         // A1
	askingHorizon                     // A4
	lookupLag                         // A5
	otherRecord                       // a run whose record has changed had not read what would lead there
	otherFacts                        // no clock that agrees with the model's facts leads there
	firstBound
)

func (b bound) ahead() reasons  { return firstBound << (2 * b) }
func (b bound) behind() reasons { return firstBound << (2*b + 1) }

var reasonNames = [...]string{
	"clocks are close",
	"A2 a message lands within its life", "A1 keys are kept for the window", "A4 attempts come before the horizon", "A5 look-up lags no longer",
	"the run has read another record", "no clock that agrees with the facts leads there",
	"the lease runs", "the lease is over",
	"the owner may send", "the owner's lease is over",
	"a send may still land", "no send can land",
	"there is room in the window", "there is no room in the window",
	"the window is open", "the window is closed",
	"somebody may ask", "nobody can ask",
	"the record is kept", "the record has expired",
}

// String returns the reasons in words.
func (r reasons) String() string {
	var all []string
	for i, name := range reasonNames {
		if r>>i&1 == 1 {
			all = append(all, name)
		}
	}
	return strings.Join(all, "; ")
}
