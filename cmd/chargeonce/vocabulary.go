package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// entry is a name of the vocabulary, as a line of text and as an object.
type entry struct {
	text   string
	object any
}

// listVerb is a verb that lists a part of the vocabulary.
func listVerb(name, summary string, entries func() []entry) verb {
	return verb{
		name: name, summary: summary,
		examples: []string{"chargeonce " + name, "chargeonce " + name + " -json"},
		codes:    []exitCode{exitHeld, exitUsage},
		command: func(fs *flag.FlagSet) action {
			asJSON := fs.Bool("json", false, "write JSON, one object a line")
			return func(_ context.Context, c *console, operands []string) (exitCode, error) {
				if err := noOperands(operands); err != nil {
					return 0, err
				}
				for _, e := range entries() {
					if *asJSON {
						c.line(e.object)
					} else {
						fmt.Fprintln(c.out, e.text)
					}
				}
				return exitHeld, nil
			}
		},
	}
}

func scenariosVerb() verb {
	return listVerb("scenarios", "list what clients can want in a simulation", func() (all []entry) {
		for _, s := range sim.Scenarios {
			all = append(all, entry{
				fmt.Sprintf("%-23s %s", s.Name, s.Doc),
				struct {
					Name    string `json:"name"`
					Doc     string `json:"doc"`
					Servers int    `json:"servers"`
					Clients int    `json:"clients"`
					Orders  int    `json:"orders"`
				}{s.Name, s.Doc, s.Servers, len(s.Clients), len(s.Orders)},
			})
		}
		return all
	})
}

func profilesVerb() verb {
	return listVerb("profiles", "list what the simulated provider can promise", func() (all []entry) {
		for _, p := range provider.Profiles {
			all = append(all, entry{
				fmt.Sprintf("%-23s %s", p.Name, p.Doc),
				struct {
					Name           string `json:"name"`
					Doc            string `json:"doc"`
					Keys           bool   `json:"keys"`
					StoresDeclines bool   `json:"stores_declines"`
					Lookup         bool   `json:"lookup"`
					Window         int64  `json:"window_ns"`
					StoresFailures bool   `json:"stores_failures"`
					RefundsOnce    bool   `json:"refunds_once"`
					RefundKeys     bool   `json:"refund_keys"`
				}{p.Name, p.Doc, p.Keys, p.StoresDeclines, p.Lookup, int64(p.Window), p.StoresFailures, p.RefundsOnce, p.RefundKeys},
			})
		}
		return all
	})
}

func faultsVerb() verb {
	return listVerb("faults", "list what can go wrong in a simulation", func() (all []entry) {
		for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
			all = append(all, entry{
				fmt.Sprintf("%-19s %-9s %s", c, breaks(c.Breaks()), c.Doc()),
				struct {
					Name   string          `json:"name"`
					Doc    string          `json:"doc"`
					Breaks impl.Assumption `json:"breaks"` // "" if it breaks none
				}{c.String(), c.Doc(), c.Breaks()},
			})
		}
		return all
	})
}

func breaks(a impl.Assumption) string {
	if a == "" {
		return ""
	}
	return "breaks " + string(a)
}

func invariantsVerb() verb {
	return listVerb("invariants", "list what is checked", func() (all []entry) {
		for _, n := range invariant.All() {
			all = append(all, entry{
				fmt.Sprintf("%-17s %-8s  %s", n, n.Kind(), n.Doc()),
				struct {
					Name string `json:"name"`
					Kind string `json:"kind"`
					Doc  string `json:"doc"`
				}{n.String(), n.Kind().String(), n.Doc()},
			})
		}
		return all
	})
}
