// Package window is the other half of the idempotency-key protocol as a finite
// state machine: the two questions that it asks of a clock, with clocks that
// are never right.
//
//	may I still send?      t + Life + Skew < from + Window
//	can no send land?      t > until + Life + Lag + Skew
//
// It is the Go twin of the specification Window in TLA+: the same variables,
// the same actions under the same names, the same defects, the same
// invariants, and so the same reachable states, state for state. What a name
// means, and why each thing that is left out may be left out, is said there.
//
// The package holds pure functions over small values: [Initial] and [Next]
// make states, [Invariants] judge them. It does not search; it has no clock and
// no randomness. Time is a number in the state: every instant is kept as its
// distance from now, in ticks.
//
// # The rule it keeps
//
// A [State] is canonical: two states that mean the same are equal as Go
// values. An instant saturates where no comparison can tell it apart from an
// earlier one, and a set of messages is a set of bits.
package window
