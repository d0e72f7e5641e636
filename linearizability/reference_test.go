package linearizability

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
)

// reference judges a small history by trying every order of everything, in one
// go and without the shortcuts of the checker: each attempt is submitted for
// itself, an attempt that was answered for good between its call and its
// return and before its answer, and operations are not told apart.
type reference struct {
	rules  model.Rules
	points []*point
}

// point is one thing that happened.
type point struct {
	in       model.Input
	call     int
	ret      int // never: it may be left out
	order    string
	key      any // what tells keys apart
	after    *point
	attempts []*point // Charge: the submits of the order that were called before
}

func newReference(h history.Header, events []history.Event) *reference {
	r := &reference{rules: model.Rules{Compensates: h.Compensates}}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case history.KindCall:
			r.attempt(events, i)
		case history.KindCharge:
			in := model.Input{Kind: model.Charge, Charge: e.Charge, Money: money(e)}
			r.points = append(r.points, &point{in: in, call: i, ret: i, order: e.Operation})
		case history.KindRefund:
			in := model.Input{Kind: model.Refund, Charge: e.Charge, Money: money(e)}
			r.points = append(r.points, &point{in: in, call: i, ret: i, order: e.Operation})
		case history.KindEnd:
			for _, name := range []string{"order-1", "order-2"} {
				r.points = append(r.points, &point{in: model.Input{Kind: model.End}, call: i, ret: i, order: name})
			}
		}
	}
	for _, p := range r.points {
		for _, a := range r.points {
			if p.in.Kind == model.Charge && a.in.Kind == model.Submit && a.order == p.order && a.call < p.call {
				p.attempts = append(p.attempts, a)
			}
		}
	}
	return r
}

func (r *reference) attempt(events []history.Event, i int) {
	e := &events[i]
	submit := &point{in: model.Input{Kind: model.Submit, Parameters: parameters(e)}, call: i, ret: never, order: e.Operation}
	submit.key = keyName{e.Scope, e.Key}
	if e.Key == "" {
		submit.key = i
	}
	for j := i + 1; j < len(events); j++ {
		a := &events[j]
		if a.Kind != history.KindReturn || a.Operation != e.Operation || a.Process != e.Process || a.Attempt != e.Attempt {
			continue
		}
		switch a.Outcome {
		case history.OutcomeRefused:
			return
		case history.OutcomeInProgress, history.OutcomeUnavailable:
		default:
			submit.ret = j
			reply := model.Reply{Outcome: a.Outcome, Status: a.Status, Body: a.Body, Charge: a.Charge}
			in := model.Input{Kind: model.Answer, Parameters: parameters(e), Reply: reply, Money: money(a)}
			r.points = append(r.points, &point{in: in, call: i, ret: j, order: e.Operation, key: submit.key, after: submit})
		}
	}
	r.points = append(r.points, submit)
}

func (r *reference) holds() bool {
	return r.extend(make(map[*point]bool), make(map[any]model.Key), make(map[string]model.Order))
}

// extend tries every point that may come next.
func (r *reference) extend(done map[*point]bool, keys map[any]model.Key, orders map[string]model.Order) bool {
	deadline, finished := math.MaxInt, true
	for _, p := range r.points {
		if !done[p] && p.ret != never {
			deadline, finished = min(deadline, p.ret), false
		}
	}
	if finished {
		return true
	}
	for _, p := range r.points {
		if done[p] || p.call > deadline || p.after != nil && !done[p.after] {
			continue
		}
		next, why := r.try(p, keys, orders)
		if why != model.Allowed {
			continue
		}
		key, order := keys[p.key], orders[p.order]
		done[p] = true
		if p.key != nil {
			keys[p.key] = next.Key
		}
		orders[p.order] = next.Order
		if r.extend(done, keys, orders) {
			return true
		}
		done[p] = false
		if p.key != nil {
			keys[p.key] = key
		}
		orders[p.order] = order
	}
	return false
}

func (r *reference) try(p *point, keys map[any]model.Key, orders map[string]model.Order) (next model.State, why model.Reason) {
	if p.in.Kind != model.Charge {
		return model.State{Key: keys[p.key], Order: orders[p.order]}.Step(&p.in, r.rules)
	}
	why = model.ChargedUnasked
	for _, a := range p.attempts {
		in := p.in
		in.Parameters.Fingerprint = a.in.Parameters.Fingerprint
		if next, why = (model.State{Key: keys[a.key], Order: orders[p.order]}).Step(&in, r.rules); why == model.Allowed {
			break
		}
	}
	return next, why
}

// recorder draws small histories, right and wrong ones.
type recorder struct {
	t       *rapid.T
	events  []history.Event
	open    []history.Event
	charges []history.Event // not refunded
}

func (r *recorder) add(e history.Event) { r.events = append(r.events, e) }

func (r *recorder) call() {
	e := history.Event{Kind: history.KindCall, Process: "client-1", Attempt: len(r.events) + 1}
	e.Operation = rapid.SampledFrom([]string{"order-1", "order-1", "order-2"}).Draw(r.t, "order")
	e.Fingerprint = rapid.SampledFrom([]string{"x", "x", "y"}).Draw(r.t, "fingerprint")
	e.Key = rapid.SampledFrom([]string{"k", "k", "k", "l", ""}).Draw(r.t, "key")
	r.add(e)
	r.open = append(r.open, e)
}

func (r *recorder) answer() {
	i := rapid.IntRange(0, len(r.open)-1).Draw(r.t, "call")
	e := r.open[i]
	r.open = append(r.open[:i:i], r.open[i+1:]...)
	e.Kind, e.Fingerprint = history.KindReturn, ""
	e.Outcome = rapid.SampledFrom([]history.Outcome{
		history.OutcomePaid, history.OutcomePaid, history.OutcomePaid, history.OutcomeDeclined, history.OutcomeMismatch,
		history.OutcomeMismatch, history.OutcomeGone, history.OutcomeGone, history.OutcomeRefused, history.OutcomeInProgress,
	}).Draw(r.t, "outcome")
	e.Status = e.Outcome.Statuses()[0]
	if e.Outcome == history.OutcomePaid && len(r.charges) > 0 {
		e.Charge = rapid.SampledFrom(r.charges).Draw(r.t, "by").Charge
	}
	if rapid.IntRange(0, 5).Draw(r.t, "body") == 0 {
		e.Body = 2
	}
	r.add(e)
}

func (r *recorder) charge() {
	e := history.Event{Kind: history.KindCharge, Amount: 500, Currency: "EUR", Charge: string(rune('a' + len(r.events)))}
	e.Operation = rapid.SampledFrom([]string{"order-1", "order-1", "order-2"}).Draw(r.t, "charged")
	r.add(e)
	r.charges = append(r.charges, e)
}

func (r *recorder) refund() {
	i := rapid.IntRange(0, len(r.charges)-1).Draw(r.t, "refunded")
	e := r.charges[i]
	r.charges = append(r.charges[:i:i], r.charges[i+1:]...)
	e.Kind = history.KindRefund
	r.add(e)
}

func drawHistory(t *rapid.T) []history.Event {
	r := recorder{t: t}
	r.call()
	if rapid.Bool().Draw(t, "two at once") {
		r.call()
	}
	for range rapid.IntRange(1, 8).Draw(t, "events") {
		switch n := rapid.IntRange(0, 9).Draw(t, "what"); {
		case n < 4 && len(r.open) > 0:
			r.answer()
		case n < 7:
			r.call()
		case n < 9 || len(r.charges) == 0:
			r.charge()
		default:
			r.refund()
		}
	}
	if rapid.Bool().Draw(t, "end") {
		r.add(history.Event{Kind: history.KindEnd})
	}
	return r.events
}

// The checker, the search without its shortcut, and trying every order agree,
// also on where a wrong history goes wrong.
func TestAgreesWithEveryOrder(t *testing.T) {
	var checker Checker
	verdicts := make(map[Verdict]int)
	searched := 0 // histories that hold, though not in the order in which they were recorded
	property := func(t *rapid.T) {
		h := history.Header{Compensates: rapid.Bool().Draw(t, "compensates")}
		events := drawHistory(t)
		got := checker.Check(h, events, Options{})
		want := Violated
		if newReference(h, events).holds() {
			want = Held
		}
		if got.Verdict != want {
			t.Fatalf("the checker says %v, every order says %v: %v", got.Verdict, want, got.Findings)
		}
		verdicts[want]++
		for _, f := range got.Findings {
			mine := only(f, events)
			cut := 0
			for cut = range mine {
				if mine[cut] == events[f.Event] {
					break
				}
			}
			if !newReference(h, mine[:cut]).holds() || newReference(h, upTo(mine, cut)).holds() {
				t.Fatalf("%v: it does not go wrong there", f)
			}
			if f.Reason.Invariant() == "" {
				t.Fatalf("%v: no reason", f)
			}
		}
		if compareShortcut(t, h, events) {
			searched++
		}
	}
	for range 40 {
		rapid.Check(t, property)
	}
	if verdicts[Held] < 100 || verdicts[Violated] < 100 || searched < 5 {
		t.Errorf("the histories were %v, %d of them held only by search, which tests little", verdicts, searched)
	}
	t.Logf("%v, %d held only by search", verdicts, searched)
}

// only returns the events of the orders of a finding.
func only(f Finding, events []history.Event) (mine []history.Event) {
	for _, e := range events {
		for _, name := range f.Orders {
			if e.Operation == name || e.Kind == history.KindEnd {
				mine = append(mine, e)
				break
			}
		}
	}
	return mine
}

// upTo returns the events up to one, and of those after it only what tells
// which attempts were refused.
func upTo(events []history.Event, last int) []history.Event {
	part := slices.Clone(events[:last+1])
	for _, e := range events[last+1:] {
		if e.Kind == history.KindReturn && e.Outcome == history.OutcomeRefused {
			part = append(part, e)
		}
	}
	return part
}

// compareShortcut compares the search with the order as recorded, and reports
// whether only the former explained some operation.
func compareShortcut(t *rapid.T, h history.Header, events []history.Event) (needed bool) {
	var c Checker
	c.assembly.assemble(events, model.Rules{Compensates: h.Compensates})
	for i := range c.assembly.operations {
		j := judge{model.Rules{Compensates: h.Compensates}, &c.assembly.operations[i], &bounds{}, &c.scratch}
		_, why := j.asRecorded(j.operation.steps)
		switch verdict, _ := j.search(j.operation.steps); {
		case verdict == Violated && why == model.Allowed:
			t.Fatalf("%v: right as recorded, wrong by search", j.operation.orders)
		case verdict == Held && why != model.Allowed:
			needed = true
		}
	}
	return needed
}
