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
//
// # What a deployment does itself
//
//   - It runs [Service.Reconcile] every ReconcileInterval, in at least one
//     process: nothing else ends an operation whose client has gone. Sweeps that
//     overlap cost look-ups and harm nothing.
//   - It gives [Service.Handle] a context that the client's connection does not
//     cancel, context.WithoutCancel(r.Context()) with time-outs on the adapters'
//     calls: what was claimed and perhaps charged is finished and saved for
//     whoever asks next.
//   - It switches off what re-sends below the provider's adapter. Go's
//     http.Transport repeats a POST that has an Idempotency-Key header when a
//     reused connection breaks; it cannot if the request's GetBody is nil.
//     Proxies and meshes have settings of their own. What stays on is stated as
//     TransportResends, and its copies count towards MessageLifetime.
//   - The client keeps its key together with the instant of the first attempt,
//     before that attempt, and sends neither another key nor this one after
//     RetryHorizon, also after a restart (package client).
//   - It measures what [Config] states: clocks, the longest pause of a process,
//     the provider's window and the lag of its look-up.
package impl
