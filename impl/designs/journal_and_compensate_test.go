package designs

import (
	"errors"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

var (
	orderID = impl.ID{Scope: scope, Key: "order-1"}
	auditID = auditOf(orderID)
)

func compensating(t *testing.T) *world {
	t.Helper()
	return newWorld(t, journalAndCompensate(), keylessLookup)
}

func (w *world) afterLease() { w.now = w.now.Add(w.cfg.Lease + time.Millisecond) }

func wantState(t *testing.T, w *world, id impl.ID, want impl.State) {
	t.Helper()
	if rec, ok := w.record(id); !ok || rec.State != want {
		t.Errorf("%s %s is %v, %v; want %v", id.Scope, id.Key, rec.State, ok, want)
	}
}

// A late first send and an eager second one: both charge, one is given back.
func TestSurplusChargeIsGivenBack(t *testing.T) {
	w := compensating(t)
	w.bank.holdCharges = 1
	if _, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) {
		t.Fatalf("first attempt: %v, want in progress", err)
	}
	w.afterLease()
	reply, err := w.attempt()
	if err != nil || reply.ChargeID != "ch_1" {
		t.Fatalf("second attempt = %+v, %v; want paid by a second send at once", reply, err)
	}
	w.bank.land()
	if net := w.bank.net(); len(net) != 2 {
		t.Fatalf("net charges %v, want two for now", net)
	}
	w.sweep(t, 5*time.Second)
	if net := w.bank.net(); len(net) != 1 || net[0] != reply.ChargeID {
		t.Errorf("net charges %v, want the kept one, %s", net, reply.ChargeID)
	}
	wantState(t, w, orderID, impl.StateSucceeded)
	wantState(t, w, auditID, impl.StateSucceeded)
	if again, err := w.attempt(); err != nil || !again.Equal(&reply) {
		t.Errorf("replay = %+v, %v; want %+v", again, err, reply)
	}
}

// The audit does not end before the last send is dead.
func TestAuditWaitsForTheLastSend(t *testing.T) {
	w := compensating(t)
	w.bank.holdCharges = 1
	_, _ = w.attempt()
	w.afterLease()
	reply, err := w.attempt() // the second send, at once
	if err != nil {
		t.Fatal(err)
	}
	op, _ := w.record(orderID)
	dead := op.LeaseUntil.Add(w.cfg.MessageLifetime + w.cfg.LookupLag + w.cfg.MaxClockSkew)
	for w.now.Add(2 * w.cfg.ReconcileInterval).Before(dead) {
		w.sweep(t, w.cfg.ReconcileInterval)
		if rec, ok := w.record(auditID); !ok || rec.State.Terminal() {
			t.Fatalf("the audit is %v, %v before %v", rec.State, w.now, dead)
		}
	}
	w.bank.land()
	w.sweep(t, 5*time.Second)
	if net := w.bank.net(); len(net) != 1 || net[0] != reply.ChargeID {
		t.Errorf("net charges %v of %d, want the kept one, %s", net, len(w.bank.charges), reply.ChargeID)
	}
	wantState(t, w, auditID, impl.StateSucceeded)
}

// While the record is open nobody knows which charge is kept.
func TestNothingIsGivenBackBeforeTheEnd(t *testing.T) {
	w := compensating(t)
	w.store.refuse = func(step impl.Step, id impl.ID) bool { return step == impl.StepComplete && id == orderID }
	w.bank.holdCharges = 1
	_, _ = w.attempt()
	w.afterLease()
	_, _ = w.attempt() // charges and cannot save
	w.bank.land()
	w.sweep(t, 5*time.Second)
	if w.bank.refunds != 0 || len(w.bank.net()) != 2 {
		t.Fatalf("%d refunds while the record is open", w.bank.refunds)
	}
	w.store.refuse = nil
	w.sweep(t, 5*time.Second)
	if op, _ := w.record(orderID); op.ChargeID != "ch_1" {
		t.Errorf("kept %q, want the oldest, ch_1", op.ChargeID)
	}
	if net := w.bank.net(); len(net) != 1 || net[0] != "ch_1" {
		t.Errorf("net charges %v, want ch_1", net)
	}
}

// A refund whose answer was lost is looked up and not asked for again.
func TestUnknownRefundIsLookedUp(t *testing.T) {
	w := compensating(t)
	w.bank.holdCharges = 1
	w.bank.loseRefundAnswers = 1
	_, _ = w.attempt()
	w.afterLease()
	_, _ = w.attempt()
	w.bank.land()
	w.sweep(t, 5*time.Second)
	if w.bank.refunds != 1 || len(w.bank.net()) != 1 {
		t.Errorf("%d refunds asked for, net charges %v; want one each", w.bank.refunds, w.bank.net())
	}
	wantState(t, w, auditID, impl.StateSucceeded)
}

// Where a second refund would give back twice, one that was not answered is
// asked for again only once it is dead and look-up does not show it.
func TestLateRefundIsNotRepeated(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		w := newWorld(t, journalAndCompensate(), keylessRepeatsRefunds)
		w.bank.holdCharges, w.bank.holdRefunds = 1, 1
		_, _ = w.attempt()
		w.afterLease()
		_, _ = w.attempt()
		w.bank.land()
		for w.bank.refunds == 0 {
			w.sweep(t, w.cfg.ReconcileInterval)
		}
		w.sweep(t, w.cfg.Lease+w.cfg.MessageLifetime-w.cfg.ReconcileInterval)
		if w.bank.refunds != 1 {
			t.Fatalf("%d refunds while the first may still land", w.bank.refunds)
		}
		want := 2
		if arrives {
			w.bank.landRefunds()
			want = 1
		}
		w.sweep(t, 5*time.Second)
		if net := w.bank.net(); w.bank.refunds != want || len(net) != 1 {
			t.Errorf("the first arrives: %v; %d refunds asked for and net charges %v, want %d and one", arrives, w.bank.refunds, net, want)
		}
		wantState(t, w, auditID, impl.StateSucceeded)
	}
}

// No audit, no send.
func TestNothingIsSentWithoutAnAudit(t *testing.T) {
	w := compensating(t)
	w.store.refuse = func(_ impl.Step, id impl.ID) bool { return isAudit(id) }
	if _, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) || len(w.bank.keys) != 0 {
		t.Fatalf("attempt: %v after %d sends; want in progress and none", err, len(w.bank.keys))
	}
	w.store.refuse = nil
	w.afterLease()
	if reply, err := w.attempt(); err != nil || reply.Outcome != impl.OutcomePaid {
		t.Fatalf("attempt = %+v, %v; want paid", reply, err)
	}
	wantState(t, w, auditID, impl.StateClaimed)
}

// A write that was applied and not acknowledged is read back: the run goes on.
func TestUnacknowledgedWritesAreReadBack(t *testing.T) {
	w := compensating(t)
	w.store.lose = func(impl.Step, impl.ID) bool { return true }
	reply, err := w.attempt()
	if err != nil || reply.Replayed || reply.ChargeID != "ch_1" || len(w.bank.keys) != 1 {
		t.Fatalf("attempt = %+v, %v after %d sends; want paid by one", reply, err, len(w.bank.keys))
	}
	w.sweep(t, 5*time.Second)
	wantState(t, w, auditID, impl.StateSucceeded)
}

// A run that was slow before its send does not send after its lease.
func TestNothingIsSentAfterTheLease(t *testing.T) {
	w := compensating(t)
	w.store.lose = func(step impl.Step, _ impl.ID) bool {
		if step == impl.StepMarkSent {
			w.afterLease()
		}
		return false
	}
	if _, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) || len(w.bank.keys) != 0 {
		t.Errorf("attempt: %v after %d sends; want in progress and none", err, len(w.bank.keys))
	}
}

// The window is asked for just before the send, and not only when the run
// decided to send.
func TestNothingIsSentAfterTheWindow(t *testing.T) {
	w := compensating(t)
	closes := w.now.Add(w.cfg.ProviderWindow - w.cfg.MessageLifetime - w.cfg.MaxClockSkew)
	w.bank.holdCharges = 1
	_, _ = w.attempt()
	w.store.lose = func(step impl.Step, _ impl.ID) bool {
		if step == impl.StepTakeOver {
			w.now = closes
		}
		return false
	}
	w.now = closes.Add(-w.cfg.HealthyRun - w.cfg.Lease/2)
	if _, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) || len(w.bank.keys) != 1 {
		t.Errorf("attempt: %v after %d sends; want in progress after one", err, len(w.bank.keys))
	}
}

// The first sender's decline is final; a later one's is not, since the send
// before it may still be approved.
func TestLaterDeclineIsNotTold(t *testing.T) {
	w := compensating(t)
	w.bank.holdCharges = 1
	_, _ = w.attempt()
	w.afterLease()
	w.bank.decline = true
	if reply, err := w.attempt(); !errors.Is(err, impl.ErrInProgress) {
		t.Fatalf("attempt = %+v, %v; want in progress", reply, err)
	}
	w.bank.land()
	w.afterLease()
	if reply, err := w.attempt(); err != nil || reply.ChargeID != "ch_1" {
		t.Errorf("attempt = %+v, %v; want paid by what landed late", reply, err)
	}
}

// What nobody asks for is declined once no send can land, and not before.
func TestLostSendIsSettledWhenDead(t *testing.T) {
	w := compensating(t)
	w.bank.holdCharges = 1
	_, _ = w.attempt()
	w.bank.held = nil // lost on its way
	w.sweep(t, w.cfg.RetryHorizon-2*time.Second)
	wantState(t, w, orderID, impl.StateSent)
	w.sweep(t, 5*time.Second)
	wantState(t, w, orderID, impl.StateDeclined)
	w.sweep(t, 5*time.Second)
	wantState(t, w, auditID, impl.StateSucceeded)
	if reply, err := w.attempt(); err != nil || reply.Outcome != impl.OutcomeDeclined || len(w.bank.charges) != 0 {
		t.Errorf("attempt = %+v, %v; want declined", reply, err)
	}
}

// A charge under our reference that we did not ask for is a person's matter.
func TestForeignChargeGoesToReview(t *testing.T) {
	w := compensating(t)
	if _, err := w.attempt(); err != nil {
		t.Fatal(err)
	}
	w.bank.charges = append(w.bank.charges, impl.Charge{ID: "ch_foreign", Amount: 1, Currency: "EUR"})
	w.bank.refs = append(w.bank.refs, w.bank.refs[0])
	w.sweep(t, 5*time.Second)
	wantState(t, w, auditID, impl.StateReview)
	if w.bank.refunds != 0 {
		t.Errorf("%d refunds, want none", w.bank.refunds)
	}
}

// The tombstone names the kept charge, so it stays as long as the audit.
func TestTombstoneOutlivesItsAudit(t *testing.T) {
	w := compensating(t)
	if _, err := w.attempt(); err != nil {
		t.Fatal(err)
	}
	w.bank.promises.Lookup = false // the audit cannot end
	w.sweep(t, w.cfg.Retention+w.cfg.ProviderWindow+5*time.Second)
	if rec, ok := w.record(orderID); !ok || !rec.Tombstone || rec.ChargeID != "ch_1" {
		t.Fatalf("the tombstone: %+v, %v", rec, ok)
	}
	w.bank.promises.Lookup = true
	w.sweep(t, time.Second)
	wantState(t, w, auditID, impl.StateSucceeded)
	w.sweep(t, w.cfg.Retention+w.cfg.ProviderWindow+5*time.Second)
	for _, id := range []impl.ID{orderID, auditID} {
		if rec, ok := w.record(id); ok {
			t.Errorf("%s is still there: %v", id.Scope, rec.State)
		}
	}
}

func TestScopeOfAuditsIsRefused(t *testing.T) {
	w := compensating(t)
	_, err := w.Send(t.Context(), impl.Request{Scope: auditID.Scope, Endpoint: endpoint, Key: "order-1", Body: body(1200)})
	if !errors.Is(err, impl.ErrRefused) {
		t.Errorf("Send into an audit's scope: %v, want it refused", err)
	}
}

// Sending at once is done once: the second lease ends after the time for it,
// whenever it began. What comes later waits until both sends are dead.
func TestSentAgainAtOnceOnlyOnce(t *testing.T) {
	for _, wait := range []time.Duration{time.Millisecond, 300 * time.Millisecond, 599 * time.Millisecond} {
		w := compensating(t)
		w.bank.holdCharges = 3
		_, _ = w.attempt()
		w.now = w.now.Add(w.cfg.Lease + wait)
		_, _ = w.attempt()
		if len(w.bank.keys) != 2 {
			t.Fatalf("after %v: %d sends, want a second one at once", wait, len(w.bank.keys))
		}
		op, _ := w.record(orderID)
		dead := op.LeaseUntil.Add(w.cfg.MessageLifetime + w.cfg.LookupLag + w.cfg.MaxClockSkew)
		for ; !w.now.After(dead); w.now = w.now.Add(50 * time.Millisecond) {
			if _, _ = w.attempt(); len(w.bank.keys) != 2 {
				t.Fatalf("after %v: sent again %v before the others are dead", wait, dead.Sub(w.now))
			}
		}
		if _, _ = w.attempt(); len(w.bank.keys) != 3 {
			t.Errorf("after %v: %d sends, want a third one when the others are dead", wait, len(w.bank.keys))
		}
	}
}

// A card that is declined again and again gets its answer: after the second
// lease the next send waits until the earlier ones are dead, and then its
// decline is definite.
func TestDeclineBecomesDefinite(t *testing.T) {
	w := compensating(t)
	w.bank.holdCharges = 1
	_, _ = w.attempt()
	w.bank.held = nil // lost on its way
	w.bank.decline = true
	for range 20 {
		w.afterLease()
		if reply, err := w.attempt(); err == nil {
			if reply.Outcome != impl.OutcomeDeclined || len(w.bank.charges) != 0 {
				t.Fatalf("attempt = %+v with charges %v; want declined and none", reply, w.bank.charges)
			}
			return
		}
	}
	t.Fatal("no answer in twenty leases")
}
