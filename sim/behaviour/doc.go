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
// contradict each other in every deployment that is tried is impossible, and
// counted by what contradicts: no window ends while the first lease runs. The
// rest must be played. That the model has such transitions is no fault: it has
// no clocks, and is the more careful for it.
//
// That is [Tour]. [Read] turns the question round: in every state that the code
// was led to, each run that goes by its clock is given whatever that clock may
// say, and the model must have a step for what the run does. Nothing else is
// left open: what the registry, the provider and the network do to a run is an
// action of the model, and between its calls the code decides nothing.
//
// What it does not do: let time go on between the calls of one action, between
// the clock and the look-up say. Longer and wider runs, recorded and judged by
// the model, are the matter of other packages. Nor does it bound how long an
// unacknowledged write may take.
//
// Some things that the model does not tell apart are played both ways: each
// script as late as its requirements let it be and as soon, so that clocks come
// to every bound from both sides; a write that is not applied as a refusal and
// as silence; a run that ends without effect as a crash and as a read that
// fails. Others look different in the code. A finished record, which the model
// forgets at once, is dropped by sweeps: body, nothing yet, tombstone; nobody is
// let in between. "In progress" in the model is also what a client hears if the
// registry does not answer. And the owner of a run that is over is nobody.
//
// The rule it keeps: the model says what happens, the instants say when, and
// the package itself decides nothing. It answers the code's calls and compares.
package behaviour
