package impl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"pgregory.net/rapid"
)

func TestParseAmount(t *testing.T) {
	for _, tt := range []struct {
		body string
		want impl.Amount // zero: refused
	}{
		{`{"amount":1,"currency":"EUR"}`, impl.Amount{Minor: 1, Currency: "EUR"}},
		{`{"currency":"JPY","note":{"amount":7},"amount":1200}`, impl.Amount{Minor: 1200, Currency: "JPY"}},
		{`{"amount":9223372036854775807,"currency":"AZA"}`, impl.Amount{Minor: 9223372036854775807, Currency: "AZA"}},
		{`{"amount":9223372036854775808,"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":0,"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":-1,"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":12.5,"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":1e2,"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":"1200","currency":"EUR"}`, impl.Amount{}},
		{`{"amount":null,"currency":"EUR"}`, impl.Amount{}},
		{`{"Amount":1200,"currency":"EUR"}`, impl.Amount{}},
		{`{"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":1200}`, impl.Amount{}},
		{`{"amount":1200,"currency":"EU"}`, impl.Amount{}},
		{`{"amount":1200,"currency":"EURO"}`, impl.Amount{}},
		{`{"amount":1200,"currency":"eUR"}`, impl.Amount{}},
		{`{"amount":1200,"currency":"E@R"}`, impl.Amount{}},
		{`{"amount":1200,"currency":"EU["}`, impl.Amount{}},
		{`{"amount":1200,"currency":978}`, impl.Amount{}},
		{`{"amount":1200,"amount":1,"currency":"EUR"}`, impl.Amount{}},
		{`{"amount":1200,"currency":"EUR"} {}`, impl.Amount{}},
		{`[1200,"EUR"]`, impl.Amount{}},
		{`null`, impl.Amount{}},
		{``, impl.Amount{}},
	} {
		got, err := impl.ParseAmount([]byte(tt.body))
		if got != tt.want || (err == nil) != (tt.want != impl.Amount{}) {
			t.Errorf("ParseAmount(%s) = %+v, %v, want %+v", tt.body, got, err, tt.want)
		}
	}
}

// No two pairs of tenant and endpoint give one scope.
func TestScopeIsInjective(t *testing.T) {
	// Few letters, digits and separators among them, so that two pairs often
	// come close to running together.
	text := rapid.StringOfN(rapid.SampledFrom([]rune("a1: é")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		tenant, endpoint := text.Draw(t, "tenant"), text.Draw(t, "endpoint")
		scope := impl.Scope(tenant, endpoint)
		other, elsewhere := text.Draw(t, "other tenant"), text.Draw(t, "other endpoint")
		if rapid.Bool().Draw(t, "cut elsewhere") { // the same bytes, with the border somewhere else
			all := tenant + " " + endpoint
			cut := rapid.IntRange(0, len(all)-1).Draw(t, "cut")
			other, elsewhere = all[:cut], all[cut+1:]
		}
		same := tenant == other && endpoint == elsewhere
		if (impl.Scope(other, elsewhere) == scope) != same {
			t.Fatalf("Scope(%q, %q) = %q = Scope(%q, %q)", tenant, endpoint, scope, other, elsewhere)
		}
	})
	if got, want := impl.Scope("acme", "POST /payments"), "4:acme POST /payments"; got != want {
		t.Errorf("Scope = %q, want %q: records are stored under it", got, want)
	}
}

// Replies are stored, and told again for as long as the retention: what they
// look like must not change from one version to the next.
func TestReplies(t *testing.T) {
	paid := impl.PaidReply(&impl.Record{Request: []byte(`{"amount":1200,"currency":"EUR"}`)}, `ch_"1`)
	declined := impl.DeclinedReply("insufficient_funds")
	for _, tt := range []struct {
		reply impl.Reply
		want  string
	}{
		{paid, "201 paid ch_\"1\n  Content-Type: application/json\n  {\"status\":\"paid\",\"charge\":\"ch_\\\"1\",\"amount\":1200,\"currency\":\"EUR\"}"},
		{declined, "402 declined\n  Content-Type: application/json\n  {\"status\":\"declined\",\"code\":\"insufficient_funds\"}"},
	} {
		if got := replyText(tt.reply); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}

// A provider's words are the provider's: whatever they are, the reply that
// quotes them is JSON that says them.
func TestRepliesAreJSON(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"card_declined", "card_declined"},
		{`"quoted" \`, `"quoted" \`},
		{"\x00\a\v\x7f\u2028", "\x00\a\v\x7f\u2028"},
		{"a\U000e0001b", "a\U000e0001b"},
		{"a\xff\xfeb", "a\ufffdb"}, // not text
	} {
		for field, reply := range map[string]impl.Reply{
			"code":   impl.DeclinedReply(tt.word),
			"charge": impl.PaidReply(&impl.Record{Request: []byte(`{"amount":1,"currency":"EUR"}`)}, tt.word),
		} {
			var members map[string]any
			if err := json.Unmarshal(reply.Body, &members); err != nil || members[field] != tt.want {
				t.Errorf("%q became %s, read as %q (%v), want %q", tt.word, reply.Body, members[field], err, tt.want)
			}
		}
	}
}

func TestReplyEqual(t *testing.T) {
	reply := func() *impl.Reply {
		return &impl.Reply{
			Outcome: impl.OutcomePaid, Status: 201, Body: []byte("paid"), ChargeID: "ch_1",
			Header: []impl.HeaderField{{Name: "Content-Type", Value: "text/plain"}, {Name: "Location", Value: "/1"}},
		}
	}
	for name, change := range map[string]func(*impl.Reply){
		"outcome":      func(r *impl.Reply) { r.Outcome = impl.OutcomeDeclined },
		"status":       func(r *impl.Reply) { r.Status = 200 },
		"charge":       func(r *impl.Reply) { r.ChargeID = "ch_2" },
		"body":         func(r *impl.Reply) { r.Body = []byte("Paid") },
		"no body":      func(r *impl.Reply) { r.Body = nil },
		"header name":  func(r *impl.Reply) { r.Header[1].Name = "location" },
		"header value": func(r *impl.Reply) { r.Header[0].Value = "text/html" },
		"header order": func(r *impl.Reply) { r.Header[0], r.Header[1] = r.Header[1], r.Header[0] },
		"less headers": func(r *impl.Reply) { r.Header = r.Header[:1] },
		"more headers": func(r *impl.Reply) { r.Header = append(r.Header, impl.HeaderField{}) },
	} {
		other := reply()
		change(other)
		if reply().Equal(other) || other.Equal(reply()) {
			t.Errorf("another %s makes no difference", name)
		}
	}
	replayed := reply()
	replayed.Replayed = true
	if !reply().Equal(replayed) || !replayed.Equal(reply()) {
		t.Error("the marker of a replay makes a difference")
	}
}

func TestTypedErrors(t *testing.T) {
	sentinels := []error{
		impl.ErrInProgress, impl.ErrMismatch, impl.ErrGone, impl.ErrUnavailable, impl.ErrRefused,
		impl.ErrConflict, impl.ErrNotApplied, impl.ErrNotSent, impl.ErrUnknown, impl.ErrNoLookup,
	}
	for _, tt := range []struct {
		err  error
		is   []error
		text string
	}{
		{&impl.InProgressError{RetryAfter: 150 * time.Millisecond}, []error{impl.ErrInProgress}, "impl: the operation is in progress, retry after 150ms"},
		{&impl.RefusedError{Field: "key", Err: io.EOF}, []error{impl.ErrRefused, io.EOF}, "impl: the request is refused: key: EOF"},
		{&impl.ProviderError{Status: 429}, nil, "impl: the provider answered 429"},
	} {
		if got := tt.err.Error(); got != tt.text {
			t.Errorf("the text is %q, want %q", got, tt.text)
		}
		wrapped := fmt.Errorf("wrapped: %w", tt.err)
		for _, target := range append(sentinels, io.EOF) {
			want := false
			for _, is := range tt.is {
				want = want || is == target
			}
			if errors.Is(wrapped, target) != want {
				t.Errorf("%v is %v: %v, want %v", tt.err, target, !want, want)
			}
		}
	}
	if e, ok := errors.AsType[*impl.InProgressError](fmt.Errorf("wrapped: %w", &impl.InProgressError{RetryAfter: 7})); !ok || e.RetryAfter != 7 {
		t.Errorf("the hint is lost: %v", e)
	}
	if e, ok := errors.AsType[*impl.RefusedError](fmt.Errorf("wrapped: %w", &impl.RefusedError{Field: "body"})); !ok || e.Field != "body" {
		t.Errorf("the field is lost: %v", e)
	}
}

func TestNames(t *testing.T) {
	var states, outcomes, steps []string
	for s := impl.StateNone; s <= impl.StateReview+1; s++ {
		states = append(states, s.String())
		if want := s == impl.StateSucceeded || s == impl.StateDeclined; s.Terminal() != want {
			t.Errorf("%v is terminal: %v, want %v", s, s.Terminal(), want)
		}
	}
	for o := impl.OutcomeNone; o <= impl.OutcomeDeclined+1; o++ {
		outcomes = append(outcomes, o.String())
	}
	for s := impl.StepNone; s <= impl.StepCount; s++ {
		steps = append(steps, s.String())
	}
	for _, tt := range []struct {
		got  []string
		want string
	}{
		{states, "none claimed sent succeeded declined review state(6)"},
		{outcomes, "none paid declined outcome(3)"},
		{steps, "none request reply claim read-back take-over mark-sent charge look-up complete settle review refund sweep collect read-replica step(16)"},
	} {
		if got := strings.Join(tt.got, " "); got != tt.want {
			t.Errorf("the names are %s, want %s: stored plans and traces use them", got, tt.want)
		}
	}
}

func TestParseStep(t *testing.T) {
	for s := impl.StepNone + 1; s < impl.StepCount; s++ {
		if got, err := impl.ParseStep(s.String()); got != s || err != nil {
			t.Errorf("ParseStep(%q) = %v, %v", s, got, err)
		}
	}
	for _, name := range []string{"", "none", "Claim", "step(15)", "claim "} {
		got, err := impl.ParseStep(name)
		if got != impl.StepNone || err == nil || !strings.Contains(err.Error(), ", take-over, ") || !strings.Contains(err.Error(), "collect") {
			t.Errorf("ParseStep(%q) = %v, %v: want an error that lists the names", name, got, err)
		}
	}
}

// Without a scope all tenants would share one key space.
func TestParseWantsAScope(t *testing.T) {
	req := impl.Request{Scope: impl.Scope("", ""), Endpoint: endpoint, Key: "k1", Body: []byte(`{"amount":1,"currency":"EUR"}`)}
	if _, err := impl.Parse(req); err != nil {
		t.Errorf("Parse returned %v of the scope %q", err, req.Scope)
	}
	req.Scope = ""
	_, err := impl.Parse(req)
	if refused, ok := errors.AsType[*impl.RefusedError](err); !ok || refused.Field != "scope" {
		t.Errorf("Parse returned %v of no scope, want a refusal", err)
	}
}

// The words of a refusal go to clients and into logs: they are ours.
func TestParseSaysTheSameEveryTime(t *testing.T) {
	_, err := impl.ParseAmount([]byte(`{"amount":"1200","currency":"EUR"}`))
	if want := "want a JSON object with an integer amount and a currency"; err == nil || err.Error() != want {
		t.Errorf("ParseAmount returned %v, want %q", err, want)
	}
}

// The gallery writes under the token that the run draws.
func TestRunDrawsOwners(t *testing.T) {
	w, err := newWorld(baseConfig())
	if err != nil {
		t.Fatal(err)
	}
	cfg := baseConfig()
	r := impl.Begin(t.Context(), &cfg, &impl.Ports{IDs: w})
	for _, want := range []string{"", "owner-1", "owner-2"} {
		if r.Owner() != want {
			t.Errorf("the owner is %q, want %q", r.Owner(), want)
		}
		r.Renew()
	}
}
