package main

import (
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/search"
)

// exitCode is the command's result for other programs.
type exitCode int

// The exit codes. Where several fit, the first of 6, 1, 3, 4, 5, 0 is taken.
const (
	exitHeld             exitCode = 0
	exitSafety           exitCode = 1
	exitUsage            exitCode = 2
	exitLiveness         exitCode = 3
	exitUndecided        exitCode = 4
	exitVacuous          exitCode = 5
	exitNondeterministic exitCode = 6
)

var exitDocs = map[exitCode]string{
	exitHeld:             "held: nothing broke",
	exitSafety:           "violated: an invariant of safety was broken, or the code under test broke the simulator's rules",
	exitUsage:            "bad input: a wrong flag, an unknown name, a file that cannot be read",
	exitLiveness:         "violated: an invariant of liveness was broken, and none of safety",
	exitUndecided:        "undecided: it was stopped, or a bound was hit, before the answer was known",
	exitVacuous:          "vacuous: a fault that was asked for never took effect, or there was nothing to judge",
	exitNondeterministic: "nondeterministic: the same plan gave two different traces",
}

// exitOf returns the code of a verdict; broken are the invariants that fell.
func exitOf(v search.Verdict, broken []string) exitCode {
	switch v {
	case search.Held:
		return exitHeld
	case search.Violated:
		if onlyLiveness(broken) {
			return exitLiveness
		}
		return exitSafety
	case search.Vacuous:
		return exitVacuous
	case search.Nondeterministic:
		return exitNondeterministic
	}
	return exitUndecided
}

// onlyLiveness reports whether invariants were broken and all of them are of
// liveness. A name that is no invariant's ("WellFormed") is one of safety.
func onlyLiveness(broken []string) bool {
	for _, name := range broken {
		if n, err := invariant.Parse(name); err != nil || n.Kind() != invariant.Liveness {
			return false
		}
	}
	return len(broken) > 0
}
