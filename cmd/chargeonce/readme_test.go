package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The README's sample is what the command prints, from the verdict to the
// command that replays it.
func TestSampleInReadme(t *testing.T) {
	const begin, end = "<!-- sample: begin -->\n", "<!-- sample: end -->"
	directory := here(t)
	inNewDirectory(t)
	out := call(t, "", "sim", "-design", "charge-then-save").out
	_, sample, ok := strings.Cut(out, "\nviolated ")
	if !ok {
		t.Fatalf("nothing was violated:\n%s", out)
	}
	sample, _, _ = strings.Cut("violated "+sample, "\nThe plan is in ")
	var want strings.Builder
	for line := range strings.Lines(sample) {
		if strings.TrimSpace(line) == "" {
			want.WriteString("\n")
			continue
		}
		want.WriteString("    " + line)
	}
	name := filepath.Join(directory, "..", "..", "README.md")
	before, rest, begins := strings.Cut(read(t, name), begin)
	got, after, ends := strings.Cut(rest, end)
	switch {
	case !begins || !ends:
		t.Fatalf("the README lacks the lines %q and %q", begin, end)
	case *update:
		write(t, name, before+begin+want.String()+end+after)
	case got != want.String():
		t.Errorf("the README has\n%s\nwant (write it with go test ./cmd/chargeonce -run TestSampleInReadme -update)\n%s", got, want.String())
	}
}
