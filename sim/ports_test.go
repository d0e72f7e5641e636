package sim_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// strict is the ports of a process, and complains of an answer that is an
// error and something else: code that looks at it in spite of the error would
// see what another run of the same world has left there.
type strict struct {
	impl.Registry
	impl.Provider
	complain func(port string, got any)
}

func (s *strict) judge(port string, err error, got ...any) {
	for _, v := range got {
		if err != nil && !reflect.ValueOf(v).IsZero() && !(reflect.ValueOf(v).Kind() == reflect.Slice && reflect.ValueOf(v).Len() == 0) {
			s.complain(port, fmt.Sprintf("%+v with the error %v", v, err))
		}
	}
}

func (s *strict) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	stored, inserted, err := s.Registry.Insert(ctx, step, rec)
	s.judge("Insert", err, stored, inserted)
	return stored, inserted, err
}

func (s *strict) Get(ctx context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	rec, ok, err := s.Registry.Get(ctx, step, id)
	s.judge("Get", err, rec, ok)
	if err == nil && !ok {
		s.judge("Get", errNone, rec)
	}
	return rec, ok, err
}

func (s *strict) Unfinished(ctx context.Context, step impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	list, err := s.Registry.Unfinished(ctx, step, before, after, limit)
	s.judge("Unfinished", err, list)
	return list, err
}

func (s *strict) Expired(ctx context.Context, step impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	list, err := s.Registry.Expired(ctx, step, before, limit)
	s.judge("Expired", err, list)
	return list, err
}

func (s *strict) Charge(ctx context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	result, err := s.Provider.Charge(ctx, step, req)
	s.judge("Charge", err, result)
	return result, err
}

func (s *strict) Lookup(ctx context.Context, step impl.Step, ref string) ([]impl.Charge, error) {
	charges, err := s.Provider.Lookup(ctx, step, ref)
	s.judge("Lookup", err, charges)
	return charges, err
}

var errNone = fmt.Errorf("there is none")

// An error comes with nothing else.
func TestAnErrorComesWithNothingElse(t *testing.T) {

	complaints := map[string]string{}
	for _, cfg := range worlds(t, impl.A3) {
		handlers, reconcilers := cfg.Design.Handler, cfg.Design.Reconciler
		around := func(ports impl.Ports) impl.Ports {
			s := &strict{ports.Registry, ports.Provider, func(port string, got any) { complaints[port] = got.(string) }}
			ports.Registry, ports.Provider = s, s
			return ports
		}
		cfg.Design.Handler = func(c impl.Config, p impl.Ports) impl.Handler { return handlers(c, around(p)) }
		if reconcilers != nil {
			cfg.Design.Reconciler = func(c impl.Config, p impl.Ports) impl.Reconciler { return reconcilers(c, around(p)) }
		}
		s := newStage(t, cfg)
		for n := range 5 * runsPerWorld(t) {
			c, weather := swarm(&cfg, n)
			s.run(c, weather)
		}
	}
	for port, got := range complaints {
		t.Errorf("%s answers %s", port, got)
	}
}

// A careless handler, which looks at what comes with an error, behaves the
// same in a used world and in a fresh one.
func TestACarelessHandlerIsDeterministic(t *testing.T) {

	cfg := world(t, "reference", "one-payment")
	cfg.Design = wrap(t, func(_ impl.Handler, ports impl.Ports) impl.Handler {
		return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
			fresh, err := impl.Parse(req)
			if err != nil {
				return impl.Reply{}, err
			}
			rec, ok, _ := ports.Registry.Get(ctx, impl.StepReadBack, fresh.ID)
			if !ok || rec.Owner == "" {
				fresh.Owner = ports.IDs.Owner()
				rec, _, _ = ports.Registry.Insert(ctx, impl.StepClaim, fresh)
			}
			result, _ := ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Key: fresh.ProviderKey, Ref: fresh.ProviderKey, Body: rec.Request})
			if !result.Approved {
				return impl.Reply{}, impl.ErrInProgress
			}
			return impl.PaidReply(&fresh, result.ChargeID), nil
		})
	})
	used, fresh := newStage(t, cfg), newStage(t, cfg)
	for n := range 40 * runsPerWorld(t) {
		c, weather := swarm(&cfg, n)
		first := keep(used, used.run(c, weather))
		again := keep(fresh, newStage(t, cfg).replay(t, weather, slices.Clone(first.result.Deviations)))
		if first.result.Hash != again.result.Hash {
			t.Fatalf("run %d gives %x in a used world and %x in a fresh one\n%v", n, first.result.Hash, again.result.Hash, first.result.Deviations)
		}
	}
}

// A stale read shows the record as it was before the last write: not there
// before the first, and not final before the one that finished it.
func TestAStaleReadShowsTheStateBeforeTheLastWrite(t *testing.T) {
	cfg := world(t, "reference", "two-replicas-one-key", impl.A3)
	var reads []string
	inner := cfg.Design.Handler
	cfg.Design.Handler = func(c impl.Config, ports impl.Ports) impl.Handler {
		ports.Registry = &reader{ports.Registry, func(rec impl.Record, ok bool) {
			reads = append(reads, fmt.Sprintf("%v version %d, found %v", rec.State, rec.Version, ok))
		}}
		return inner(c, ports)
	}
	s := newStage(t, cfg)
	const stale = "stale registry read-back of client-2/order-1/try-1"
	for _, tt := range []struct {
		want string
		plan []string
	}{
		{"succeeded version 2, found true", nil},
		{"claimed version 1, found true", []string{stale}},
		{"none version 0, found false", []string{stale, "drop server-1→provider charge of client-1/order-1/try-1"}},
	} {
		reads = nil
		s.follow(t, tt.plan...)
		if len(reads) == 0 || reads[0] != tt.want {
			t.Errorf("with %q client-2's handler reads %q, want %q", tt.plan, reads, tt.want)
		}
	}
}

// reader hears what is read.
type reader struct {
	impl.Registry
	heard func(rec impl.Record, ok bool)
}

func (r *reader) Get(ctx context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	rec, ok, err := r.Registry.Get(ctx, step, id)
	r.heard(rec, ok)
	return rec, ok, err
}

// A write that is lost is acknowledged, and the registry does not have it.
func TestALostWriteIsAcknowledged(t *testing.T) {
	cfg := world(t, "reference", "one-payment", impl.A3)
	s := newStage(t, cfg)
	s.follow(t, "lose registry claim of client-1/order-1/try-1")
	i, _ := find(t, s.Lines(), 0, sim.MarkReturn, plan.Server|1, impl.StepClaim)
	if next := s.Lines()[i+1]; next.Mark != sim.MarkSend && next.Mark != sim.MarkHistory {
		t.Errorf("after its claim the handler does not go on: %s", lines(s.Lines()[i:i+2]))
	}
	for _, e := range s.events {
		switch e.Kind {
		case history.KindWrite:
			t.Errorf("the registry applied a write of version %d before the charge", e.Version)
		case history.KindCharge:
			return
		}
	}
	t.Error("nothing was charged")
}

// A failure that is stored is the answer to every later send, whether the
// provider had charged before it, charged later, or not at all.
func TestStoredFailuresAreGivenAgain(t *testing.T) {
	for _, fault := range []string{"fail before", "fail after", "late"} {
		for _, stores := range []bool{false, true} {
			var heard []error
			cfg := world(t, "reference", "one-payment")
			if stores {
				cfg.Profile = profile(t, "keyed-stores-failures")
			}
			cfg.Design.Reconciler = nil
			cfg.Design.Handler = func(_ impl.Config, ports impl.Ports) impl.Handler {
				return handler(func(ctx context.Context, req impl.Request) (impl.Reply, error) {
					_, err := ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Key: req.Key, Ref: req.Key, Body: req.Body})
					heard = append(heard, err)
					return impl.Reply{}, impl.ErrInProgress
				})
			}
			line := fault + " provider charge of client-1/order-1/try-1"
			if fault == "late" {
				line += " past-timeout"
			}
			newStage(t, cfg).follow(t, line)
			frozen := 0
			for _, err := range heard {
				if answer := (*impl.ProviderError)(nil); errors.As(err, &answer) && answer.Status == 500 {
					frozen++
				}
			}
			if last := heard[len(heard)-1]; len(heard) < 3 || (frozen == len(heard)) != stores || (last != nil) != stores {
				t.Errorf("%s, stored: %v: it heard %v", fault, stores, heard)
			}
		}
	}
}
