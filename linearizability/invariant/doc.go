// Package invariant checks the named invariants of a payment history while
// it happens: a [Checker] is given the events of package history one by one
// and keeps the first violation of each invariant, with one sentence that
// says what went wrong and how much money it was. [Name] lists the invariants
// and what each of them says.
//
// It does not judge linearizability, nor whether a step is a step of the
// protocol; [Linearizable] and [Refines] are only names here. It does not
// know any implementation: an event is all it sees.
//
// The rule it keeps: an absent line proves nothing. A header field that is
// zero is not stated, and what depends on it is not judged. Unless the header
// says Complete,
//
//   - a field that is zero is not stated either, and equals everything;
//   - what a record or a send ought to have looked like is not judged, only
//     what the lines say that are there: FencedWrites and SentJournaled are
//     silent;
//   - a reply that names a charge without a ledger line is a lie only if the
//     history has a ledger, which is seen by its first line;
//   - a customer may be given the money back: a refund after "paid" is judged
//     only where the header says Complete or Compensates.
//
// A Complete history has its ledger too, and a zero in it is a value. The
// liveness invariants are judged after the events heal and, for Resolves,
// end: whoever writes these lines says that everything had time to converge.
//
// What the lines mean, where more than one reading is possible:
//
//   - Operation names an intent, unique in the history; it may be asked for by
//     more than one client, and one final answer to any of them ends it.
//   - The fingerprints of Call and Write events come from one digest.
//   - A charge of other parameters than its intent was called with breaks
//     FingerprintBound; a reply that names other money than was captured
//     breaks TruthfulReply.
//   - A fencing token is judged within one record, where it fences. It belongs
//     to the run that first wrote it there and, once another run's token has
//     replaced it, does not come back.
//   - A record whose scope begins with "audit " is the bookkeeping of a design
//     that compensates; it belongs to the operation whose scope follows.
//     FencedWrites, TerminalIsFinal, SafeRetention and Resolves hold for it,
//     and it carries the same provider key; nothing else reads it.
//   - Provider keys without a keyed provider are references: what is sent and
//     captured under one must be stable, but has no window.
package invariant
