package history_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/model/history"
)

const header = `{"format":"chargeonce history","version":1}` + "\n"

// The stories' commands: "read" takes a whole file, "events" takes what
// follows the usual header, and "cut" is read without the last newline.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := d.Input
			if input != "" && d.Cmd != "cut" {
				input += "\n"
			}
			if d.Cmd == "events" {
				input = header + input
			}
			h, events, err := history.Read(strings.NewReader(input))
			if err == nil {
				err = history.WellFormed(h, events)
			}
			return story(t, events, err)
		})
	})
}

func story(t *testing.T, events []history.Event, err error) string {
	var line *history.LineError
	var inconsistency *history.Inconsistency
	switch {
	case err == nil:
		return fmt.Sprintf("ok, %d events\n", len(events))
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("the error has more than one line: %q", err)
	case errors.As(err, &line):
		return "bad input: " + err.Error() + "\n"
	case errors.As(err, &inconsistency):
		return "violated: " + err.Error() + "\n"
	}
	t.Errorf("an error of neither kind: %v", err)
	return ""
}
