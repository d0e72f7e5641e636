package history_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/chargeonce/chargeonce/model/history"
)

// The golden file pins the format: a change that makes it fail makes the
// recordings of other systems unreadable and needs a new version.
func TestGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	h, events, err := history.Read(bytes.NewReader(golden))
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(t, h, events); !bytes.Equal(got, golden) {
		t.Errorf("written again it is\n%s\nwant\n%s", got, golden)
	}
	seen := make(map[history.Kind]bool)
	for i := range events {
		seen[events[i].Kind] = true
	}
	if len(seen) != int(history.KindCount)-1 {
		t.Errorf("the golden file has %d kinds of %d", len(seen), history.KindCount-1)
	}
	if err := history.WellFormed(h, events); err != nil {
		t.Error(err)
	}
}

func encode(t interface{ Fatal(...any) }, h history.Header, events []history.Event) []byte {
	var buf bytes.Buffer
	w, err := history.NewWriter(&buf, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
