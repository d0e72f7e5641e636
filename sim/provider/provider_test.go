package provider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/provider"
)

const (
	paid     = `{"amount":1200,"currency":"EUR","source":"card_1"}`
	dearer   = `{"amount":9900,"currency":"EUR","source":"card_1"}`
	hopeless = `{"amount":1200,"currency":"EUR","source":"card_declined"}`
	unread   = `{"amount":"twelve","currency":"EUR"}`
)

func named(t testing.TB, name string) provider.Profile {
	t.Helper()
	p, err := provider.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func arrival(at time.Duration, key, body string) provider.Arrival {
	return provider.Arrival{At: int64(at), Request: impl.ChargeRequest{Key: key, Ref: "ref-1", Body: []byte(body)}, Intent: 1}
}

func declined(at time.Duration, key, body string) provider.Arrival {
	a := arrival(at, key, body)
	a.Decline = true
	return a
}

// A story is what lands at the provider, one after the other, and what becomes
// of it.
func TestWhatBecomesOfARequest(t *testing.T) {
	type lands struct {
		arrival provider.Arrival
		kind    provider.Kind
		status  int
		charge  string
	}
	const window = 30 * time.Second // of keyed
	const short = 2500 * time.Millisecond
	for _, tt := range []struct {
		name    string
		profile string
		story   []lands
	}{
		{"equal key and parameters move no more money", "keyed", []lands{
			{arrival(0, "k", paid), provider.Captured, 201, "ch_1"},
			{arrival(time.Second, "k", paid), provider.Absorbed, 201, "ch_1"},
			{arrival(window-1, "k", paid), provider.Absorbed, 201, "ch_1"},
		}},
		{"another key is another payment", "keyed", []lands{
			{arrival(0, "k", paid), provider.Captured, 201, "ch_1"},
			{arrival(0, "l", paid), provider.Captured, 201, "ch_2"},
		}},
		{"the window counts from the first landing, not from the last", "keyed-short-window", []lands{
			{arrival(0, "k", paid), provider.Captured, 201, "ch_1"},
			{arrival(short-1, "k", paid), provider.Absorbed, 201, "ch_1"},
			{arrival(short, "k", paid), provider.Captured, 201, "ch_2"},
			{arrival(2*short-1, "k", paid), provider.Absorbed, 201, "ch_2"},
		}},
		{"other parameters under a key are refused and change nothing", "keyed", []lands{
			{arrival(0, "k", paid), provider.Captured, 201, "ch_1"},
			{arrival(1, "k", dearer), provider.Rejected, 422, ""},
			{arrival(2, "k", paid), provider.Absorbed, 201, "ch_1"},
			{arrival(window, "k", dearer), provider.Captured, 201, "ch_2"},
		}},
		{"a decline is stored under the key and given again", "keyed", []lands{
			{declined(0, "k", paid), provider.Refused, 402, ""},
			{arrival(1, "k", paid), provider.Refused, 402, ""},
			{arrival(window, "k", paid), provider.Captured, 201, "ch_1"},
		}},
		{"a decline is not stored: asked again, the bank may say yes", "keyed-forgets-declines", []lands{
			{declined(0, "k", paid), provider.Refused, 402, ""},
			{declined(1, "k", paid), provider.Refused, 402, ""},
			{arrival(2, "k", paid), provider.Captured, 201, "ch_1"},
			{declined(3, "k", paid), provider.Absorbed, 201, "ch_1"},
		}},
		{"a decline that is not stored still binds the parameters and begins the window", "keyed-forgets-declines", []lands{
			{declined(0, "k", paid), provider.Refused, 402, ""},
			{arrival(1, "k", dearer), provider.Rejected, 422, ""},
			{arrival(window-1, "k", paid), provider.Captured, 201, "ch_1"},
			{arrival(window, "k", paid), provider.Captured, 201, "ch_2"},
		}},
		{"a stolen card is always declined", "keyless", []lands{
			{arrival(0, "", hopeless), provider.Refused, 402, ""},
			{arrival(1, "", hopeless), provider.Refused, 402, ""},
		}},
		{"a request that cannot be read is not evaluated and not stored", "keyed", []lands{
			{arrival(0, "k", unread), provider.Rejected, 400, ""},
			{arrival(1, "k", paid), provider.Captured, 201, "ch_1"},
		}},
		{"without a key every landing moves money", "keyed", []lands{
			{arrival(0, "", paid), provider.Captured, 201, "ch_1"},
			{arrival(1, "", paid), provider.Captured, 201, "ch_2"},
		}},
		{"a provider without keys passes over them", "keyless-lookup", []lands{
			{arrival(0, "k", paid), provider.Captured, 201, "ch_1"},
			{arrival(1, "k", paid), provider.Captured, 201, "ch_2"},
			{arrival(2, "k", dearer), provider.Captured, 201, "ch_3"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p provider.Provider
			p.Reset(named(t, tt.profile))
			for i, l := range tt.story {
				got := p.Charge(l.arrival)
				if got.Kind != l.kind || got.Status != l.status || got.ChargeID != l.charge {
					t.Fatalf("landing %d: kind %d, status %d, charge %q; want %d, %d, %q", i+1, got.Kind, got.Status, got.ChargeID, l.kind, l.status, l.charge)
				}
				if l.charge != "" && p.Ledger()[got.Entry].ID != l.charge {
					t.Fatalf("landing %d: its entry is %+v", i+1, p.Ledger()[got.Entry])
				}
			}
		})
	}
}

func TestLedgerTellsWhatWasCaptured(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyed"))
	a := arrival(3*time.Second, "k", dearer)
	a.Request.Ref, a.Intent = "ref-9", 7
	l := p.Charge(a)
	want := provider.Entry{Charge: impl.Charge{ID: l.ChargeID, Amount: 9900, Currency: "EUR"}, Ref: "ref-9", Intent: 7, At: 3e9}
	if got := p.Ledger(); len(got) != 1 || got[0] != want {
		t.Errorf("the ledger is %+v, want %+v", got, want)
	}
	if l.Amount != (impl.Amount{Minor: 9900, Currency: "EUR"}) {
		t.Errorf("the landing tells %+v", l.Amount)
	}
}

// A provider may answer first and act later. Until then the key is in flight.
func TestLateApplication(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyed"))
	late := arrival(0, "k", paid)
	if !p.Pending(late) {
		t.Fatal("a request whose key is new is not carried out later")
	}
	if l := p.Charge(arrival(1, "k", paid)); l.Kind != provider.Rejected || l.Status != 409 {
		t.Errorf("a second request meanwhile: %+v, want a conflict", l)
	}
	if l := p.Charge(arrival(1, "k", dearer)); l.Kind != provider.Rejected || l.Status != 422 {
		t.Errorf("a second request with other parameters meanwhile: %+v, want a mismatch", l)
	}
	if p.Pending(arrival(2, "k", paid)) {
		t.Error("a second request is carried out later too")
	}
	if len(p.Ledger()) != 0 {
		t.Errorf("money moved before it landed: %+v", p.Ledger())
	}
	late.At = 5
	if l := p.Land(late); l.Kind != provider.Captured || l.ChargeID != "ch_1" {
		t.Errorf("it lands as %+v, want captured", l)
	}
	if e := p.Ledger()[0]; e.At != 5 {
		t.Errorf("the ledger dates it %d, want 5", e.At)
	}
	if l := p.Charge(arrival(6, "k", paid)); l.Kind != provider.Absorbed || l.ChargeID != "ch_1" {
		t.Errorf("a request after that: %+v, want absorbed", l)
	}
	if p.Pending(arrival(7, "k", paid)) {
		t.Error("a request whose key is stored is carried out later")
	}
	window := int64(named(t, "keyed").Window)
	if l := p.Charge(arrival(time.Duration(window-1), "k", paid)); l.Kind != provider.Absorbed {
		t.Errorf("the last request within the window from the first landing: %+v", l)
	}
	if l := p.Charge(arrival(time.Duration(window), "k", paid)); l.Kind != provider.Captured {
		t.Errorf("the first request after the window: %+v; the window counts from the arrival, not from the landing", l)
	}
}

func TestLateApplicationWithoutKeys(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyless"))
	for range 2 {
		if !p.Pending(arrival(0, "", paid)) {
			t.Fatal("a request is not carried out later")
		}
	}
	for range 2 {
		if l := p.Land(arrival(1, "", paid)); l.Kind != provider.Captured {
			t.Errorf("it lands as %+v, want captured", l)
		}
	}
	if len(p.Ledger()) != 2 {
		t.Errorf("the ledger has %d lines, want 2", len(p.Ledger()))
	}
}

func TestForget(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyed-short-window"))
	if p.Forget("k", 0) {
		t.Error("an unknown key was forgotten")
	}
	p.Charge(arrival(0, "k", paid))
	p.Charge(arrival(0, "l", paid))
	if !p.Forget("k", 1) || p.Forget("k", 1) {
		t.Error("a known key is forgotten once")
	}
	if l := p.Charge(arrival(2, "k", paid)); l.Kind != provider.Captured {
		t.Errorf("a request under the forgotten key: %+v, want captured", l)
	}
	if l := p.Charge(arrival(2, "l", paid)); l.Kind != provider.Absorbed {
		t.Errorf("a request under the other key: %+v, want absorbed", l)
	}
	if p.Forget("l", int64(2500*time.Millisecond)) {
		t.Error("a key whose window is over was known")
	}
	if len(p.Ledger()) != 3 {
		t.Errorf("the ledger has %d lines, want 3", len(p.Ledger()))
	}
}

func TestLookup(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyless-lookup"))
	for i, ref := range []string{"a", "b", "a", "a"} {
		a := arrival(time.Duration(i+1), "", paid)
		a.Request.Ref = ref
		p.Charge(a)
	}
	if _, _, err := p.Refund(impl.RefundRequest{ChargeID: "ch_1"}, 5); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ref    string
		before int64
		found  []string
		hidden int
	}{
		{"a", 6, []string{"ch_1", "ch_3", "ch_4"}, 0},
		{"a", 5, []string{"ch_1", "ch_3", "ch_4"}, 1}, // that ch_1 was refunded
		{"a", 4, []string{"ch_1", "ch_3"}, 2},
		{"a", 3, []string{"ch_1"}, 3},
		{"a", 0, nil, 3},
		{"b", 5, []string{"ch_2"}, 0},
		{"c", 5, nil, 0},
	} {
		found, hidden := p.Lookup(nil, tt.ref, tt.before)
		var ids []string
		for _, c := range found {
			ids = append(ids, c.ID)
		}
		if !slices.Equal(ids, tt.found) || hidden != tt.hidden {
			t.Errorf("before %d, %q shows %v and hides %d; want %v and %d", tt.before, tt.ref, ids, hidden, tt.found, tt.hidden)
		}
	}
	found, _ := p.Lookup([]impl.Charge{{ID: "mine"}}, "a", 6)
	if len(found) != 4 || found[0].ID != "mine" || !found[1].Refunded || found[2].Refunded {
		t.Errorf("appended and with refunds it shows %+v", found)
	}
}

func TestRefunds(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyed"))
	if e, moved, err := p.Refund(impl.RefundRequest{ChargeID: "ch_1"}, 0); !errors.Is(err, provider.ErrNoCharge) || e != nil || moved {
		t.Errorf("a refund of nothing: %v, %v, %v", e, moved, err)
	}
	p.Charge(arrival(0, "k", paid))
	p.Charge(arrival(0, "l", dearer))
	back := impl.RefundRequest{Key: "r", ChargeID: "ch_2"}
	if e, moved, err := p.Refund(back, 0); err != nil || e.ID != "ch_2" || !e.Refunded || e.Amount != 9900 || !moved {
		t.Errorf("a refund: %+v, %v, %v", e, moved, err)
	}
	if e, moved, err := p.Refund(back, 0); !errors.Is(err, provider.ErrRefunded) || e == nil || e.ID != "ch_2" || moved {
		t.Errorf("a second refund: %+v, %v, %v", e, moved, err)
	}
	if p.Ledger()[0].Refunded {
		t.Error("the other charge was given back")
	}
	if l := p.Charge(arrival(1, "l", dearer)); l.Kind != provider.Absorbed || l.ChargeID != "ch_2" {
		t.Errorf("a request under the key of a refunded charge: %+v, want absorbed", l)
	}
}

// A failure that is stored is given again, whether the charge was made before
// it or not, until the window is over; elsewhere the key is as it was.
func TestStoredFailures(t *testing.T) {
	for _, name := range []string{"keyed", "keyed-stores-failures"} {
		var p provider.Provider
		p.Reset(named(t, name))
		p.Fail(arrival(0, "k", paid))
		p.Charge(arrival(0, "l", paid))
		p.Fail(arrival(0, "l", paid))
		if late := arrival(0, "m", paid); !p.Pending(late) {
			t.Fatal("a new request is not pending")
		} else {
			p.Fail(late)
			if l := p.Land(late); l.Kind != provider.Captured {
				t.Errorf("%s: what lands late: %+v", name, l)
			}
		}
		for _, key := range []string{"k", "l", "m"} {
			failed := p.Charge(arrival(time.Second, key, paid)).Status == 500
			if stores := p.Profile().StoresFailures; failed != stores {
				t.Errorf("%s: the key %s gives the failure again: %v, want %v", name, key, failed, stores)
			}
		}
		if l := p.Charge(arrival(30*time.Second, "k", paid)); name != "keyed" && l.Kind != provider.Captured {
			t.Errorf("%s: after the window: %+v", name, l)
		}
	}
}

// Some give back again what was given back before.
func TestRepeatedRefunds(t *testing.T) {
	for _, tt := range []struct {
		profile string
		keys    []string
		moved   []bool
	}{
		{"keyless-refund-keys", []string{"r", "r", "s", "", ""}, []bool{true, false, true, true, true}},
		{"keyless-repeats-refunds", []string{"r", "r", ""}, []bool{true, true, true}},
	} {
		var p provider.Provider
		p.Reset(named(t, tt.profile))
		p.Charge(arrival(0, "", paid))
		for i, key := range tt.keys {
			if _, moved, err := p.Refund(impl.RefundRequest{Key: key, ChargeID: "ch_1"}, 0); err != nil || moved != tt.moved[i] {
				t.Errorf("%s: refund %d, under %q, moved money: %v, %v", tt.profile, i+1, key, moved, err)
			}
		}
		p.Reset(*p.Profile())
		p.Charge(arrival(0, "", paid))
		if _, moved, _ := p.Refund(impl.RefundRequest{Key: "r", ChargeID: "ch_1"}, 0); !moved {
			t.Errorf("%s: after Reset the key of a refund is known", tt.profile)
		}
	}
}

func TestResetEmptiesAndChangesTheProfile(t *testing.T) {
	var p provider.Provider
	p.Reset(named(t, "keyed"))
	p.Charge(arrival(0, "k", paid))
	p.Pending(arrival(0, "l", paid))
	p.Reset(named(t, "keyed-forgets-declines"))
	if len(p.Ledger()) != 0 || p.Profile().Name != "keyed-forgets-declines" {
		t.Fatalf("after Reset: ledger %v, profile %s", p.Ledger(), p.Profile().Name)
	}
	for _, key := range []string{"k", "l"} {
		if l := p.Charge(arrival(0, key, paid)); l.Kind != provider.Captured {
			t.Errorf("after Reset the key %q is known: %+v", key, l)
		}
	}
	if got := p.Ledger()[0].ID; got != "ch_1" {
		t.Errorf("after Reset the first charge is %s, want ch_1", got)
	}
}

func TestProfilesAreNamedAndDistinct(t *testing.T) {
	seen := map[provider.Profile]bool{}
	for _, p := range provider.Profiles {
		found, err := provider.ByName(p.Name)
		if err != nil || found != p {
			t.Errorf("ByName(%q) = %+v, %v", p.Name, found, err)
		}
		if p.Doc == "" || strings.Contains(p.Doc, "\n") || p.Window <= 0 {
			t.Errorf("%s is not described: %+v", p.Name, p)
		}
		promises := p
		promises.Name, promises.Doc = "", ""
		if seen[promises] {
			t.Errorf("%s promises what another profile promises", p.Name)
		}
		seen[promises] = true
	}
	if _, err := provider.ByName("stripe"); err == nil || !strings.Contains(err.Error(), "keyless-lookup") {
		t.Errorf("ByName of an unknown name: %v, want an error that lists the names", err)
	}
}
