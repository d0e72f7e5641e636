package designs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
)

// world is two replicas, a bank and a clock that goes only when somebody
// sleeps. One thing happens at a time; what a test wants to go wrong it says
// in the fields of bank, store and world.
type world struct {
	now         time.Time
	ids         int
	bank        *bank
	store       *store
	cfg         impl.Config
	design      impl.Design
	replicas    [2]impl.Handler
	reconciler  impl.Reconciler
	sends       int
	loseReplies int // how many answers of the service get lost from now on
	journaled   string
}

var keyedProfile = impl.Profile{Keys: true, StoresDeclines: true, Lookup: true, RefundsOnce: true}

// profiles are the promises by the name that designs use.
var profiles = map[string]impl.Profile{
	keyed:                 keyedProfile,
	keyedForgetsDeclines:  {Keys: true, Lookup: true},
	keyedShortWindow:      keyedProfile,
	keyedStoresFailures:   {Keys: true, StoresDeclines: true, StoresFailures: true, Lookup: true, RefundsOnce: true},
	keyedSlow:             keyedProfile,
	keylessLookup:         {Lookup: true, RefundsOnce: true},
	keyless:               {RefundsOnce: true},
	keylessRefundKeys:     {Lookup: true},
	keylessRepeatsRefunds: {Lookup: true},
}

func newWorld(t *testing.T, d impl.Design, profile string) *world {
	t.Helper()
	promises, ok := profiles[profile]
	if !ok {
		t.Fatalf("no profile is called %q", profile)
	}
	cfg := impl.Config{
		Lease: 600 * time.Millisecond, HealthyRun: 500 * time.Millisecond,
		MessageLifetime: time.Second, MaxClockSkew: 40 * time.Millisecond,
		ProviderWindow: 30 * time.Second, LookupLag: 50 * time.Millisecond,
		RetryHorizon: 20 * time.Second, Retention: 23 * time.Second,
		ReconcileInterval: 300 * time.Millisecond, Provider: promises,
	}
	if d.Tune != nil {
		cfg = d.Tune(cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatalf("the configuration of %s: %v", d.Name, err)
	}
	w := &world{now: time.Unix(1_700_000_000, 0).UTC(), cfg: cfg, design: d}
	w.bank = &bank{promises: promises, stored: map[string]impl.ChargeResult{}}
	w.store = &store{Registry: memory.New()}
	for i := range w.replicas {
		w.replicas[i] = d.Handler(cfg, w.ports())
	}
	if d.Reconciler != nil {
		w.reconciler = d.Reconciler(cfg, w.ports())
	}
	return w
}

func (w *world) ports() impl.Ports {
	var registry impl.Registry = w.store
	if w.design.Registry != nil {
		registry = w.design.Registry(w.store)
	}
	return impl.Ports{Registry: registry, Provider: w.bank, Clock: w, IDs: w, Locks: locks{}}
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Sleep(_ context.Context, d time.Duration) error {
	w.now = w.now.Add(d)
	return nil
}

func (w *world) Key() string   { return w.id("key") }
func (w *world) Owner() string { return w.id("owner") }

func (w *world) id(kind string) string {
	w.ids++
	return fmt.Sprintf("%s-%d", kind, w.ids)
}

// Send brings each attempt to the other replica than the one before.
func (w *world) Send(ctx context.Context, req impl.Request) (impl.Reply, error) {
	w.sends++
	reply, err := w.replicas[w.sends%2].Handle(ctx, req)
	if w.loseReplies > 0 {
		w.loseReplies--
		return impl.Reply{}, impl.ErrUnknown
	}
	return reply, err
}

const (
	scope    = "4:acme POST /payments"
	endpoint = "POST /payments"
)

// pay runs a client until it stops; key is "" for a new order.
func (w *world) pay(key string, minor int) (impl.Reply, error) {
	client := w.design.Client(w.cfg, impl.ClientPorts{Transport: w, Clock: w, IDs: w, Journal: func(key string) { w.journaled = key }})
	return client.Pay(context.Background(), impl.Payment{
		Scope: scope, Endpoint: endpoint, Key: key, Since: w.now, Body: body(minor),
	})
}

// attempt sends one attempt under the key "order-1".
func (w *world) attempt() (impl.Reply, error) {
	return w.Send(context.Background(), impl.Request{Scope: scope, Endpoint: endpoint, Key: "order-1", Body: body(1200)})
}

func body(minor int) []byte { return fmt.Appendf(nil, `{"amount":%d,"currency":"EUR"}`, minor) }

// sweep lets time pass and the reconciler run until then.
func (w *world) sweep(t *testing.T, during time.Duration) {
	t.Helper()
	for end := w.now.Add(during); w.now.Before(end); {
		w.now = w.now.Add(w.cfg.ReconcileInterval)
		if w.reconciler == nil {
			continue
		}
		if err := w.reconciler.Reconcile(context.Background()); err != nil {
			t.Fatalf("Reconcile: %v", err)
		}
	}
}

func (w *world) record(id impl.ID) (impl.Record, bool) {
	rec, ok, _ := w.store.Registry.Get(context.Background(), impl.StepReadBack, id)
	return rec, ok
}

// bank is a provider that keeps its promises.
type bank struct {
	promises impl.Profile
	stored   map[string]impl.ChargeResult // by key
	charges  []impl.Charge
	refs     []string // of charges
	keys     []string // of all requests, in order
	held     []impl.ChargeRequest
	refunds  int // calls of Refund

	decline           bool // the answer to requests that move money
	loseCharges       int  // how many answers to a charge get lost from now on
	holdCharges       int  // how many requests do not arrive until land
	loseRefundAnswers int  // how many answers to a refund get lost
	holdRefunds       int  // how many refunds do not arrive until landRefunds
	heldRefunds       []impl.RefundRequest
	during            func() // happens once, while the next charge is out
}

func (b *bank) Charge(_ context.Context, _ impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	b.keys = append(b.keys, req.Key)
	if b.holdCharges > 0 {
		b.holdCharges--
		b.held = append(b.held, req)
		return impl.ChargeResult{}, impl.ErrUnknown
	}
	if happens := b.during; happens != nil {
		b.during = nil
		happens()
	}
	result := b.execute(req)
	if b.loseCharges > 0 {
		b.loseCharges--
		return impl.ChargeResult{}, impl.ErrUnknown
	}
	return result, nil
}

func (b *bank) execute(req impl.ChargeRequest) impl.ChargeResult {
	if result, ok := b.stored[req.Key]; ok && req.Key != "" {
		return result
	}
	amount, err := impl.ParseAmount(req.Body)
	if err != nil {
		panic(fmt.Sprintf("a charge of %q: %v", req.Body, err))
	}
	result := impl.ChargeResult{Code: "card_declined"}
	if !b.decline {
		result = impl.ChargeResult{Approved: true, ChargeID: fmt.Sprintf("ch_%d", len(b.charges)+1)}
		b.charges = append(b.charges, impl.Charge{ID: result.ChargeID, Amount: amount.Minor, Currency: amount.Currency})
		b.refs = append(b.refs, req.Ref)
	}
	if b.promises.Keys && (result.Approved || b.promises.StoresDeclines) {
		b.stored[req.Key] = result
	}
	return result
}

// land lets the held requests arrive, and approves them.
func (b *bank) land() {
	for _, req := range b.held {
		b.decline = false
		b.execute(req)
	}
	b.held = nil
}

func (b *bank) Lookup(_ context.Context, _ impl.Step, ref string) ([]impl.Charge, error) {
	if !b.promises.Lookup {
		return nil, impl.ErrNoLookup
	}
	var found []impl.Charge
	for i, charge := range b.charges {
		if b.refs[i] == ref {
			found = append(found, charge)
		}
	}
	return found, nil
}

func (b *bank) Refund(_ context.Context, _ impl.Step, req impl.RefundRequest) error {
	b.refunds++
	if b.holdRefunds > 0 {
		b.holdRefunds--
		b.heldRefunds = append(b.heldRefunds, req)
		return impl.ErrUnknown
	}
	return b.giveBack(req)
}

// landRefunds lets the held refunds arrive.
func (b *bank) landRefunds() {
	for _, req := range b.heldRefunds {
		_ = b.giveBack(req)
	}
	b.heldRefunds = nil
}

func (b *bank) giveBack(req impl.RefundRequest) error {
	for i := range b.charges {
		if c := &b.charges[i]; c.ID == req.ChargeID {
			if c.Refunded && b.promises.RefundsOnce {
				return &impl.ProviderError{Status: 409}
			}
			c.Refunded = true
			if b.loseRefundAnswers > 0 {
				b.loseRefundAnswers--
				return impl.ErrUnknown
			}
			return nil
		}
	}
	return &impl.ProviderError{Status: 404}
}

// net returns the ids of the charges that were not given back.
func (b *bank) net() (ids []string) {
	for _, charge := range b.charges {
		if !charge.Refunded {
			ids = append(ids, charge.ID)
		}
	}
	return ids
}

// store is a registry that refuses, or does not answer for, what a test wants.
type store struct {
	*memory.Registry
	refuse func(step impl.Step, id impl.ID) bool // nothing is written
	lose   func(step impl.Step, id impl.ID) bool // written, and not acknowledged
}

var errNoAnswer = errors.New("no answer from the test's registry")

func (s *store) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	if s.refuse != nil && s.refuse(step, rec.ID) {
		return impl.Record{}, false, errNoAnswer
	}
	stored, inserted, err := s.Registry.Insert(ctx, step, rec)
	if s.lose != nil && s.lose(step, rec.ID) {
		return impl.Record{}, false, errNoAnswer
	}
	return stored, inserted, err
}

func (s *store) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	if s.refuse != nil && s.refuse(step, next.ID) {
		return errNoAnswer
	}
	err := s.Registry.Update(ctx, step, was, next)
	if s.lose != nil && s.lose(step, next.ID) {
		return errNoAnswer
	}
	return err
}

// locks panics where a process would wait for itself.
type locks map[string]bool

func (l locks) Lock(_ context.Context, name string) {
	if l[name] {
		panic("the lock " + name + " is taken")
	}
	l[name] = true
}

func (l locks) Unlock(name string) { delete(l, name) }
