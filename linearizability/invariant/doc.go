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
//     silent, and Resolves asks for answers only;
//   - a record is compared with an operation only if both state the same
//     fingerprint, and a retention is measured only from a first attempt;
//   - a reply that names a charge without a ledger line is a lie only if the
//     history has a ledger, which is seen by its first line;
//   - a customer may be given the money back: a refund after "paid" is judged
//     only where the header says Complete or Compensates.
//
// Lines that name a record always need its scope and key. A Complete history
// has its ledger too, and a zero in it is a value, except that a call need not
// state its money. The
// liveness invariants are judged after the events heal and, for Resolves,
// end: whoever writes these lines says that everything had time to converge.
//
// What the lines mean, where more than one reading is possible:
//
//   - Operation names an intent, unique in the history; it may be asked for by
//     more than one client, and one final answer to any of them ends it.
//   - The fingerprints of Call and Write events come from one digest; a design
//     that binds its record to anything else breaks FingerprintBound.
//   - A charge of other parameters than its intent was called with breaks
//     FingerprintBound; a reply that names other money than was captured
//     breaks TruthfulReply.
//   - A fencing token is judged within one record, where it fences. It belongs
//     to the run that first wrote it there and, once another run's token has
//     replaced it, does not come back.
//   - "Gone" is a final reply too, and breaks StableReply while the record still
//     keeps the reply.
//   - "Declined" is judged when it is told and when a record says so: a design
//     that compensates has no more right to it than another.
//   - A record whose scope begins with "audit " is the bookkeeping of a design
//     that compensates; it belongs to the operation whose scope follows.
//     FencedWrites, TerminalIsFinal, SafeRetention and Resolves hold for it,
//     and it carries the same provider key; nothing else reads it.
//   - Provider keys without a keyed provider are references: what is sent and
//     captured under one must be stable, but has no window.
package invariant
