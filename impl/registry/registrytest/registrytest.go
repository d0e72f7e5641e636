// Package registrytest checks that a registry keeps the contract of
// [impl.Registry].
//
// Run is the whole of it: a subtest for each sentence of the contract, a state
// machine that holds the registry against a model of some forty lines, and
// races between goroutines. It does not check durability, which takes a disk
// that can fail, nor how an adapter maps the failures of its database, which
// each adapter tests itself.
//
// The rule it keeps: only what the contract says is asked for, through the
// port alone, so that any adapter, also one from elsewhere, can be held to it.
package registrytest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Exception is a sentence of the contract that an adapter openly does not
// keep, and says so in its package doc.
type Exception int

// SharesBytes: the byte slices of records are shared with the registry, and
// nobody writes into them. Fields may be set and slices appended to all the
// same.
const SharesBytes Exception = iota + 1

// Resetter is a registry that can forget all records. Run empties such a
// registry where it would otherwise open another.
type Resetter interface {
	Reset(ctx context.Context) error
}

// Run holds a registry to the contract. It calls open for an empty registry
// as often as it needs one; open registers with t's Cleanup what closes it.
func Run(t *testing.T, open func(t *testing.T) impl.Registry, exceptions ...Exception) {
	s := suite{open: open, exceptions: exceptions}
	t.Run("Insert", s.insert)
	t.Run("Get", s.get)
	t.Run("Update", s.update)
	t.Run("Delete", s.delete)
	t.Run("Unfinished", s.unfinished)
	t.Run("Expired", s.expired)
	t.Run("Records", s.records)
	t.Run("Machine", s.machine)
	t.Run("Races", s.races)
}

type suite struct {
	open       func(t *testing.T) impl.Registry
	exceptions []Exception
}

func (s suite) excepted(e Exception) bool { return slices.Contains(s.exceptions, e) }

// epoch is the instant around which the suite works.
var epoch = time.Date(2025, 3, 9, 12, 0, 0, 0, time.UTC)

// world is a registry with the calls that must not fail.
type world struct {
	impl.Registry
	t   fataler
	ctx context.Context
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (s suite) world(t *testing.T) world {
	return world{s.open(t), t, context.Background()}
}

// claimed is the record that most subtests start from.
func claimed(key string) impl.Record {
	return impl.Record{
		ID:          impl.ID{Scope: "4:acme POST /payments", Key: key},
		Fingerprint: "v1.fingerprint",
		Request:     []byte(`{"amount":1250,"currency":"EUR"}`),
		ProviderKey: "v1-" + key,
		WindowFrom:  epoch,
		State:       impl.StateClaimed,
		Owner:       "owner-1",
		LeaseUntil:  epoch.Add(time.Minute),
	}
}

// succeeded is a claimed record after its completion.
func succeeded(key string) impl.Record {
	rec := claimed(key)
	rec.State = impl.StateSucceeded
	rec.Reply = impl.Reply{
		Outcome:  impl.OutcomePaid,
		Status:   201,
		Header:   []impl.HeaderField{{Name: "Content-Type", Value: "application/json"}, {Name: "Location", Value: "/payments/1"}},
		Body:     []byte(`{"status":"paid"}`),
		ChargeID: "ch_1",
	}
	rec.ChargeID = "ch_1"
	rec.ExpiresAt = epoch.Add(24 * time.Hour)
	return rec
}

func (w world) insert(rec impl.Record) impl.Record {
	w.t.Helper()
	stored, inserted, err := w.Insert(w.ctx, impl.StepClaim, rec)
	if err != nil || !inserted {
		w.t.Fatalf("Insert(%+v) returned inserted %v, error %v; want it inserted", rec.ID, inserted, err)
	}
	return stored
}

func (w world) get(id impl.ID) impl.Record {
	w.t.Helper()
	rec, ok, err := w.Get(w.ctx, impl.StepReadBack, id)
	if err != nil || !ok {
		w.t.Fatalf("Get(%+v) returned %v, error %v; want the record", id, ok, err)
	}
	return rec
}

func (w world) update(was impl.Fence, next impl.Record) {
	w.t.Helper()
	if err := w.Update(w.ctx, impl.StepComplete, was, next); err != nil {
		w.t.Fatalf("Update(%+v) from %+v returned %v", next.ID, was, err)
	}
}

// holds checks what the registry has under the record's identity.
func (w world) holds(want impl.Record) {
	w.t.Helper()
	w.same("what is stored", w.get(want.ID), want)
}

func (w world) holdsNone(id impl.ID) {
	w.t.Helper()
	if rec, ok, err := w.Get(w.ctx, impl.StepReadBack, id); ok || err != nil {
		w.t.Fatalf("Get(%+v) returned %+v, %v, error %v; want no record", id, rec, ok, err)
	}
}

func (w world) same(what string, got, want impl.Record) {
	w.t.Helper()
	if d := difference(got, want); d != "" {
		w.t.Fatalf("%s differs from what is expected: %s", what, d)
	}
}
