// Package refine judges whether what a run of the whole system did inside is a
// behaviour of the protocol model: each step a legal action of the model, and
// the state after it the one that the system was in.
//
// The model has one operation; a run of the system has several. Operations
// share nothing, so each has a state of the model of its own, and each step is
// about one of them: a behaviour of the system is the interleaving of
// behaviours of the model. Steps are judged when the run is over, so that the
// checker may look ahead at what a run did with what it had read.
//
// How the steps are told in the words of the model:
//
//   - A call that its caller heard of is one action, at the instant at which
//     the registry or the provider carried it out: nobody else sees where the
//     caller is in between. One that it did not hear of is two: the call is
//     unanswered, and the write or the charge lands, then, later, or never.
//   - A read or a look-up without an answer ends its run without effect, as a
//     crash does.
//   - A claim of which the answer to a doubled request was heard is that of a
//     run which nobody has: it claims and dies, and the caller follows it.
//   - Time has no steps. "The lease is over", "no send can land any more", "the
//     window is closed" and "nobody can ask" are facts that come true once. The
//     checker lets each come true when a run acts on it, and not before some
//     clock can say so, or else as soon as every clock says so. Between the two a
//     run whose clock is behind may read the fact as not yet so.
//   - A tombstone is a record that was collected; its deletion is nothing.
//   - An attempt that arrived before nobody could ask, and reads after, is an
//     unanswered claim that is followed by its read.
//
// What it does not do: judge what the model promises (that is the model's), or
// runs in which an assumption is broken. A [Divergence] says that the running
// code and the model are not the same protocol; one of them is wrong.
//
// The rule it keeps: a run is only found to refine the model if there is a
// behaviour of the model with the same writes, landings and answers in the same
// order. The checker finds it without a search: what it cannot know when a step
// happens, it knows from what the run did next.
package refine
