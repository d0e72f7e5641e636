// Package behaviour plays the behaviours of the protocol's model on the code.
//
// The model (package protocol) and its twin in TLA+ prove that the protocol is
// right. That proves nothing of the code, unless the code does what the model
// says. So every transition of a bounded world of the model once becomes a
// script: a shortest behaviour that leads to its state, and the transition. The
// script is played on the reference service itself, with its handler, its
// reconciler and the registry in memory. Each run of the model is a coroutine
// that stops at every call of a port. An action lets its run go on, and the run
// must then ask for exactly the calls that the action stands for: a claim is an
// insert, a look-up reads the clock first, a crash is that nothing is answered
// any more. After each action the record, the provider's ledger, where every
// run stands and what was told must be what the model says.
//
// The model has no clocks, but facts: the lease is over, no send can land any
// more. The code has clocks. So before a script is played, instants are looked
// for: when each step happens and what each clock says then, such that every
// clock leads the code to where the model goes, no fact comes true before some
// clock can tell, and all keep to the assumptions of a configuration that
// Validate takes. Clocks differ by the allowed skew, messages live as long as
// they may, and look-ups lag. These are requirements on differences only, so
// that they are met or contradict each other. A transition whose requirements
// contradict each other is impossible, and counted by what contradicts. The
// rest must be played.
//
// What it does not do: look for what the code does beyond the model. Runs that
// are recorded and judged by the model are the matter of other packages. Nor
// does it bound how long an unacknowledged write may take.
//
// In the model a finished record is forgotten at once; in the code by two
// sweeps, the second for the tombstone, and nobody is let in between. In the
// model "in progress" is also what a client hears if the registry does not
// answer. And the owner of a run that is over is nobody.
//
// The rule it keeps: the model says what happens, the instants say when, and
// the package itself decides nothing. It answers the code's calls and compares.
package behaviour
