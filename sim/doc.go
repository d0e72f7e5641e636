// Package sim runs a payment service, the very code that production would
// run, in a world of its own: virtual time, a network, a registry, a
// provider, clocks, and everything that can go wrong with them.
//
// A run is its plan. Whenever the world could go more than one way it asks a
// [Chooser] at a site; the choices that are not benign are the plan, and the
// same plan gives the same trace, byte for byte, on any machine. [World.Run]
// makes one run, sends what a judge may see to a [Sink], and returns a
// [Result]: the trace hash, the sites, which faults took effect, and which
// situations were met.
//
// What it does not do: judge (that is linearizability's) or search (that is
// sim/search's).
//
// The rule it keeps: inside a run there is no goroutine, no wall clock, no
// global random source, no select and no iteration over a map. Code behind
// the ports runs on coroutines, one at a time; a process that dies takes its
// memory with it, and nothing that it still does reaches the world.
package sim
