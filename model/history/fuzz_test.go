package history_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/model/history"
)

// FuzzRead: any input is read or refused with the number of a line that it
// has, in one line; what is read is written and read again as the same.
func FuzzRead(f *testing.F) {
	golden, err := os.ReadFile("testdata/golden.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(golden[:len(golden)-2])
	f.Add([]byte(header + `{"kind":"crash","process":"\u00e9","at_ns":1}` + "\r\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		h, events, err := history.Read(bytes.NewReader(input))
		if err != nil {
			var line *history.LineError
			if !errors.As(err, &line) {
				t.Fatalf("want a LineError, got %v", err)
			}
			if most := bytes.Count(input, []byte("\n")) + 1; line.Line < 1 || line.Line > most {
				t.Fatalf("line %d of %d", line.Line, most)
			}
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		_ = history.WellFormed(h, events)
		again := encode(t, h, events)
		h2, events2, err := history.Read(bytes.NewReader(again))
		if err != nil || h2 != h || !slices.Equal(events2, events) {
			t.Fatalf("read %+v, wrote\n%s\nread %+v, %v", events, again, events2, err)
		}
	})
}
