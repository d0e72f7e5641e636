// Package linearizability judges recorded histories against the sequential
// specification of package model: could what was seen happening at once have
// happened one thing after the other, each at an instant between its call and its return,
// so that every step is one that a system which keeps its promises can take?
//
// It judges each operation by itself: an order of a client, with the keys under
// which it was asked for and whatever other orders came under the same keys.
// Charges and refunds are operations of their own, at the instant at which
// they stand in the ledger. An attempt that was never answered, or answered
// with "ask again", may have reached the service at any later time, or never.
// The clock is the position in the history: of two events at equal times, the
// one that stands first happened first.
//
// Orders are first tried in the order in which they were recorded: if that is
// a run of the specification, nothing needs to be searched. Otherwise the
// search is Porcupine's.
//
// It does not look inside the service (that is for the invariants of package
// invariant), and says nothing of what should have happened and did not.
// Lines that contradict each other are history.WellFormed's, which should
// be asked first.
//
// The rule it keeps: a verdict of held or violated is exact. Whatever could
// not be searched to the end is undecided, which is no pass.
package linearizability
