// Package system is the real world behind three of the ports of package impl:
// the machine's clock, its source of randomness, and its log.
//
// Together with a registry and a provider they are what a deployment gives to
// [impl.New]. It keeps nothing and starts nothing. It is no part of a
// simulation, where clocks, names and logs must come out the same in every
// run; that is why it stands apart from package impl.
//
// The rule it keeps: nothing in it decides anything about a payment.
package system
