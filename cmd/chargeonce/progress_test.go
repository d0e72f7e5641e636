package main

import (
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/sim/search"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &progress{w: &out}
	p.erase()
	p.show(search.Progress{Runs: 900, Of: 5000, Elapsed: 999 * time.Millisecond})
	if out.Len() > 0 {
		t.Errorf("within a second it wrote %q", out.String())
	}
	p.show(search.Progress{Runs: 2000, Of: 5000, Violations: 1, Elapsed: 2 * time.Second})
	p.show(search.Progress{Runs: 0, Of: 5000, Elapsed: 2 * time.Second})
	p.erase()
	long := "2000 of 5000 runs, 1000 a second, violations: 1, 3s left"
	short := "0 of 5000 runs, 0 a second, violations: 0"
	pad := strings.Repeat(" ", len(long)-len(short))
	want := "\r" + long + "\r" + short + pad + "\r" + strings.Repeat(" ", len(short)) + "\r"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
