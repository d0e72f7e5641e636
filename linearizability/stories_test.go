package linearizability

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/model/history"
)

// The stories are histories, an event a line, as testdata/README says.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			h := history.Header{Compensates: d.HasArg("compensates")}
			var opts Options
			if d.HasArg("steps") {
				d.ScanArgs(t, "steps", &opts.Steps)
			}
			var events []history.Event
			for line := range strings.Lines(d.Input) {
				e, err := parseEvent(strings.Fields(line))
				if err != nil {
					d.Fatalf(t, "%q: %v", line, err)
				}
				events = append(events, e)
			}
			if err := history.WellFormed(h, events); err != nil && !d.HasArg("malformed") {
				d.Fatalf(t, "%v", err)
			}
			r := Check(h, events, opts)
			var b strings.Builder
			fmt.Fprintf(&b, "%v, %d orders\n", r.Verdict, r.Orders)
			for _, f := range r.Findings {
				fmt.Fprintln(&b, f)
			}
			return b.String()
		})
	})
}

// parseEvent reads one line of a story.
func parseEvent(words []string) (history.Event, error) {
	kind, err := history.ParseKind(words[0])
	if err != nil {
		return history.Event{}, err
	}
	e := history.Event{Kind: kind}
	var plain []string
	for _, w := range words[1:] {
		name, value, assigned := strings.Cut(w, "=")
		switch {
		case !assigned:
			plain = append(plain, w)
		case name == "fp":
			e.Fingerprint = value
		case name == "key":
			e.Key = value
		case name == "scope":
			e.Scope = value
		case name == "charge":
			e.Charge = value
		case name == "amount":
			e.Amount, err = strconv.ParseInt(value, 10, 64)
			e.Currency = "EUR"
		case name == "body":
			e.Body, err = strconv.ParseUint(value, 10, 64)
		case name == "status":
			e.Status, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("what is %s?", name)
		}
		if err != nil {
			return e, err
		}
	}
	return e, positional(&e, plain)
}

// positional sets what a line says by place: the attempt, the order or the
// outcome.
func positional(e *history.Event, plain []string) (err error) {
	want := map[history.Kind]int{
		history.KindCall: 2, history.KindReturn: 3, history.KindUnanswered: 2, history.KindCharge: 2, history.KindRefund: 2,
	}[e.Kind]
	if len(plain) != want {
		return fmt.Errorf("want %d words without a name, got %v", want, plain)
	}
	if want == 0 {
		return nil
	}
	e.Operation = plain[0]
	switch e.Kind {
	case history.KindCharge, history.KindRefund:
		e.Charge = plain[1]
		return nil
	}
	// "client-2/3" is the third attempt of client-2; "3" is one of client-1.
	process, number, named := strings.Cut(plain[1], "/")
	if !named {
		process, number = "client-1", plain[1]
	}
	e.Process = process
	if e.Attempt, err = strconv.Atoi(number); err != nil || e.Kind != history.KindReturn {
		return err
	}
	if e.Outcome, err = history.ParseOutcome(plain[2]); err == nil && e.Status == 0 {
		e.Status = e.Outcome.Statuses()[0]
	}
	return err
}
