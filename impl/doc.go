// Package impl is the reference service for idempotent payments, and the
// ports through which it, and every design of the gallery, meets the world.
//
// A payment must happen once even though messages are lost, processes die
// between the charge and the save, and two replicas get the same retry. The
// service claims the operation (scope and idempotency key) in a shared
// registry before it sends anything, sends every charge with a provider key
// that is derived from the operation, saves the outcome by compare-and-swap,
// and tells the client only what is saved. [Service] is the handler and the
// reconciler; [Config] names the assumptions under which one operation is
// charged once, and its Validate refuses what breaks one.
//
// What it does not do: speak HTTP, choose a database, or talk to a particular
// provider. Those are adapters behind [Registry], [Provider], [Clock], [IDs]
// and [Observer]. It does not make a charge and a local write atomic; nothing
// does. It makes every state between the two recoverable.
//
// The rule it keeps: everything that the outside decides comes through a
// port. Code behind the ports starts no goroutines, reads no other clock and
// draws no other random number, so the simulator runs this very code.
package impl
