package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
)

func designsVerb() verb {
	return verb{
		name: "designs", operands: "[NAME…]", summary: "list the gallery of designs, right and wrong",
		doc:      "With a NAME it says all that there is to know of the design.",
		examples: []string{"chargeonce designs", "chargeonce designs charge-then-save", "chargeonce designs -json"},
		codes:    []exitCode{exitHeld, exitUsage},
		command: func(fs *flag.FlagSet) action {
			asJSON := fs.Bool("json", false, "write JSON, one object a design")
			return func(_ context.Context, c *console, operands []string) (exitCode, error) {
				listed, err := designsByName(operands)
				if err != nil {
					return 0, err
				}
				for i := range listed {
					d := &listed[i]
					model, err := specified(d.Name)
					if err != nil {
						return 0, err
					}
					switch {
					case *asJSON:
						c.line(newDesignLine(d, model))
					case len(operands) > 0:
						writeDesign(c.out, d, model)
					default:
						writeSummary(c.out, d)
					}
				}
				return exitHeld, nil
			}
		},
	}
}

// designsByName returns the designs of these names, or all for none.
func designsByName(wanted []string) (listed []impl.Design, err error) {
	if len(wanted) == 0 {
		return designs.All(), nil
	}
	for _, name := range wanted {
		d, err := designs.ByName(name)
		if err != nil {
			return nil, err
		}
		listed = append(listed, d)
	}
	return listed, nil
}

// designLine is a line of designs -json. The names of its members stay.
type designLine struct {
	Name        string   `json:"name"`
	Doc         string   `json:"doc"`    // one line
	Expect      string   `json:"expect"` // "held" or the invariant that falls
	Source      string   `json:"source"`
	Detail      string   `json:"detail"` // what it believes and what breaks it
	Profiles    []string `json:"profiles"`
	Scenarios   []string `json:"scenarios"` // those that sim runs it in, or all
	Compensates bool     `json:"compensates,omitempty"`
	Model       string   `json:"model"` // what the specification has of it
}

func newDesignLine(d *impl.Design, model string) designLine {
	return designLine{d.Name, d.Summary, d.Expect, d.Source, oneLine(d.Doc), profilesOf(d), scenariosOf(d), d.Compensates, model}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func writeSummary(w io.Writer, d *impl.Design) {
	fmt.Fprintf(w, "%-23s %-17s %s\n", d.Name, d.Expect, d.Summary)
	fmt.Fprintf(w, "%-23s %-17s from %s\n", "", "", d.Source)
}

func writeDesign(w io.Writer, d *impl.Design, model string) {
	labelled(w, "design", "%s: %s", d.Name, d.Summary)
	labelled(w, "expect", "%s", d.Expect)
	labelled(w, "from", "%s", d.Source)
	labelled(w, "profiles", "%s", strings.Join(profilesOf(d), ", "))
	labelled(w, "scenarios", "%s", strings.Join(scenariosOf(d), ", "))
	if model != "" {
		labelled(w, "model", "%s", model)
	}
	fmt.Fprintf(w, "\n%s\n", wrap(d.Doc, "  "))
}
