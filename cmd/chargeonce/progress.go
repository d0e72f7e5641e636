package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/sim/search"
)

// progress is one line on a terminal that is written again and again.
type progress struct {
	w     io.Writer
	width int // of the line that stands there now
}

// patience is how long work may take before its progress is shown.
const patience = time.Second

// show writes the line over the one before.
func (p *progress) show(now search.Progress) {
	if now.Elapsed < patience {
		return
	}
	rate := float64(now.Runs) / now.Elapsed.Seconds()
	line := fmt.Sprintf("%d of %d runs, %.0f a second, violations: %d", now.Runs, now.Of, rate, now.Violations)
	if now.Runs > 0 {
		left := time.Duration(float64(now.Of-now.Runs) / rate * float64(time.Second))
		line += ", " + left.Round(time.Second).String() + " left"
	}
	p.replace(line)
}

// erase leaves the terminal as it was.
func (p *progress) erase() {
	if p.width > 0 {
		p.replace("")
		_, _ = io.WriteString(p.w, "\r")
	}
}

// replace writes a line over the one that stands there, with blanks where that
// was longer.
func (p *progress) replace(line string) {
	_, _ = io.WriteString(p.w, "\r"+line+strings.Repeat(" ", max(0, p.width-len(line))))
	p.width = len(line)
}
