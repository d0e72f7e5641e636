// Package history is what was seen of a payment system: what its clients
// asked and were told, what the provider's ledger shows, and, optionally,
// what happened inside. A simulator makes histories, and so can the log of
// any other system; the checkers judge both alike.
//
// It does not judge whether money moved rightly. [WellFormed] finds lines
// that contradict each other or themselves; the rest is for the checkers.
//
// The rule it keeps: what [Writer] writes, [Reader] reads back as equal
// values, and writing those gives equal bytes. What is not exactly in the
// format is refused with the number of the line, never guessed at.
//
// # The format
//
// JSON Lines (UTF-8, one object a line, each line ended by a newline). The
// first line is the header:
//
//	{"format":"chargeonce history","version":1,"retry_horizon_ns":60000000000}
//
// Each further line is an event, in the order in which things happened:
//
//	{"kind":"call","at_ns":10,"process":"client-1","operation":"order-7","attempt":1,"scope":"4:acme POST /payments","key":"k7","fingerprint":"f7","amount":1250,"currency":"EUR"}
//	{"kind":"charge","at_ns":25,"process":"provider","operation":"order-7","amount":1250,"currency":"EUR","charge":"ch_1","provider_key":"p7"}
//	{"kind":"return","at_ns":40,"process":"client-1","operation":"order-7","attempt":1,"scope":"4:acme POST /payments","key":"k7","amount":1250,"currency":"EUR","outcome":"paid","status":201,"body":"00000000000000a1","charge":"ch_1"}
//	{"kind":"end","at_ns":50}
//
// The order of the lines is the order of the events, also where at_ns is the
// same. Lines of several machines must therefore be merged by a clock that
// all of them trust: a charge that is written after the answer that tells of
// it is a violation.
//
// A member that is zero, false or the empty string means the same as a member
// that is absent; a writer leaves it out. An unknown member, a member twice,
// or a member that does not go with the kind is an error.
//
// # The header
//
// A member that is absent states nothing, and what depends on it is not
// judged.
//
//   - format: "chargeonce history", always.
//   - version: 1.
//   - retry_horizon_ns: how long after its first attempt a client may still
//     send a key.
//   - provider_window_ns: how long the provider collapses equal keys.
//   - settled_ns: how long after healing an operation that is asked for may
//     take to get its final answer.
//   - keyless: true if the provider has no keys, so that a send needs a
//     record in state sent.
//   - once: true if, without keys, no second send is ever allowed.
//   - compensates: true if surplus charges are refunded, so that "one net
//     charge" holds only at the end.
//   - complete: true if the events send, write and forget are all there.
//
// # The kinds
//
// Each kind with the members it must have. The members process, operation,
// attempt, scope and key may stand on any line but heal and end.
//
//   - call: an attempt was sent to the service. Must have process, operation,
//     attempt, fingerprint; may have amount and currency.
//   - return: an attempt was answered. Must have process, operation, attempt,
//     outcome, status; may have amount and currency, body, replayed, charge.
//     An attempt has one return or one unanswered at most.
//   - unanswered: an attempt got no answer in time; it may still take effect.
//     Must have process, operation, attempt.
//   - give-up: the client stopped asking without a final answer. Must have
//     process, operation.
//   - charge: the ledger: money was captured. Must have operation, amount,
//     currency, charge; may have provider_key.
//   - absorbed: the ledger: a charge request moved no money, since its key was
//     known. May have provider_key, and the charge, amount and currency that
//     it was answered with.
//   - refusal: the ledger: a charge request was declined. May have
//     provider_key, and the amount and currency that were asked for.
//   - refund: the ledger: a charge was given back in full. Must have operation,
//     charge; may have amount and currency, those of the charge.
//   - crash: a process died and lost its memory. Must have process.
//   - send: a charge request left a process for the provider. May have
//     provider_key, request, run.
//   - write: the registry applied a write. Must have state, version; may have
//     fingerprint, outcome, status, body, charge, provider_key, request, owner,
//     run, insert, tombstone, window_from_ns, lease_until_ns.
//   - forget: the registry deleted a record. Must have version.
//   - heal: the faults are over: from here on everything must converge.
//   - end: nothing more will happen. It can only be the last line. A recording
//     without it may have been stopped at any moment, and what must hold at
//     the end is not judged.
//
// # The members
//
// In the order in which they are written:
//
//   - kind: string, one of the above.
//   - at_ns: integer, nanoseconds since the start of the history; never less
//     than on the line before.
//   - process: string, who: "client-1", "server-2", "provider".
//   - operation: string, the client's intent: one order that is to be paid
//     once. It is the observer's knowledge (an order number in the provider's
//     metadata, say), not the idempotency key: a client that pays one order
//     under two keys is found by it.
//   - attempt: integer from 1. Operation, process and attempt together name
//     one attempt.
//   - scope: string, tenant and endpoint; keys of two scopes have nothing to do
//     with each other.
//   - key: string, the idempotency key. Absent: the attempt had none. A
//     return may leave it out, and scope too: they are those of the call.
//   - fingerprint: string, a digest of the parameters. Only equality matters.
//   - amount: integer of minor units (cents), at least 1; and
//   - currency: string; both or none.
//   - outcome: string: paid, declined, failed, mismatch, gone, refused,
//     in-progress or unavailable. In a write: what the record will tell.
//   - status: integer, the HTTP status. It must fit the outcome ([Outcome.Fits]).
//   - body: string of 16 lower-case hexadecimal digits, a 64-bit digest of
//     the reply's headers and body, without the replay marker. Only equality
//     matters.
//   - replayed: true if the reply was marked as told from the record.
//   - charge: string, the provider's id of the charge.
//   - provider_key: string, the key sent to the provider.
//   - request: string of 16 lower-case hexadecimal digits, a 64-bit digest of
//     the provider request.
//   - state: string: claimed, sent, succeeded, declined or review.
//   - version: integer from 1, the record's version after the write; in a
//     forget, that of what was deleted.
//   - owner: string, the fencing token after the write.
//   - run: string, the handler run that asked; unique.
//   - insert: true if the record is new.
//   - tombstone: true if the body was dropped.
//   - window_from_ns, lease_until_ns: integers, nanoseconds on the writer's
//     clock since the start of the history; a clock that is behind may give
//     less than 0.
package history
