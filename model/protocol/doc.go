// Package protocol is the idempotency-key protocol as a finite state machine:
// one operation, named by one key, that must be charged once although messages
// are lost, doubled and delayed, processes die at any point, and writes are
// applied late or without an acknowledgement.
//
// It is the Go twin of the specification ChargeOnce in TLA+: the same
// variables, the same actions under the same names, the same defects, the same
// invariants, and so the same reachable states, state for state. TLC checks
// the one and a search in Go the other, and each keeps the other honest. What
// a name means, and why each thing that is left out may be left out, is said
// there and not repeated.
//
// The package holds pure functions over small values: [Initial] and [Next]
// make states, [Invariants] and [StepInvariants] judge them. [Take] follows one
// action where something else has chosen it, with [Config.Unbounded] for as
// long as it likes. The package does not search; it has no clock and no
// randomness, and knows neither the implementation nor the simulator.
//
// # The rule it keeps
//
// A [State] is canonical: two states that mean the same are equal as Go values
// and have the same encoding. Sets are kept sorted, what no longer matters is
// zero, and the owner token of a run that is over is [Gone].
package protocol
