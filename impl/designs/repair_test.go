package designs_test

import (
	"os"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// strange are designs whose plan says nothing of any other: it befalls what
// only they do.
var strange = map[string]bool{
	"outbox-without-dedupe": true, // its reconciler charges
	"reads-replica":         true, // nobody else reads one
}

// One thing put right makes the smallest plan of a design hold, unless its
// defect is that its deployment breaks an assumption. Where it is the reference
// with a decision taken otherwise, that decision is enough, and hardly another
// one does as well.
func TestRepairs(t *testing.T) {
	twins := 0
	for _, d := range designs.All() {
		if d.Expect == designs.Held {
			continue
		}
		text, err := os.ReadFile(planFile(d))
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		repairs := designs.Repairs(d)
		others := make([]search.Subject, len(repairs))
		for i := range repairs {
			others[i] = subjectOf(t, d, p)
			others[i].Design = repairs[i].Design
		}
		e, err := search.Explain(subjectOf(t, d, p), p, others, openMemory)
		if err != nil {
			t.Fatal(err)
		}
		var held [designs.TwoParts + 1][]string
		for _, f := range e.Fixes {
			r := &repairs[f.Other]
			held[r.Size] = append(held[r.Size], r.What)
		}
		if len(e.Fixes) == 0 && len(d.Breaks) == 0 && !strange[d.Name] {
			t.Errorf("%s: nothing put right in it makes its plan hold", d.Name)
		}
		decisions := held[designs.OneDecision]
		if len(held[designs.AllDecisions]) == 0 {
			continue
		}
		if twins++; len(decisions) == 0 || len(decisions) > 2 {
			t.Errorf("%s: its plan holds once one of the decisions %q is put right, want one or two", d.Name, decisions)
		}
	}
	if twins < 20 {
		t.Errorf("only %d designs are the reference with a decision taken otherwise", twins)
	}
}
