package history

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// author draws events that may follow those that it drew before.
type author struct {
	now   time.Duration
	open  []Event // calls that have not ended
	calls int
	ended bool
}

var drawText = rapid.StringN(1, 8, 24)

func (a *author) event(t *rapid.T) Event {
	kinds := []Kind{
		KindCall, KindGiveUp, KindCharge, KindAbsorbed, KindRefusal, KindRefund, KindCrash, KindSend, KindWrite,
		KindForget, KindHeal, KindEnd,
	}
	if len(a.open) > 0 {
		kinds = append(kinds, KindReturn, KindUnanswered)
	}
	e := Event{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	a.now += time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "pause"))
	e.At = a.now
	for f := range fieldCount {
		s := shapes[e.Kind]
		if s.must.has(f) || s.may.has(f) && rapid.Bool().Draw(t, "has "+fieldNames[f]) {
			draw(t, &e, f)
		}
	}
	if e.Amount == 0 || e.Currency == "" {
		e.Amount, e.Currency = 0, ""
	}
	switch e.Kind {
	case KindCall:
		a.calls++
		e.Attempt = a.calls
		a.open = append(a.open, e)
	case KindReturn, KindUnanswered:
		i := rapid.IntRange(0, len(a.open)-1).Draw(t, "call")
		e.Process, e.Operation, e.Attempt = a.open[i].Process, a.open[i].Operation, a.open[i].Attempt
		a.open = slices.Delete(a.open, i, i+1)
	}
	a.ended = e.Kind == KindEnd
	return e
}

// draw sets one field to a value that is not zero.
func draw(t *rapid.T, e *Event, f field) {
	name := fieldNames[f]
	instant := func() time.Duration { return time.Duration(rapid.Int64().Draw(t, name)) }
	switch f {
	case fieldAttempt:
		e.Attempt = rapid.IntRange(1, math.MaxInt).Draw(t, name)
	case fieldAmount:
		e.Amount = rapid.Int64Min(1).Draw(t, name)
	case fieldStatus:
		e.Status = rapid.IntRange(1, math.MaxInt).Draw(t, name)
	case fieldVersion:
		e.Version = rapid.Uint64Min(1).Draw(t, name)
	case fieldOutcome:
		e.Outcome = Outcome(rapid.Uint8Range(1, uint8(OutcomeCount)-1).Draw(t, name))
	case fieldState:
		e.State = State(rapid.Uint8Range(1, uint8(StateCount)-1).Draw(t, name))
	case fieldBody:
		e.Body = rapid.Uint64Min(1).Draw(t, name)
	case fieldRequest:
		e.Request = rapid.Uint64Min(1).Draw(t, name)
	case fieldWindowFrom:
		e.WindowFrom = instant()
	case fieldLeaseUntil:
		e.LeaseUntil = instant()
	default:
		if to := flagOf(e, f); to != nil {
			*to = true
			return
		}
		*textOf(e, f) = drawText.Draw(t, name)
	}
}

func drawHeader(t *rapid.T) Header {
	var h Header
	for _, d := range h.durations() {
		*d.value = time.Duration(rapid.Int64Min(0).Draw(t, d.name))
	}
	for _, p := range h.promises() {
		*p.value = rapid.Bool().Draw(t, p.name)
	}
	return h
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		var events []Event
		for a := (author{}); !a.ended && len(events) < 20; {
			events = append(events, a.event(t))
		}
		first := write(t, h, events)
		h2, events2, err := Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("reads back with %v", err)
		}
		if h2 != h || !slices.Equal(events2, events) {
			t.Fatalf("wrote %+v\n%+v\nread %+v\n%+v", h, events, h2, events2)
		}
		if second := write(t, h2, events2); !bytes.Equal(first, second) {
			t.Fatalf("first\n%s\nthen\n%s", first, second)
		}
	})
}

func write(t *rapid.T, h Header, events []Event) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, h)
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

// What the writer refuses is not written, and what it writes around that is a
// history.
func TestWriterRefuses(t *testing.T) {
	good := Event{Kind: KindCrash, Process: "server-1", At: 5}
	for name, bad := range map[string]Event{
		"no kind":             {At: 5},
		"a kind too many":     {Kind: KindCount, At: 5},
		"going back":          {Kind: KindHeal, At: 4},
		"a negative time":     {Kind: KindHeal, At: -1},
		"a surplus member":    {Kind: KindHeal, At: 5, Process: "server-1"},
		"a missing member":    {Kind: KindCrash, At: 5},
		"text that is none":   {Kind: KindCrash, At: 5, Process: "\xff"},
		"a negative number":   {Kind: KindRefusal, At: 5, Attempt: -1},
		"a state too many":    {Kind: KindWrite, At: 5, State: StateCount, Version: 1},
		"a return to no call": {Kind: KindReturn, At: 5, Process: "c", Operation: "o", Attempt: 1, Outcome: OutcomePaid, Status: 201},
	} {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, Header{})
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range []Event{good, bad, good} {
				if err := w.Event(&e); (err != nil) != (i == 1) {
					t.Errorf("event %d: %v", i, err)
				} else if err != nil {
					t.Log(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if _, events, err := Read(&buf); err != nil || !slices.Equal(events, []Event{good, good}) {
				t.Errorf("read back %+v, %v", events, err)
			}
		})
	}
	if _, err := NewWriter(&bytes.Buffer{}, Header{Settled: -1}); err == nil {
		t.Error("a header with a negative duration was written")
	}
}

// A string that came before is not allocated again.
func TestReaderSharesStrings(t *testing.T) {
	line := `{"kind":"crash","process":"a process of some length"}` + "\n"
	var b bytes.Buffer
	b.WriteString(`{"format":"chargeonce history","version":1}` + "\n")
	for range 1001 {
		b.WriteString(line)
	}
	d, err := NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	var e Event
	allocations := testing.AllocsPerRun(1000, func() {
		if err := d.Next(&e); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 8 {
		t.Errorf("%v allocations for a line", allocations)
	}
	t.Logf("%v allocations for a line", allocations)
}
