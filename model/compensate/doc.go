// Package compensate is the protocol towards a provider without keys, whose
// client cannot wait until a lost send is dead, as a finite state machine: an
// operation is sent again at once, which may charge twice, and what was
// charged too much is given back. One net charge holds in the end and not
// always.
//
// It is the Go twin of the specification Compensate in TLA+: the same
// variables, the same actions under the same names, the same defects, the same
// invariants, and so the same reachable states, state for state. What a name
// means, and why each thing that is left out may be left out, is said there.
//
// The package holds pure functions over small values: [Initial] and [Next]
// make states, [Invariants] and [StepInvariants] judge them. It does not
// search; it has no clock and no randomness, and knows neither the
// implementation nor the simulator.
//
// # The rule it keeps
//
// A [State] is canonical: two states that mean the same are equal as Go
// values. Sets are kept sorted or as bits, what no longer matters is zero, and
// the owner token of a run that is over is [Gone].
package compensate
