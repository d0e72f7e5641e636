package tla

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Table writes the manifest as Markdown: one table for each kind.
func (m Manifest) Table() string {
	var b strings.Builder
	for _, section := range []struct {
		kind  Kind
		title string
		head  string
		row   func(Entry) string
	}{
		{KindProtocol, "The protocol holds", "| cfg | what it is | distinct | generated | depth | class |\n|---|---|---:|---:|---:|---|", heldRow},
		{KindDefect, "Each rule is needed", "| rule | cfg | without it | falls (length of the shortest counterexample, in states) |\n|---|---|---|---|", brokenRow},
		{KindAssumption, "Each assumption is needed", "| assumption | cfg | without it | falls |\n|---|---|---|---|", brokenRow},
		{KindReachable, "What is reachable", "| cfg | situation | shortest way, in states |\n|---|---|---:|", reachedRow},
		{KindLiveness, "In the end", "| cfg | what it is | outcome | distinct | generated | depth | class |\n|---|---|---|---:|---:|---:|---|", livenessRow},
	} {
		fmt.Fprintf(&b, "### %s\n\n%s\n", section.title, section.head)
		for _, e := range m.Specifications {
			if e.Kind == section.kind {
				b.WriteString(section.row(e) + "\n")
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func heldRow(e Entry) string {
	return fmt.Sprintf("| `%s` | %s | %d | %d | %d | %s |", e.Config, e.Shows, e.Distinct, e.Generated, e.Depth, e.Class)
}

func brokenRow(e Entry) string {
	return fmt.Sprintf("| %s | `%s` | %s | %s |", e.Rule, e.Config, e.Shows, e.falls())
}

// falls lists what falls, the soonest first.
func (e Entry) falls() string {
	names := slices.SortedFunc(maps.Keys(e.Falls), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.Falls[a], e.Falls[b]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, e.Falls[name])
	}
	return strings.Join(names, ", ")
}

func reachedRow(e Entry) string {
	return fmt.Sprintf("| `%s` | %s | %d |", e.Config, e.Shows, e.Length)
}

func livenessRow(e Entry) string {
	outcome, counts := "holds", fmt.Sprintf("%d | %d | %d", e.Distinct, e.Generated, e.Depth)
	if e.Outcome != Holds {
		outcome, counts = e.Property+" falls", "– | – | –"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |", e.Config, e.Shows, outcome, counts, e.Class)
}
