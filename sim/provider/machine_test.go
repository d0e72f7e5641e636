package provider_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/provider"
)

// naive is a provider that remembers every request and decides by going
// through all of them. It has no table of keys: what is bound to a key is
// asked of the past.
type naive struct {
	profile provider.Profile
	past    []request
	ledger  []provider.Entry
	refunds []string // the keys of all that moved money
}

// request is one that landed, or is going to.
type request struct {
	key, body string
	at        int64
	forgotten bool // its key was, since
	inFlight  bool
	captured  string // the charge that it made
	refused   bool
	failed    bool // and a failure is what its key answers
}

// binds reports whether what happened to the request still decides what
// happens under its key.
func (n *naive) first(key string, at int64) *request {
	if key == "" || !n.profile.Keys {
		return nil
	}
	var first *request
	for i := range n.past {
		r := &n.past[i]
		if r.key != key || r.forgotten {
			continue
		}
		if first == nil || r.at >= first.at+int64(n.profile.Window) {
			first = r // the one before it has run out
		}
	}
	if first == nil || at >= first.at+int64(n.profile.Window) {
		return nil
	}
	return first
}

// result is what a landing comes to, in words.
func (n *naive) charge(a provider.Arrival) string {
	first := n.first(a.Request.Key, a.At)
	switch {
	case first == nil:
		r := request{key: a.Request.Key, body: string(a.Request.Body), at: a.At}
		text := n.bank(a, &r)
		if text != "rejected 400" {
			n.past = append(n.past, r)
		}
		return text
	case first.body != string(a.Request.Body):
		return "rejected 422"
	case first.inFlight:
		return "rejected 409"
	case first.failed:
		return "rejected 500"
	case first.captured != "":
		return "absorbed " + first.captured
	case n.profile.StoresDeclines:
		return "refused"
	default:
		return n.bank(a, first)
	}
}

// bank lets money move, or not.
func (n *naive) bank(a provider.Arrival, r *request) string {
	var minor int64
	switch string(a.Request.Body) {
	case unread:
		return "rejected 400"
	case paid:
		minor = 1200
	case dearer:
		minor = 9900
	case hopeless:
		a.Decline = true
	}
	if r.inFlight = false; a.Decline {
		r.refused = true
		return "refused"
	}
	r.captured, r.refused = fmt.Sprintf("ch_%d", len(n.ledger)+1), false
	n.ledger = append(n.ledger, provider.Entry{
		Charge: impl.Charge{ID: r.captured, Amount: minor, Currency: "EUR"}, Ref: a.Request.Ref, Intent: a.Intent, At: a.At,
	})
	return "captured " + r.captured
}

func words(l provider.Landing) string {
	switch l.Kind {
	case provider.Captured:
		return "captured " + l.ChargeID
	case provider.Absorbed:
		return "absorbed " + l.ChargeID
	case provider.Refused:
		return "refused"
	default:
		return fmt.Sprintf("rejected %d", l.Status)
	}
}

// The machine lets requests land, now or late, forgets keys and gives money
// back, on the provider and on the naive one, and compares all answers. It
// also holds what needs no model: the ledger never loses a line, and within
// the window of a key's first landing money moves at most once.
func TestProviderAgreesWithANaiveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profile := rapid.SampledFrom(provider.Profiles).Draw(t, "profile")
		model := &naive{profile: profile}
		var p provider.Provider
		p.Reset(profile)
		now := int64(0)
		var late []provider.Arrival // pending
		var before []provider.Entry // the ledger as it was
		key := rapid.SampledFrom([]string{"", "k", "l"})
		draw := func(t *rapid.T, bodies ...string) provider.Arrival {
			return provider.Arrival{
				At: now, Intent: rapid.IntRange(1, 3).Draw(t, "intent"), Decline: rapid.Bool().Draw(t, "decline"),
				Request: impl.ChargeRequest{
					Key: key.Draw(t, "key"), Ref: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "ref"),
					Body: []byte(rapid.SampledFrom(bodies).Draw(t, "body")),
				},
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"charge": func(t *rapid.T) {
				a := draw(t, paid, paid, dearer, hopeless, unread)
				if got, want := words(p.Charge(a)), model.charge(a); got != want {
					t.Fatalf("the request under %q comes to %q, want %q", a.Request.Key, got, want)
				}
			},
			"fail": func(t *rapid.T) {
				a := draw(t, paid, dearer)
				first := model.first(a.Request.Key, now)
				if p.Fail(a); !profile.StoresFailures || a.Request.Key == "" {
					return
				}
				if first == nil {
					model.past = append(model.past, request{key: a.Request.Key, body: string(a.Request.Body), at: now, failed: true})
				} else {
					first.failed = true
				}
			},
			"pend": func(t *rapid.T) {
				a := draw(t, paid, dearer, hopeless)
				known := model.first(a.Request.Key, now) != nil
				if got := p.Pending(a); got == known {
					t.Fatalf("the request under %q may be carried out later: %v", a.Request.Key, got)
				}
				if known {
					return
				}
				late = append(late, a)
				model.past = append(model.past, request{key: a.Request.Key, body: string(a.Request.Body), at: now, inFlight: true})
			},
			"land": func(t *rapid.T) {
				if len(late) == 0 {
					t.Skip("nothing is pending")
				}
				i := rapid.IntRange(0, len(late)-1).Draw(t, "which")
				a := late[i]
				late = slices.Delete(late, i, i+1)
				arrived := a.At
				a.At = now
				var mine *request
				for i := range model.past {
					if r := &model.past[i]; r.key == a.Request.Key && r.at == arrived && r.inFlight {
						mine = r
						break
					}
				}
				if got, want := words(p.Land(a)), model.bank(a, mine); got != want {
					t.Fatalf("the late request under %q comes to %q, want %q", a.Request.Key, got, want)
				}
			},
			"forget": func(t *rapid.T) {
				k := key.Draw(t, "key")
				first := model.first(k, now)
				if first != nil && first.inFlight {
					t.Skip("a key in flight is not forgotten here")
				}
				if got := p.Forget(k, now); got != (first != nil) {
					t.Fatalf("forgetting %q reports %v", k, got)
				}
				for i := range model.past {
					if r := &model.past[i]; r.key == k && !r.inFlight {
						r.forgotten = true
					}
				}
			},
			"refund": func(t *rapid.T) {
				id := fmt.Sprintf("ch_%d", rapid.IntRange(1, len(model.ledger)+1).Draw(t, "charge"))
				key := rapid.SampledFrom([]string{"", "r", "s"}).Draw(t, "key")
				var want error = provider.ErrNoCharge
				moves := false
				for i := range model.ledger {
					e := &model.ledger[i]
					if e.ID != id {
						continue
					}
					if want = nil; e.Refunded && profile.RefundsOnce {
						want = provider.ErrRefunded
					}
					moves = want == nil && !(profile.RefundKeys && key != "" && slices.Contains(model.refunds, key))
					if moves && !e.Refunded {
						e.Refunded, e.Back = true, now
					}
				}
				if moves {
					model.refunds = append(model.refunds, key)
				}
				if _, moved, err := p.Refund(impl.RefundRequest{Key: key, ChargeID: id}, now); !errors.Is(err, want) || moved != moves {
					t.Fatalf("refunding %s under %q: moved %v, %v; want %v, %v", id, key, moved, err, moves, want)
				}
			},
			"look up": func(t *rapid.T) {
				ref := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "ref")
				at := rapid.Int64Range(0, now+1).Draw(t, "before")
				var want []impl.Charge
				left := 0
				for _, e := range model.ledger {
					if e.Ref == ref && e.At < at {
						if e.Refunded && e.Back >= at {
							e.Refunded = false
							left++
						}
						want = append(want, e.Charge)
					} else if e.Ref == ref {
						left++
					}
				}
				if got, hidden := p.Lookup(nil, ref, at); !slices.Equal(got, want) || hidden != left {
					t.Fatalf("%q before %d shows %v and hides %d, want %v and %d", ref, at, got, hidden, want, left)
				}
			},
			"wait": func(t *rapid.T) {
				d := rapid.SampledFrom([]int64{1, int64(profile.Window) / 3, int64(profile.Window) - 1, int64(profile.Window)}).Draw(t, "for")
				if len(late) > 0 && now+d >= late[0].At+int64(profile.Window) {
					t.Skip("a message lives shorter than a key")
				}
				now += d
			},
			"": func(t *rapid.T) {
				ledger := p.Ledger()
				if !slices.Equal(ledger, model.ledger) {
					t.Fatalf("the ledger is %v, want %v", ledger, model.ledger)
				}
				if len(ledger) < len(before) {
					t.Fatalf("the ledger lost a line: it was %v and is %v", before, ledger)
				}
				for i, was := range before {
					is := ledger[i]
					is.Refunded, is.Back = was.Refunded, was.Back
					if is != was || was.Refunded && !ledger[i].Refunded {
						t.Fatalf("line %d of the ledger was %v and is %v", i, was, ledger[i])
					}
				}
				before = append(before[:0], ledger...)
				if profile.Keys {
					collapsed(t, model)
				}
			},
		})
	})
}

// collapsed is the promise A1: of the requests under one key, those that
// moved money and whose key was not forgotten since landed first at least a
// window apart.
func collapsed(t *rapid.T, n *naive) {
	for i, a := range n.past {
		for _, b := range n.past[i+1:] {
			if a.key == b.key && a.key != "" && a.captured != "" && b.captured != "" && !a.forgotten && b.at-a.at < int64(n.profile.Window) {
				t.Fatalf("%q moved money twice within its window: %+v and %+v", a.key, a, b)
			}
		}
	}
}
