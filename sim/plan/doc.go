// Package plan is the language in which a run is told: sites, choices, and
// the plan, which is the set of choices that are not benign.
//
// Whenever the simulated world could go more than one way it asks, at a
// [Site], and gets a [Choice]; the benign choice is the zero value. A site's
// name depends only on the run so far and is unique in the run, so a plan
// means the same after one of its lines was removed, and after the code under
// test has changed. A plan names each [Part] of its scenario that it is
// without, so that the names of the others stay. A [Plan] prints as lines that
// a person reads and edits, and parses back; the order of its deviations does
// not matter.
//
// The package knows the vocabulary and nothing of the world: what a choice
// does, and whether it took effect, is the simulator's. The rule it keeps:
// String and Parse are inverse, for every word.
package plan
