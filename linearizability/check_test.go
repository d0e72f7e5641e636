package linearizability

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
)

// attempts returns a history of one order whose attempts all overlap, and in
// which one that was answered early must have read late.
func attempts(n int, wrong bool) []history.Event {
	var events []history.Event
	at := func(kind history.Kind, i int) history.Event {
		return history.Event{Kind: kind, Process: fmt.Sprint("client-", i), Operation: "order-7", Attempt: 1}
	}
	for i := range n {
		e := at(history.KindCall, i)
		e.Key, e.Fingerprint = "k", "x"
		events = append(events, e)
	}
	events = append(events, history.Event{Kind: history.KindCharge, Operation: "order-7", Charge: "c1", Amount: 500, Currency: "EUR"})
	for i := range n {
		e := at(history.KindReturn, i)
		e.Outcome, e.Status, e.Charge = history.OutcomePaid, 201, "c1"
		if i == 0 {
			e.Outcome, e.Status, e.Charge = history.OutcomeGone, 410, ""
		}
		events = append(events, e)
	}
	if wrong {
		events = append(events, history.Event{Kind: history.KindRefund, Operation: "order-7", Charge: "c1"})
	}
	return events
}

// A budget that is used up gives undecided, and the checker goes on with
// the next history.
func TestBudget(t *testing.T) {
	var c Checker
	hard := attempts(40, true)
	for _, budget := range []time.Duration{1, time.Millisecond} {
		r := c.Check(history.Header{}, hard, Options{Budget: budget})
		if r.Verdict != Undecided || len(r.Findings) != 1 || r.Findings[0].Event != -1 {
			t.Errorf("with %v: %+v", budget, r)
		}
		if r := c.Check(history.Header{}, attempts(4, false), Options{}); r.Verdict != Held {
			t.Errorf("after a search that was cut off: %+v", r)
		}
	}
	if r := c.Check(history.Header{}, hard, Options{Steps: 1000}); r.Verdict != Undecided {
		t.Errorf("with a number of steps: %+v", r)
	}
	if r := c.Check(history.Header{}, attempts(6, true), Options{Budget: time.Hour, Steps: 1 << 20}); r.Verdict != Violated {
		t.Errorf("with bounds that are enough: %+v", r)
	}
}

// What a checker has judged before does not change what it judges next.
func TestReuse(t *testing.T) {
	histories := [][]history.Event{attempts(3, true), attempts(5, false), run(3), nil, attempts(1, true), run(40)}
	var c Checker
	for i := range 3 * len(histories) {
		events := histories[(7*i)%len(histories)]
		got, want := c.Check(history.Header{}, events, Options{}), Check(history.Header{}, events, Options{})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("history %d: reused %+v, fresh %+v", i, got, want)
		}
	}
}

// run returns a history like those of a simulator: each order has its
// client, who asks three times.
func run(orders int) []history.Event {
	var events []history.Event
	step := func(kind history.Kind, i, attempt int) *history.Event {
		events = append(events, history.Event{Kind: kind, Process: names[i].client, Operation: names[i].order, Attempt: attempt})
		return &events[len(events)-1]
	}
	call := func(i, attempt int) {
		e := step(history.KindCall, i, attempt)
		e.Scope, e.Key, e.Fingerprint, e.Amount, e.Currency = "4:acme POST /payments", names[i].key, "x", 1250, "EUR"
	}
	for i := range orders {
		call(i, 1)
		events = append(events, history.Event{Kind: history.KindSend}, history.Event{Kind: history.KindWrite})
	}
	for i := range orders {
		e := step(history.KindCharge, i, 0)
		e.Charge, e.Amount, e.Currency = names[i].charge, 1250, "EUR"
		step(history.KindUnanswered, i, 1)
		call(i, 2)
		e = step(history.KindReturn, i, 2)
		e.Outcome, e.Status = history.OutcomeInProgress, 409
		call(i, 3)
	}
	for i := range orders {
		e := step(history.KindReturn, i, 3)
		e.Outcome, e.Status, e.Body, e.Charge, e.Amount, e.Currency = history.OutcomePaid, 201, 7, names[i].charge, 1250, "EUR"
	}
	return append(events, history.Event{Kind: history.KindHeal}, history.Event{Kind: history.KindEnd})
}

var names = func() (n [1000]struct{ client, order, key, charge string }) {
	for i := range n {
		n[i].client, n[i].order = fmt.Sprint("client-", i), fmt.Sprint("order-", i)
		n[i].key, n[i].charge = fmt.Sprint("key-", i), fmt.Sprint("ch_", i)
	}
	return n
}()

func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name    string
		events  []history.Event
		verdict Verdict
	}{
		{"run of 3 orders", run(3), Held},
		{"run of 1000 orders", run(1000), Held},
		{"4 at once, searched", attempts(4, false), Held},
		{"4 at once, violated", attempts(4, true), Violated},
	} {
		b.Run(c.name, func(b *testing.B) {
			var checker Checker
			b.ReportAllocs()
			for b.Loop() {
				if r := checker.Check(history.Header{}, c.events, Options{Budget: time.Second}); r.Verdict != c.verdict {
					b.Fatal(r)
				}
			}
		})
	}
}
