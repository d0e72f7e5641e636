package invariant

import (
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
)

// keyedStory is a correct history in which every kind of line occurs: a crash
// between charge and save, a take-over, a decline, a mismatch, replays, a
// tombstone, and an order after the faults.
const keyedStory = `
call client-1 order-1 key=k1 fp=f1 amount=1200
write server-1/1 key=k1 insert owner=o1 state=claimed fp=f1 pk=p1 request=r1 window=2s
send server-1/1 order-1 pk=p1 request=r1
charge order-1 scope=shop pk=p1 charge=ch_1 amount=1200
crash server-1
unanswered client-1 order-1 key=k1
call client-1 order-1 try=2 key=k1 fp=f1 amount=1200
return client-1 order-1 in-progress 409 try=2 key=k1
call client-2 order-2 key=k2 fp=f2 amount=9900
write server-2/1 key=k2 insert owner=o2 state=claimed fp=f2 pk=p2 request=r2 window=10s
send server-2/1 order-2 pk=p2 request=r2
refusal order-2 scope=shop pk=p2
unanswered client-2 order-2 key=k2
call client-2 order-2 try=2 key=k2 fp=f2 amount=9900
return client-2 order-2 unavailable 503 try=2 key=k2
write server-2/1 key=k2 owner=o2 state=declined outcome=declined status=402 body=b2
call client-2 order-2 try=3 key=k2 fp=f2 amount=9900
return client-2 order-2 declined 402 try=3 body=b2 key=k2
call client-3 order-3 key=k1 fp=f3 amount=500
return client-3 order-3 mismatch 422 key=k1
call client-1 order-1 try=3 key=k1 fp=f1 amount=1200
write server-2/2 key=k1 owner=o3
send server-2/2 order-1 pk=p1 request=r1
absorbed order-1 scope=shop pk=p1 charge=ch_1 amount=1200
write server-2/2 key=k1 owner=o3 state=succeeded outcome=paid status=201 body=b1 charge=ch_1
return client-1 order-1 paid 201 try=3 body=b1 charge=ch_1 amount=1200 key=k1
heal
call client-4 order-4 key=k4 fp=f4 amount=300
write server-2/3 key=k4 insert owner=o4 state=claimed fp=f4 pk=p4 request=r4 window=30s
send server-2/3 order-4 pk=p4 request=r4
charge order-4 scope=shop pk=p4 charge=ch_4 amount=300
write server-2/3 key=k4 owner=o4 state=succeeded outcome=paid status=201 body=b4 charge=ch_4
return client-4 order-4 paid 201 body=b4 charge=ch_4 amount=300 key=k4
call client-1 order-1 try=4 key=k1 fp=f1 amount=1200
return client-1 order-1 paid 201 try=4 body=b1 charge=ch_1 amount=1200 key=k1
call client-1 order-1 try=5 key=k1 fp=f1 amount=1200 at=1h
write reconciler-1/7 key=k1 owner=o5 tombstone at=1h1s
return client-1 order-1 gone 410 try=5 key=k1
forget key=k1
end
`

var keyedHeader = history.Header{
	RetryHorizon: time.Hour, ProviderWindow: 24 * time.Hour, Settled: time.Minute, Complete: true,
}

// compensationStory is the correct history of a design that compensates,
// without keys.
const compensationStory = `
call client-1 order-1 key=k1 fp=f1 amount=1200
write server-1/1 key=k1 insert owner=o1 state=claimed fp=f1 pk=p1 request=r1 window=2s
write server-1/1 key=k1 owner=o1 state=sent
send server-1/1 order-1 pk=p1 request=r1
charge order-1 scope=shop pk=p1 charge=ch_1 amount=1200
unanswered client-1 order-1 key=k1
call client-1 order-1 try=2 key=k1 fp=f1 amount=1200
write server-2/1 key=k1 owner=o2
send server-2/1 order-1 pk=p1 request=r1
charge order-1 scope=shop pk=p1 charge=ch_2 amount=1200
write server-2/1 key=k1 owner=o2 state=succeeded outcome=paid status=201 body=b1 charge=ch_2
return client-1 order-1 paid 201 try=2 body=b1 charge=ch_2 amount=1200 key=k1
write reconciler-1/1 key=k1 scope=audit_shop insert owner=o3 state=claimed fp=f1 pk=p1 request=r1 window=12s
refund order-1 charge=ch_1 amount=1200
write reconciler-1/1 key=k1 scope=audit_shop owner=o3 state=succeeded
heal
call client-1 order-1 try=3 key=k1 fp=f1 amount=1200
return client-1 order-1 paid 201 try=3 body=b1 charge=ch_2 amount=1200 key=k1
end
`

var compensationHeader = history.Header{Keyless: true, Compensates: true, Complete: true}

// alteration is another plausible value of one field of one line.
type alteration struct {
	field string
	value string
	apply func(*history.Event)
}

// alterations returns the other plausible values of every field that a line
// sets.
func alterations(e *history.Event) []alteration {
	var all []alteration
	text := func(field, now string, values []string, to func(*history.Event, string)) {
		for _, v := range values {
			if now != "" && v != now {
				all = append(all, alteration{field, v, func(e *history.Event) { to(e, v) }})
			}
		}
	}
	number := func(field string, now int64, values []int64, to func(*history.Event, int64)) {
		for _, v := range values {
			if now != 0 && v != now {
				all = append(all, alteration{field, fmt.Sprint(v), func(e *history.Event) { to(e, v) }})
			}
		}
	}
	number("status", int64(e.Status), []int64{200, 201, 400, 402, 409, 410, 422, 425, 429, 500, 503}, func(e *history.Event, v int64) { e.Status = int(v) })
	amounts, currencies := []int64{e.Amount + 1, 300, 1200, 9900}, []string{"USD"}
	if e.Kind != history.KindCall { // a call need not state its money
		amounts, currencies = append(amounts, 0), append(currencies, "")
	}
	number("amount", e.Amount, amounts, func(e *history.Event, v int64) { e.Amount = v })
	text("currency", e.Currency, currencies, func(e *history.Event, v string) { e.Currency = v })
	text("charge", e.Charge, []string{"", "ch_1", "ch_2", "ch_4", "ch_9"}, func(e *history.Event, v string) { e.Charge = v })
	text("key", e.Key, []string{"k1", "k2", "k4", "k9"}, func(e *history.Event, v string) { e.Key = v })
	text("scope", e.Scope, []string{"other", "audit shop"}, func(e *history.Event, v string) { e.Scope = v })
	text("provider_key", e.ProviderKey, []string{"", "p1", "p2", "p4", "p9"}, func(e *history.Event, v string) { e.ProviderKey = v })
	text("fingerprint", e.Fingerprint, []string{"f1", "f2", "f3", "f9"}, func(e *history.Event, v string) { e.Fingerprint = v })
	number("version", int64(e.Version), []int64{int64(e.Version) - 1, int64(e.Version) + 1}, func(e *history.Event, v int64) { e.Version = uint64(v) })
	if e.Body != 0 {
		for _, v := range []string{"b1", "b9"} {
			if digestOf(v) != e.Body {
				all = append(all, alteration{"body", v, func(e *history.Event) { e.Body = digestOf(v) }})
			}
		}
		all = append(all, alteration{"body", "none", func(e *history.Event) { e.Body = 0 }})
	}
	if e.Request != 0 {
		all = append(all, alteration{"request", "r9", func(e *history.Event) { e.Request = digestOf("r9") }})
	}
	return all
}

// unseen are the alterations that no invariant can see, and why.
var unseen = []struct{ pattern, why string }{
	{"keyed 7 status=425", "409 and 425 both say in progress, and neither is stored"},
	{"keyed 14 status=429", "429 and 503 both say unavailable, and neither is stored"},
	{"keyed 13 fingerprint=*", "the attempt heard of no record, and a client may ask for something else"},
	{"keyed 18 *", "order-3 heard a mismatch and moved no money, so nothing says what it should have been"},
	{"keyed 23 charge=", "a request may be absorbed by a stored decline, which has no charge"},
	{"compensation * provider_key=", "without keys a send or a ledger line need not carry the reference"},
}

// exception returns the number of the exception that an alteration is, or
// none.
func exception(alteration string) int {
	for i, u := range unseen {
		if ok, err := path.Match(u.pattern, alteration); ok && err == nil {
			return i
		}
	}
	return none
}

// TestAlteredHistories alters a correct history in one field of one line at a
// time. Each must violate something, or stand among the exceptions.
func TestAlteredHistories(t *testing.T) {
	met := make([]bool, len(unseen))
	for _, story := range []struct {
		name, text string
		header     history.Header
	}{
		{"keyed", keyedStory, keyedHeader}, {"compensation", compensationStory, compensationHeader},
	} {
		events := parseStory(t, story.text)
		if got := judge(New(story.header), events); got != "held\n" {
			t.Fatalf("%s as it is:\n%s", story.name, got)
		}
		n := 0
		for i := range events {
			for _, a := range alterations(&events[i]) {
				altered := append([]history.Event(nil), events...)
				a.apply(&altered[i])
				n++
				if judge(New(story.header), altered) != "held\n" {
					continue
				}
				name := fmt.Sprintf("%s %d %s=%s", story.name, i, a.field, a.value)
				if x := exception(name); x != none {
					met[x] = true
				} else {
					t.Errorf("%s: nothing is violated", name)
				}
			}
		}
		t.Logf("%s: %d alterations", story.name, n)
	}
	for x, u := range unseen {
		if !met[x] {
			t.Errorf("the exception %q is not needed", u.pattern)
		}
	}
}
