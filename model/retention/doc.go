// Package retention is the forgetting of the idempotency-key protocol as a
// finite state machine: when a finished operation may be forgotten, with
// attempts that travel, inserts that land late and clocks that differ.
//
//	Retention ≥ Horizon + 2·Life + Skew
//
// It is the Go twin of the specification Retention in TLA+: the same
// variables, the same actions under the same names, the same defects, the same
// invariants, and so the same reachable states, state for state. What a name
// means, and why each thing that is left out may be left out, is said there.
//
// The package holds pure functions over small values: [Initial] and [Next]
// make states, [Invariants] and [StepInvariants] judge them. It does not
// search; it has no clock and no randomness. Time is a number in the state:
// every instant is kept as its distance from now, in ticks.
//
// # The rule it keeps
//
// A [State] is canonical: two states that mean the same are equal as Go
// values. An instant saturates where no comparison can tell it apart from an
// earlier one, and what was told is a set of bits.
package retention
