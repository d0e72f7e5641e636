package search

import (
	"fmt"

	"github.com/chargeonce/chargeonce/linearizability"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/kernel"
)

// linearizeSteps bounds one search for an order of events. A legal history
// of a run needs a few dozen; the bound is the same on every machine.
const linearizeSteps = 1 << 18

// disagreement judges the recorded events of the last run by the sequential
// specification and compares that with the invariants. It returns "" if they
// agree. What the invariants know beyond the specification (records, sends,
// time) may fall alone; what clients and the ledger saw must fall for both.
func (a *arena) disagreement() string {
	var lin linearizability.Result
	kernel.Elsewhere(func() {
		lin = a.linear.Check(a.header, a.events, linearizability.Options{Steps: linearizeSteps})
	})
	switch lin.Verdict {
	case linearizability.Undecided:
		return ""
	case linearizability.Violated:
		for _, v := range a.checker.Violations() {
			if v.Invariant.Kind() == invariant.Safety {
				return ""
			}
		}
		return fmt.Sprintf("no order of events explains the history, and no invariant fell: %v", lin.Findings[0])
	}
	for _, name := range []invariant.Name{invariant.SingleCharge, invariant.BoundedRefunds} {
		if a.broke(name) {
			return fmt.Sprintf("%v fell, and some order of events explains the history", name)
		}
	}
	return ""
}
