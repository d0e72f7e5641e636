// Package explore visits every reachable state of a finite model and judges
// what is asked of it: what holds in all states and steps, what some state
// must show, and what every fair behaviour must come to.
//
// It knows nothing of payments. A [Model] is plain functions over a small
// state; [Explore] searches it breadth first and returns a [Result] whose
// counterexample is a shortest one. The counts (distinct, generated, depth)
// mean what TLC means by them, so that a model in Go and its twin in TLA+ can
// be held against each other number by number.
//
// It does not sample and does not guess: a search that was stopped, by the
// context or by [Options.MaxBytes], says [Incomplete] and never [Held]. It
// does not write to disk: the memory of the machine is the limit.
//
// # The rule it keeps
//
// A result depends on the model and the options, and never on Workers or on
// timing. Everything whose order could matter is numbered before it is handed
// out: a round takes the next states of the level in a fixed order, cuts them
// into a fixed number of segments, and the steps of all segments are committed
// in the order of the segments. Workers only decide who does which piece. So
// the first parent found is always the same, and so are the counterexample,
// the counts and the bytes. (The order follows the fingerprints, and these
// follow the bytes of the state: a machine of the other byte order may show
// another counterexample, equally short.)
//
// # How it works
//
// The set of states is cut into 256 partitions by the top bits of the
// fingerprint. Expanding a state writes its successors into one bucket for
// each partition; then each partition takes its buckets in, alone, without a
// lock or an atomic, in a table that is small enough for a cache near the
// core. A table is open addressing over 64-bit fingerprints, with the parent
// beside each: 16 bytes a slot, between a half and three quarters full. The
// states themselves are kept only while they wait to be expanded; a
// counterexample is found by walking the parents back and the model forth.
//
// Two states of one fingerprint would be taken for one.
// [Result.CollisionProbability] bounds how likely that was.
// [Options.Exact] keeps the states and compares them, and so does every
// search that has a liveness property.
//
// # Liveness
//
// The behaviours of a model are those of TLA+: infinite sequences of states,
// each a step of Next or a stutter, that are fair by [Model.Fairness]. A
// liveness property is violated if there is a reachable cycle (a state that
// stutters for ever is one) that is fair and stays where the property does not
// want it. Cycles are found as strongly connected components of the
// reachable graph; a component that is unfair to a strongly fair condition is
// cut where that condition is enabled, and searched again. Bits that are
// carried along a path would be quicker and would miss violations where paths
// join.
package explore
