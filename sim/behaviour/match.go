package behaviour

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// answered is the reply of a run in the words of the model, which tells no
// difference between "in progress" and "ask again: the registry did not answer".
func (s *stage) answered(r *run) protocol.Answer {
	switch {
	case r.err == nil:
		return s.outcome(&r.reply)
	case errors.Is(r.err, impl.ErrMismatch):
		return protocol.Answer{Says: protocol.Mismatch}
	case errors.Is(r.err, impl.ErrInProgress), errors.Is(r.err, impl.ErrUnavailable):
		return protocol.Answer{Says: protocol.InProgress}
	default:
		return protocol.Answer{}
	}
}

func (s *stage) outcome(reply *impl.Reply) protocol.Answer {
	switch reply.Outcome {
	case impl.OutcomePaid:
		for i := range s.provider.Ledger() {
			if s.provider.Ledger()[i].ID == reply.ChargeID {
				return protocol.Answer{Says: protocol.Paid, Charge: uint8(i + 1)}
			}
		}
		return protocol.Answer{Says: protocol.Paid}
	case impl.OutcomeDeclined:
		return protocol.Answer{Says: protocol.Declined}
	default:
		return protocol.Answer{}
	}
}

// agrees holds what the code has made of the world against the model's state,
// and against the instants that it was given.
func (s *stage) agrees(to *protocol.State, times *times) error {
	if err := s.agreesOnRecord(to.Record(), times); err != nil {
		return err
	}
	want := to.Ledger()
	if n := len(s.provider.Ledger()); n != len(want) {
		return fmt.Errorf("the provider has made %d charges, want %d", n, len(want))
	}
	for i, made := range s.provider.Ledger() {
		if p := s.amounts[made.Amount]; p != want[i].Parameters {
			return fmt.Errorf("charge %d is for %v, want %v", i+1, p, want[i].Parameters)
		}
	}
	for slot := protocol.Slot(1); slot <= s.world.reconciler(); slot++ {
		if err := s.agreesOnRun(slot, to.Run(slot)); err != nil {
			return err
		}
	}
	told := to.Told()
	for _, t := range told {
		if !slices.Contains(s.told, t) {
			return fmt.Errorf("it is not told to %v: %v", t.Parameters, t.Reply)
		}
	}
	if len(s.told) > len(told) {
		return fmt.Errorf("the replies that are told are %v, want %v", s.told, told)
	}
	return nil
}

func (s *stage) agreesOnRun(slot protocol.Slot, me protocol.Run) error {
	r, runs := s.slots[slot]
	switch {
	case runs != (me.At != protocol.AtIdle):
		return fmt.Errorf("there is a run %d: %v, want %v", slot, runs, !runs)
	case !runs:
		return nil
	}
	asks := s.goesOn(slot, atPlace[me.At])
	if r.asks != asks {
		return fmt.Errorf("run %d is at %v, where it asks for %v; it asks for %v", slot, me.At, asks, r.asks)
	}
	if told := s.answered(r); asks == returned && told != me.Answer {
		return fmt.Errorf("run %d tells %v, want %v", slot, told, me.Answer)
	}
	return nil
}

// goesOn is what a run asks for where a handler does so: a reconciler that has
// no more to do with a record goes on to what has expired.
func (s *stage) goesOn(slot protocol.Slot, asks call) call {
	if asks == returned && !s.world.handles(slot) {
		return readClock
	}
	return asks
}

// afterClock is what a run asks for next that has read the clock at a place,
// if all is over by then: to read a clock says little.
var afterClock = map[protocol.Place]call{
	protocol.AtLookUp: lookUp, protocol.AtCharge: returned, protocol.AtComplete: update(impl.StepComplete),
	protocol.AtSettle: update(impl.StepSettle), protocol.AtReply: expired,
}

// asksOn holds that every run that is about to read its clock does so for what
// the model says.
func (s *stage) asksOn(to *protocol.State) error {
	for slot := protocol.Slot(1); slot <= s.world.reconciler(); slot++ {
		r, runs := s.slots[slot]
		if !runs || r.asks != readClock {
			continue
		}
		me := to.Run(slot)
		want := s.goesOn(slot, afterClock[me.At])
		r.at = epoch.Add(2 * far)
		if r.goOn(); r.asks != want {
			return fmt.Errorf("run %d is at %v, where after its clock it asks for %v; it asks for %v", slot, me.At, want, r.asks)
		}
	}
	return nil
}

var states = map[impl.State]protocol.RecordState{
	impl.StateClaimed: protocol.Claimed, impl.StateSent: protocol.Sent, impl.StateReview: protocol.InReview,
	impl.StateSucceeded: protocol.Succeeded, impl.StateDeclined: protocol.DeclinedState,
}

func (s *stage) agreesOnRecord(want protocol.Record, times *times) error {
	rec, ok, err := s.registry.Get(context.Background(), impl.StepReadBack, s.claimed[protocol.P].ID)
	switch {
	case err != nil:
		return err
	case ok != want.Exists():
		return fmt.Errorf("there is a record: %v, want %v", ok, want.Exists())
	case !ok:
		return nil
	}
	want.Lease, want.Window = 0, 0 // facts of time: the instants stand for them
	got := protocol.Record{State: states[rec.State], Version: uint8(rec.Version), Owner: s.holder(rec.Owner), Reply: s.outcome(&rec.Reply)}
	for p, fresh := range s.claimed {
		if rec.Fingerprint == fresh.Fingerprint && rec.ProviderKey == fresh.ProviderKey && bytes.Equal(rec.Request, fresh.Request) {
			got.Parameters = p
		}
	}
	if got != want {
		return fmt.Errorf("the record is %v, want %v", got, want)
	}
	ends := time.Time{}
	if times.ended != none {
		ends = s.instant(times.ended).Add(s.config.Retention)
	}
	for _, t := range []struct {
		what      string
		got, want time.Time
	}{
		{"WindowFrom", rec.WindowFrom, s.instant(times.claimed)},
		{"LeaseUntil", rec.LeaseUntil, s.instant(times.leased).Add(s.config.Lease)},
		{"ExpiresAt", rec.ExpiresAt, ends},
	} {
		if t.got != t.want {
			return fmt.Errorf("%s of the record is %v, want %v", t.what, t.got, t.want)
		}
	}
	return nil
}

// holder is the slot of the run that has drawn a token and is not over.
func (s *stage) holder(token string) protocol.Slot {
	for slot, r := range s.slots {
		if slices.Contains(r.owners, token) {
			return slot
		}
	}
	return protocol.Gone
}
