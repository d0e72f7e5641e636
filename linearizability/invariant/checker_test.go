package invariant

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model/history"
)

// TestPartialHistories takes lines and fields from correct histories, as
// other people's recorders do. An absent line proves nothing, so whatever is
// missing, nothing may be violated.
func TestPartialHistories(t *testing.T) {
	keyed, compensation := parseStory(t, keyedStory), parseStory(t, compensationStory)
	rapid.Check(t, func(t *rapid.T) {
		events, header := keyed, keyedHeader
		if rapid.Bool().Draw(t, "compensation") {
			events, header = compensation, compensationHeader
		}
		header.Complete = false
		kinds := rapid.SliceOf(rapid.SampledFrom(separable)).Draw(t, "kinds of lines that are missing")
		lines := rapid.SliceOf(rapid.IntRange(0, len(events)-1)).Draw(t, "lines that are missing")
		fields := rapid.SliceOfN(rapid.IntRange(0, len(events)*fieldCount-1), 0, 200).Draw(t, "fields that are missing")
		ledger := rapid.Bool().Draw(t, "there is a ledger")
		c := New(header)
		for i, e := range events {
			missing := slices.Contains(separable, e.Kind) && (slices.Contains(kinds, e.Kind) || slices.Contains(lines, i))
			if missing || !ledger && ledgerLine(e.Kind) {
				continue
			}
			for field := range fieldCount {
				if slices.Contains(fields, i*fieldCount+field) {
					blank(&e, field)
				}
			}
			c.Event(&e)
		}
		if got := verdict(c); got != "held\n" {
			t.Fatal(got)
		}
	})
}

// separable are the kinds of lines that may be missing while others are
// there. A ledger has all its charges and refunds or is not there at all; an
// answer that is missing leaves its operation without one.
var separable = []history.Kind{
	history.KindCall, history.KindUnanswered, history.KindAbsorbed, history.KindRefusal, history.KindCrash,
	history.KindSend, history.KindWrite, history.KindForget, history.KindHeal, history.KindEnd,
}

func ledgerLine(k history.Kind) bool {
	return k == history.KindCharge || k == history.KindAbsorbed || k == history.KindRefusal || k == history.KindRefund
}

const fieldCount = 16

// blank takes one field from an event, unless it names what the line is
// about.
func blank(e *history.Event, field int) {
	record := e.Kind == history.KindWrite || e.Kind == history.KindForget
	switch field {
	case 0:
		if !record {
			e.Scope = ""
		}
	case 1:
		if !record {
			e.Key = ""
		}
	case 2:
		if ledgerLine(e.Kind) || e.Kind == history.KindSend {
			e.Operation = ""
		}
	case 3:
		e.Fingerprint = ""
	case 4:
		e.Amount = 0
	case 5:
		e.Currency = ""
	case 6:
		e.Status = 0
	case 7:
		e.Body = 0
	case 8:
		e.Charge = ""
	case 9:
		e.ProviderKey = ""
	case 10:
		e.Request = 0
	case 11:
		e.State = history.StateNone
	case 12:
		e.Version = 0
	case 13:
		e.Owner = ""
	case 14:
		e.Run = ""
	case 15:
		e.WindowFrom = 0
	}
}

// TestCrowdedHistories puts each story behind so many other operations that
// the tables find names by hash; the verdict must be the same.
func TestCrowdedHistories(t *testing.T) {
	for _, story := range []struct {
		text   string
		header history.Header
		broken string
	}{
		{keyedStory, keyedHeader, ""}, {compensationStory, compensationHeader, ""},
		{keyedStory + "charge order-4 pk=p4 charge=ch_5 amount=300\n", keyedHeader, "SingleCharge and WindowGuarded"},
	} {
		events := parseStory(t, story.text)
		c := New(story.header)
		for n := range 3 * scanned {
			for _, e := range events {
				if e.Kind == history.KindHeal || e.Kind == history.KindEnd || e.Kind == history.KindCharge && e.Charge == "ch_5" {
					continue
				}
				inside(&e, fmt.Sprintf("/%d", n))
				e.At = 0
				if e.Kind == history.KindForget || e.Tombstone {
					continue
				}
				if e.Outcome == history.OutcomeGone {
					e.Outcome, e.Status = history.OutcomeUnavailable, 503
				}
				c.Event(&e)
			}
		}
		before := len(parseStory(t, story.text))
		for i := range events {
			c.Event(&events[i])
		}
		var found []string
		for _, v := range c.Violations() {
			found = append(found, v.Invariant.String())
			if v.Index < before {
				t.Errorf("%v is found among the others", v)
			}
		}
		if got := list(found); got != story.broken {
			t.Errorf("found %q, want %q", got, story.broken)
		}
	}
}

// inside renames all names of an event.
func inside(e *history.Event, suffix string) {
	for _, name := range []*string{&e.Operation, &e.Key, &e.Charge, &e.ProviderKey, &e.Owner, &e.Run, &e.Fingerprint} {
		if *name != "" {
			*name += suffix
		}
	}
}

// TestViolationsBeforeTheEnd asks for violations in the middle of a
// compensation; asking must not decide.
func TestViolationsBeforeTheEnd(t *testing.T) {
	c := New(history.Header{Compensates: true})
	events := parseStory(t, `
		call client-1 order-1 key=k1 fp=f1 amount=1200
		charge order-1 charge=ch_1 amount=1200
		charge order-1 charge=ch_2 amount=1200
		refund order-1 charge=ch_2 amount=1200
		end`)
	want := []string{"held\n", "held\n",
		"SingleCharge by event 2, order-1: order-1 was charged twice: ch_1 (12.00 EUR) and ch_2 (12.00 EUR), 24.00 EUR in all for one payment of 12.00 EUR, when all was over\n",
		"held\n", "held\n"}
	for i := range events {
		c.Event(&events[i])
		if got := verdict(c); got != want[i] {
			t.Errorf("after event %d:\n%swant\n%s", i, got, want[i])
		}
	}
}

// TestNoAllocations judges a correct history again and again with one
// checker.
func TestNoAllocations(t *testing.T) {
	events, c := parseStory(t, keyedStory), New(keyedHeader)
	run := func() {
		c.Reset(keyedHeader)
		for i := range events {
			c.Event(&events[i])
		}
		if len(c.Violations()) != 0 {
			t.Fatal(c.Violations())
		}
	}
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations a history, want none", n)
	}
}

// BenchmarkChecker judges a history of 40 events with four operations.
func BenchmarkChecker(b *testing.B) {
	events, c := parseStory(b, keyedStory), New(keyedHeader)
	b.ReportAllocs()
	for b.Loop() {
		c.Reset(keyedHeader)
		for i := range events {
			c.Event(&events[i])
		}
		if len(c.Violations()) != 0 {
			b.Fatal(c.Violations())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
}
