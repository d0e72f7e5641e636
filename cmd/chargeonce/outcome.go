package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// outcome is the last line of sim and replay with -json. The names of its
// members stay.
type outcome struct {
	Verdict       search.Verdict        `json:"verdict"`
	Reason        string                `json:"reason,omitempty"`
	Design        string                `json:"design"`
	Scenario      string                `json:"scenario"` // of a campaign that found nothing: all of them, with commas
	Profile       string                `json:"profile"`  // likewise
	Break         []impl.Assumption     `json:"break,omitempty"`
	Registry      string                `json:"registry"`
	Strategy      string                `json:"strategy,omitempty"` // sim
	Seed          *uint64               `json:"seed,omitempty"`     // sim
	Planned       int                   `json:"planned,omitempty"`  // sim
	Runs          int                   `json:"runs"`
	RunsPerSecond float64               `json:"runs_per_second"` // of wall time
	Faults        map[string]faultCount `json:"faults"`
	Situations    map[string]int        `json:"situations"`
	HandedOver    int                   `json:"handed_over"` // operations that ended with a person
	Expect        string                `json:"expect,omitempty"`

	*fall
	*story
	*comparison
	Finding  *finding  `json:"finding,omitempty"`
	Residual *residual `json:"residual,omitempty"` // sim, if it held and the runs were independent draws
}

// faultCount says how often a fault was chosen and how often it took effect.
type faultCount struct {
	Chosen    int `json:"chosen"`
	Effective int `json:"effective"`
}

// fall is the invariant that fell.
type fall struct {
	Invariant string   `json:"invariant"`
	Sentence  string   `json:"sentence"`
	Operation string   `json:"operation,omitempty"`
	At        int64    `json:"at_ns"` // virtual time
	Run       int      `json:"run,omitempty"`
	Others    []string `json:"others,omitempty"` // invariants that fell in the same run
}

// story is the run that matters.
type story struct {
	Plan       string `json:"plan"`
	Deviations int    `json:"deviations"`
	Sites      int    `json:"sites"`
	Hash       string `json:"hash"`    // 16 hexadecimal digits
	Minimal    bool   `json:"minimal"` // no plan with fewer deviations of its kinds violates
	PlanFile   string `json:"plan_file,omitempty"`
	Replay     string `json:"replay,omitempty"` // the command that makes the run again
}

// comparison is what a replay says of its plan.
type comparison struct {
	HashStated string   `json:"hash_stated,omitempty"`
	HashMet    *bool    `json:"hash_met,omitempty"`
	ExpectMet  *bool    `json:"expect_met,omitempty"`
	Unmet      []string `json:"unmet,omitempty"` // lines of the plan that the run did not come by
	Idle       []string `json:"idle,omitempty"`  // faults of the plan that had no effect
}

// finding is a defect of the code under test that is no violation of an
// invariant.
type finding struct {
	Kind    string `json:"kind"`
	Process string `json:"process"`
	Message string `json:"message"`
	Detail  string `json:"detail,omitempty"` // a stack; not the same every time
}

func newFinding(f *sim.Finding) *finding {
	if f == nil {
		return nil
	}
	return &finding{f.Kind, f.Process, f.Message, f.Detail}
}

func newFall(v *invariant.Violation, others []string) *fall {
	return &fall{Invariant: v.Invariant.String(), Sentence: v.Sentence, Operation: v.Operation, At: int64(v.At), Others: others}
}

// broken lists the invariants that fell.
func (o *outcome) broken() []string {
	if o.fall == nil {
		return nil
	}
	return append([]string{o.Invariant}, o.Others...)
}

// exit returns the outcome's exit code. What is no invariant counts as one of
// safety.
func (o *outcome) exit() exitCode {
	broken := o.broken()
	if o.Finding != nil {
		broken = append(broken, o.Finding.Kind)
	}
	return exitOf(o.Verdict, broken)
}

// totals are what runs add up to.
type totals struct {
	on                [plan.ClassCount]bool // classes to tell of even if they were never chosen
	chosen, effective sim.Counts
	situations        [sim.SituationCount]int
}

func (t *totals) faults() map[string]faultCount {
	all := map[string]faultCount{}
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		if t.on[c] || t.chosen[c] > 0 {
			all[c.String()] = faultCount{t.chosen[c], t.effective[c]}
		}
	}
	return all
}

func (t *totals) situationCounts() map[string]int {
	all := map[string]int{}
	for s, n := range t.situations {
		all[sim.Situation(s).String()] = n
	}
	return all
}

// write tells which faults there were and which situations were met.
func (t *totals) write(w io.Writer) {
	var chosen, unchosen, met, never []string
	for c := plan.ClassNone + 1; c < plan.ClassCount; c++ {
		switch {
		case t.chosen[c] > 0:
			chosen = append(chosen, fmt.Sprintf("%-18s %9d %9d", c, t.chosen[c], t.effective[c]))
		case t.on[c]:
			unchosen = append(unchosen, c.String())
		}
	}
	for s, n := range t.situations {
		if n > 0 {
			met = append(met, fmt.Sprintf("%-28s %9d", sim.Situation(s), n))
		} else {
			never = append(never, sim.Situation(s).String())
		}
	}
	if len(chosen) > 0 {
		labelled(w, "faults", "how often chosen, and how often each took effect:")
		grid(w, "", 2, chosen)
	}
	list(w, "not chosen", unchosen)
	grid(w, "situations", 2, met)
	list(w, "not met", never)
}

// list writes names under a label, or nothing if there are none.
func list(w io.Writer, label string, names []string) {
	if len(names) > 0 {
		labelled(w, label, "%s", strings.Join(names, ", "))
	}
}

// writeFall tells of an invariant that fell, in one sentence.
func writeFall(w io.Writer, f *fall) {
	fmt.Fprintf(w, "\nviolated %s\n\n%s", f.Invariant, wrap(f.Sentence+".", "  "))
	if len(f.Others) > 0 {
		fmt.Fprintf(w, "\n%s", wrap("The same run breaks "+strings.Join(f.Others, ", ")+".", "  "))
	}
}

// writeFinding tells of code under test that broke the simulator's rules.
func writeFinding(w io.Writer, f *finding) {
	fmt.Fprintf(w, "\nthe code under test breaks the rules of the simulator: %s\n\n%s", f.Kind, wrap(f.Process+": "+f.Message+".", "  "))
	if f.Detail != "" {
		fmt.Fprintln(w)
		indented(w, strings.TrimRight(f.Detail, "\n")+"\n")
	}
}

// rate is runs per second, rounded: it is of this machine and this moment.
func rate(runs int, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return math.Round(float64(runs) / elapsed.Seconds())
}

// writeVerdict is the last line of a report.
func writeVerdict(w io.Writer, o *outcome, remark string) {
	text := string(o.Verdict)
	switch {
	case o.Verdict == search.Violated && o.Finding != nil:
		text += ": " + o.Finding.Kind
	case o.Verdict == search.Violated:
		text += ": " + o.Invariant
	case o.Reason != "":
		text += ": " + o.Reason
	}
	if remark != "" {
		text += " (" + remark + ")"
	}
	labelled(w, "verdict", "%s", text)
}
