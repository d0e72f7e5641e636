// Package provider is a deterministic payment provider: a ledger, and the
// promises of a profile kept exactly.
//
// It dedupes by key within a window, declines, refunds, and answers look-ups.
// It knows no time of its own and no faults: the caller says what time it is
// and what goes wrong. Its ledger is the truth about the money.
//
// The rule it keeps: within the window of a key's first landing, equal key
// and parameters move no more money.
package provider

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Profile is what a provider promises.
type Profile struct {
	Name string
	Doc  string
	impl.Profile
	// Window is how long a key is remembered, from its first landing; without
	// keys, how long a service should try.
	Window time.Duration
	// Lifetime is how long a message lives in a deployment with this provider,
	// much of it in the provider's own queues; 0 is a second.
	Lifetime time.Duration
	// RefundKeys says that refunds under one key are one refund. It matters
	// where not RefundsOnce.
	RefundKeys bool
}

// Profiles lists the profiles, the default first.
var Profiles = []Profile{
	{
		Name: "keyed", Doc: "keys for 30 s, declines stored under the key, look-up", Window: 30 * time.Second,
		Profile: impl.Profile{Keys: true, StoresDeclines: true, Lookup: true, RefundsOnce: true},
	},
	{
		Name: "keyed-forgets-declines", Doc: "keys for 30 s, declines not stored (only successes are), look-up", Window: 30 * time.Second,
		Profile: impl.Profile{Keys: true, Lookup: true, RefundsOnce: true},
	},
	{
		Name: "keyed-short-window", Doc: "keys for 2.5 s, declines stored, look-up", Window: 2500 * time.Millisecond,
		Profile: impl.Profile{Keys: true, StoresDeclines: true, Lookup: true, RefundsOnce: true},
	},
	{
		Name: "keyless-lookup", Doc: "no keys, look-up by reference", Window: 5 * time.Second,
		Profile: impl.Profile{Lookup: true, RefundsOnce: true},
	},
	{
		Name: "keyless", Doc: "no keys and no look-up", Window: 5 * time.Second,
		Profile: impl.Profile{RefundsOnce: true},
	},
	{
		Name: "keyed-stores-failures", Doc: "keys for 30 s, declines and failures (500) stored under the key, look-up", Window: 30 * time.Second,
		Profile: impl.Profile{Keys: true, StoresDeclines: true, StoresFailures: true, Lookup: true, RefundsOnce: true},
	},
	{
		Name: "keyed-slow", Doc: "keys for 4 s, declines stored, look-up; a request may take 2.5 s to have its effect", Window: 4 * time.Second,
		Profile:  impl.Profile{Keys: true, StoresDeclines: true, Lookup: true, RefundsOnce: true},
		Lifetime: 2500 * time.Millisecond,
	},
	{
		Name: "keyless-refund-keys", Doc: "no keys, look-up by reference; refunds under one key are one refund, any other gives back again", Window: 5 * time.Second,
		Profile: impl.Profile{Lookup: true}, RefundKeys: true,
	},
	{
		Name: "keyless-repeats-refunds", Doc: "no keys, look-up by reference; every refund gives back, also what was given back before", Window: 5 * time.Second,
		Profile: impl.Profile{Lookup: true},
	},
}

// ByName returns a profile; the error lists the names.
func ByName(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("no provider profile is called %q; the profiles are %s", name, strings.Join(names, ", "))
}

// Entry is a charge in the ledger.
type Entry struct {
	impl.Charge
	Ref    string
	Intent int   // the client's order that it was made for; no service reads it
	At     int64 // virtual nanoseconds
	Back   int64 // when it was first given back, if it was; virtual nanoseconds
}

// Kind is what became of a charge request.
type Kind uint8

// What can become of a charge request.
const (
	Captured Kind = iota // money moved: a new Entry
	Absorbed             // the key was known: no money moved, the stored answer again
	Refused              // declined
	Rejected             // not evaluated: other parameters under the key (422), a bad request (400), in flight (409)
)

// Landing is what became of a charge request.
type Landing struct {
	Kind     Kind
	Status   int    // HTTP status of the answer
	ChargeID string // Captured, Absorbed after a capture
	Code     string // Refused
	Entry    int    // Captured, Absorbed after a capture: index in the ledger
	Amount   impl.Amount
}

type key struct {
	name     string
	body     []byte
	first    int64
	answer   Landing
	inFlight bool
	failed   bool // a failure is stored, whatever became of the request
}

// Provider is one provider. The zero value needs Reset.
type Provider struct {
	profile Profile
	keys    []key
	ledger  []Entry
	refunds []string // the keys under which charges were given back
	orders  []order  // in all runs so far
	ids     []string
}

// Reset empties the provider and gives it a profile.
func (p *Provider) Reset(profile Profile) {
	p.profile, p.keys, p.ledger, p.refunds = profile, p.keys[:0], p.ledger[:0], p.refunds[:0]
}

// Ledger returns all charges, oldest first. The caller does not keep it.
func (p *Provider) Ledger() []Entry { return p.ledger }

// Profile returns the profile.
func (p *Provider) Profile() *Profile { return &p.profile }

// declinedSource is the payment source that is always declined.
var declinedSource = []byte(`"source":"card_declined"`)

// Arrival is a charge request as it lands.
type Arrival struct {
	At      int64 // virtual nanoseconds
	Request impl.ChargeRequest
	Intent  int  // whose order it is, for the ledger
	Decline bool // the bank says no this time
}

// Charge lets a request land.
func (p *Provider) Charge(a Arrival) Landing {
	k := p.find(a.Request.Key, a.At)
	if k != nil {
		switch {
		case !bytes.Equal(k.body, a.Request.Body):
			return Landing{Kind: Rejected, Status: 422}
		case k.inFlight:
			return Landing{Kind: Rejected, Status: 409}
		case k.failed:
			return Landing{Kind: Rejected, Status: 500}
		case k.answer.Kind == Captured || p.profile.StoresDeclines:
			again := k.answer
			if again.Kind == Captured {
				again.Kind = Absorbed
			}
			return again
		}
	}
	l := p.evaluate(a)
	if a.Request.Key != "" && p.profile.Keys && l.Kind != Rejected {
		if k == nil {
			p.keys = append(p.keys, key{name: a.Request.Key, body: a.Request.Body, first: a.At})
			k = &p.keys[len(p.keys)-1]
		}
		k.answer = l
	}
	return l
}

// Fail notes that a request was answered by a failure, before or after it
// landed. Where failures are stored its key gives that answer from now on.
func (p *Provider) Fail(a Arrival) {
	if !p.profile.StoresFailures || a.Request.Key == "" || !p.profile.Keys {
		return
	}
	k := p.find(a.Request.Key, a.At)
	if k == nil {
		p.keys = append(p.keys, key{name: a.Request.Key, body: a.Request.Body, first: a.At})
		k = &p.keys[len(p.keys)-1]
	}
	k.failed = true
}

// Pending marks the key of a request as in flight until Charge is called for
// it with Settle. It reports whether the request may be carried out later.
func (p *Provider) Pending(a Arrival) bool {
	if a.Request.Key == "" || !p.profile.Keys {
		return true
	}
	if p.find(a.Request.Key, a.At) != nil {
		return false
	}
	p.keys = append(p.keys, key{name: a.Request.Key, body: a.Request.Body, first: a.At, inFlight: true})
	return true
}

// Land ends what Pending began.
func (p *Provider) Land(a Arrival) Landing {
	for i := range p.keys {
		if k := &p.keys[i]; k.inFlight && k.name == a.Request.Key {
			k.inFlight = false
			k.answer = p.evaluate(a)
			return k.answer
		}
	}
	return p.evaluate(a)
}

// Declines reports whether the bank declines what a body asks for whatever
// the caller says.
func Declines(body []byte) bool { return bytes.Contains(body, declinedSource) }

// evaluate asks the bank.
func (p *Provider) evaluate(a Arrival) Landing {
	o, err := p.parse(a.Request.Body)
	switch {
	case err != nil:
		return Landing{Kind: Rejected, Status: 400}
	case a.Decline || o.declines:
		return Landing{Kind: Refused, Status: 402, Code: "card_declined", Amount: o.amount}
	}
	id := p.id(len(p.ledger) + 1)
	p.ledger = append(p.ledger, Entry{
		Charge: impl.Charge{ID: id, Amount: o.amount.Minor, Currency: o.amount.Currency},
		Ref:    a.Request.Ref, Intent: a.Intent, At: a.At,
	})
	return Landing{Kind: Captured, Status: 201, ChargeID: id, Entry: len(p.ledger) - 1, Amount: o.amount}
}

// find returns what is stored under a key, nil when nothing is or its window
// is over.
func (p *Provider) find(name string, at int64) *key {
	if name == "" || !p.profile.Keys {
		return nil
	}
	for i := range p.keys {
		if k := &p.keys[i]; k.name == name {
			if at-k.first < int64(p.profile.Window) {
				return k
			}
			p.keys = append(p.keys[:i], p.keys[i+1:]...)
			return nil
		}
	}
	return nil
}

// Forget loses the key, and reports whether it was known.
func (p *Provider) Forget(name string, at int64) bool {
	if p.find(name, at) == nil {
		return false
	}
	for i := range p.keys {
		if p.keys[i].name == name {
			p.keys = append(p.keys[:i], p.keys[i+1:]...)
			return true
		}
	}
	return false
}

// Lookup appends the charges made under a reference before an instant, oldest
// first, as they were then, and returns how many later ones, and later refunds,
// it left out.
func (p *Provider) Lookup(to []impl.Charge, ref string, before int64) (found []impl.Charge, hidden int) {
	for i := range p.ledger {
		switch e := &p.ledger[i]; {
		case e.Ref != ref:
		case e.At >= before:
			hidden++
		default:
			to = append(to, e.Charge)
			if e.Refunded && e.Back >= before {
				to[len(to)-1].Refunded = false
				hidden++
			}
		}
	}
	return to, hidden
}

// Errors of Refund.
var (
	// ErrNoCharge is returned for a charge that is not in the ledger.
	ErrNoCharge = errors.New("provider: no such charge")
	// ErrRefunded is returned for a charge that was given back before.
	ErrRefunded = errors.New("provider: the charge was refunded before")
)

// Refund gives a charge back in full and returns its entry, and whether money
// moved: a refund under a key that is known moves none.
func (p *Provider) Refund(req impl.RefundRequest, at int64) (e *Entry, moved bool, err error) {
	for i := range p.ledger {
		e := &p.ledger[i]
		switch {
		case e.ID != req.ChargeID:
			continue
		case e.Refunded && p.profile.RefundsOnce:
			return e, false, ErrRefunded
		case p.profile.RefundKeys && req.Key != "" && slices.Contains(p.refunds, req.Key):
			return e, false, nil
		}
		if !e.Refunded {
			e.Refunded, e.Back = true, at
		}
		p.refunds = append(p.refunds, req.Key)
		return e, true, nil
	}
	return nil, false, ErrNoCharge
}

// order is what a body asks for.
type order struct {
	body     []byte
	amount   impl.Amount
	declines bool // it can only be declined
}

// maxOrders bounds how many orders are remembered.
const maxOrders = 16

// parse reads a body. Equal bodies come again and again, in all runs, and
// there are few.
func (p *Provider) parse(body []byte) (*order, error) {
	for i := range p.orders {
		if o := &p.orders[i]; bytes.Equal(o.body, body) {
			return o, nil
		}
	}
	amount, err := impl.ParseAmount(body)
	if err != nil {
		return nil, err
	}
	if len(p.orders) == maxOrders {
		p.orders = p.orders[:0]
	}
	p.orders = append(p.orders, order{bytes.Clone(body), amount, Declines(body)})
	return &p.orders[len(p.orders)-1], nil
}

func (p *Provider) id(n int) string {
	for len(p.ids) < n {
		p.ids = append(p.ids, fmt.Sprintf("ch_%d", len(p.ids)+1))
	}
	return p.ids[n-1]
}
