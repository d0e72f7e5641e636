// Package model is what a client may see: the sequential specification of one
// idempotent payment. It says which charges, refunds and answers are right
// one after the other, in any system that promises what [State.Step] says,
// however that system is built. A checker asks whether what was seen happening
// at once could have happened in such an order.
//
// It knows nothing of registries, leases and messages; those are of package
// protocol. It does not say that anything must happen, only what must not:
// a system that always answers "in progress" and charges nobody is right here
// and falls to the liveness properties.
//
// The rule it keeps: a step is a pure function of a small comparable state and
// one input, and each step that is not allowed has one [Reason], which names
// the invariant that it breaks.
//
// # One call, two effects
//
// A client's attempt acts at two instants. It binds the key to its parameters
// when it reaches the service, and it is answered later. Between the two, other
// attempts see the binding: with parameters X and Y sent under one key at once, X may
// bind, Y be told "mismatch", and only then X be charged and told "paid". No
// single instant of X explains that, so an attempt is two inputs, Submit and
// Answer, each of which takes effect at some instant between call and return.
// An attempt that got no final answer is a Submit only, without an end: it may
// take effect late, or never. Charges and refunds are not the client's; they
// are inputs of their own, each at the instant at which the ledger shows it.
//
// The answers "in progress" and "unavailable" promise nothing and "refused"
// is about one attempt alone, so none of the three has an effect.
//
// # Key and order
//
// What is bound and kept belongs to the key (with its scope); the money, and
// what the client may believe, belong to the order that it wants paid. A sound
// client has one key for each order and the two are one operation. They
// come apart exactly where something is wrong or being tested: two orders under one
// key (the second must hear "mismatch"), one order under two keys (which
// nobody but the ledger and the observer can tell).
//
// # A plan, worked through
//
// A simulated run is told as a plan: which design in which world, and the
// choices that are not benign. This one is a design that claims the order as it
// should, then charges without a key for the provider, and saves last:
//
//	chargeonce plan v1
//	design charge-then-save
//	scenario one-payment
//	weather 0
//	crash server-1 after charge of client-1/order-1/try-1
//
// Weather 0 says that every message takes the same time. One site of 56
// deviates: server-1 dies as soon as it has the answer to its charge. The run,
// shortened, with a lane for each process:
//
//	      clnt1 srvr1 srvr2 regis provd
//	  0ms ●─────▶     │     │     │     request of client-1/order-1/try-1 → 5ms
//	 10ms │     │     │     ■     │     order-1 is claimed, version 1, by server-1/1
//	 15ms │     ●─────────────────▶     charge of client-1/order-1/try-1 → 20ms
//	 20ms │     │     │     │     $     ch_1: 12.00 EUR captured for order-1
//	 25ms │     ✗     │     │     │     server-1 dies
//	400ms …     │     │     │     │     no answer to request of client-1/order-1/try-1 in time
//	550ms ●───────────▶     │     │     request of client-1/order-1/try-2 → 555ms
//	570ms ?     │     │     │     │     hears in-progress 409 of order-1
//	870ms ●─────▶     │     │     │     request of client-1/order-1/try-3 → 875ms
//	890ms │     │     │     ■     │     order-1 is claimed, version 2, by server-1/2
//	895ms │     ●─────────────────▶     charge of client-1/order-1/try-3 → 900ms
//	900ms │     │     │     │     $     ch_2: 12.00 EUR captured for order-1
//
// The claim did its work: the second attempt heard "in progress". But a lease
// ends, the third attempt takes the record over, and nothing tells it that
// money has moved. The verdict: violated, SingleCharge, "order-1 was charged
// twice: ch_1 (12.00 EUR) and ch_2 (12.00 EUR), 24.00 EUR in all for one
// payment of 12.00 EUR". Without the one line the run holds, so the plan is
// 1-minimal, and as no plan of no deviation violates, it is a minimum. The same
// plan on the reference service holds: once the lease is over a look-up finds
// the first charge, and the record is completed with it. Had it not been found,
// the second would have gone out under the same key and moved no money.
//
// # Glossary
//
// The protocol:
//
//   - operation: one payment, named by scope and idempotency key. Seen from
//     the client: one order.
//   - intent, order: what the client wants paid once. No service can read it;
//     the observer and the ledger know it.
//   - attempt: one call of the client. All attempts of an operation have its key.
//   - idempotency key: the client's name for the operation, made once, before
//     the first attempt.
//   - scope: tenant and endpoint; keys of two scopes have nothing to do with
//     each other.
//   - fingerprint: a digest of the parameters, by which a key that comes back
//     with others is noticed.
//   - registry: the one shared, durable, linearizable store of records, one
//     record for each operation.
//   - claim: the insert-if-absent that makes one handler the owner of an
//     operation, before any effect.
//   - fencing token: the owner's name in the record, fresh for each handler run.
//     With the version it must be found unchanged by every write, so that
//     an owner that was given up for dead cannot write.
//   - lease: until when others keep off an operation. It saves work; it never
//     decides safety.
//   - resolve: find out how an operation ended whose lease is over, by looking
//     up, and write nothing until it is known what to write.
//   - take-over: the write by which a resolver becomes the owner. Only needed
//     in order to send.
//   - settle: write "declined" because no charge is there and none can come.
//   - review: the state of what only a person can tell.
//   - reconciler: the process that resolves what no client asks for any more.
//   - provider key: the key sent to the provider, derived from scope and
//     idempotency key; within the provider's window, equal keys move money once.
//   - ledger: what the provider has booked. It is the truth; answers and
//     records are claims about it.
//   - net charge: a charge that was captured and not refunded.
//   - compensation: refunding the surplus charges of an operation, so that one
//     net charge holds in the end, though not always.
//   - applied but unanswered: a request that had its effect and whose answer
//     was lost. To its sender it looks like one that never arrived.
//   - replay: telling the stored reply again. A replay reads and never writes.
//   - tombstone: what is left of a finished record when its reply was dropped.
//
// Testing:
//
//   - linearization point: the instant between call and return at which an
//     operation can be thought to have happened all at once.
//   - site: a place in a run where the world could go more than one way. Its
//     name is unique in the run and depends only on what came before.
//   - deviation: a choice at a site that is not the benign one: a lost message,
//     a crash, a hold.
//   - plan: the set of a run's deviations. It is all there is to a run.
//   - weather: the random base delays of a run, drawn from the plan's number
//     and no choice of anybody; weather 0 has none.
//   - within, breaking: whether a fault is one that the assumptions allow, or
//     breaks one, which it then names. Under faults within, a right design must hold.
//   - 1-minimal: a plan that fails, and none of whose deviations can be dropped.
//   - minimum: a plan that fails, and no plan with fewer deviations of the
//     classes used does. Each minimum is 1-minimal, not the other way round.
//   - swarm: random search in which each run draws which fault classes are
//     on and how strong, since all of them together hide some bugs.
//   - PCT(d): random search by priorities that change d−1 times in a run. It
//     finds a bug that takes d ordered events with a probability that has a
//     lower bound.
//   - invariant: what must hold at every instant (safety).
//   - liveness: what must come true in the end, once the faults are over.
//   - undecided: a bound was hit before the answer was known. It never passes.
//   - vacuous: held, but what was asked for never took effect in the run, so
//     nothing was tested. It does not pass either.
//   - masked defect: a defect whose effect another mechanism hides, as
//     provider keys hide a missing fence. It shows in the records, or with
//     a weaker provider.
package model
