package registrytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"pgregory.net/rapid"
)

// model is the contract as a program: what a registry holds, and nothing of
// how.
type model map[impl.ID]impl.Record

func (m model) insert(rec impl.Record) (impl.Record, bool) {
	if was, ok := m[rec.ID]; ok {
		return was, false
	}
	rec.Version = 1
	rec.Reply.Replayed = false
	m[rec.ID] = clone(rec)
	return rec, true
}

func (m model) update(was impl.Fence, next impl.Record) error {
	if rec, ok := m[next.ID]; !ok || rec.Fence() != was {
		return impl.ErrConflict
	}
	next.Version = was.Version + 1
	next.Reply.Replayed = false
	m[next.ID] = clone(next)
	return nil
}

func (m model) delete(id impl.ID, was impl.Fence) error {
	if rec, ok := m[id]; !ok || rec.Fence() != was {
		return impl.ErrConflict
	}
	delete(m, id)
	return nil
}

func (m model) due(sw sweep, before time.Time, limit int) []impl.Record {
	var found []impl.Record
	for _, rec := range m {
		if slices.Contains(sw.covers, rec.State) && sw.at(&rec).Before(before) {
			found = append(found, rec)
		}
	}
	slices.SortFunc(found, func(a, b impl.Record) int {
		return cmp.Or(sw.at(&a).Compare(*sw.at(&b)), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Key, b.Key))
	})
	return found[:min(limit, len(found))]
}

func (m model) after(before time.Time, after impl.Cursor, limit int) []impl.Record {
	left := m.due(unfinished, before, len(m))
	if after != (impl.Cursor{}) {
		left = slices.DeleteFunc(left, func(rec impl.Record) bool {
			return cmp.Or(rec.LeaseUntil.Compare(after.LeaseUntil), cmp.Compare(rec.Scope, after.ID.Scope), cmp.Compare(rec.Key, after.ID.Key)) <= 0
		})
	}
	return left[:min(limit, len(left))]
}

// A few identities, so that calls meet, and unusual ones.
var machineIDs = []impl.ID{
	{Scope: "4:acme POST /payments", Key: "order-7"}, {Scope: "4:acme POST /payments", Key: "order-8"},
	{Scope: "3:acm POST /payments", Key: "order-7"}, {Scope: "", Key: ""}, {Scope: "a", Key: ""}, {Scope: "", Key: "a"},
	{Scope: "a", Key: "é 'quoted'"},
}

// Instants that meet: due at one and the same time, just before, just after.
var machineTimes = []time.Time{
	{}, time.Unix(0, 0), epoch, epoch.Add(-1), epoch.Add(1), epoch.Add(time.Hour), epoch.Add(300 * 24 * time.Hour),
}

var machineOwners = []string{"", "owner-1", "owner-2", "owner-é"}

func drawRecord(t *rapid.T, id impl.ID) impl.Record {
	text := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-z0-9-]{1,46}`))
	bytes := rapid.OneOf(
		rapid.SampledFrom([][]byte{nil, {}, []byte(`{"amount":1250,"currency":"EUR"}`)}),
		rapid.SliceOfN(rapid.Byte(), 0, 40),
	)
	headers := rapid.OneOf(
		rapid.SampledFrom([][]impl.HeaderField{nil, {}}),
		rapid.SliceOfN(rapid.Custom(func(t *rapid.T) impl.HeaderField {
			return impl.HeaderField{Name: text.Draw(t, "name"), Value: rapid.String().Draw(t, "value")}
		}), 0, 3),
	)
	instant := rapid.SampledFrom(machineTimes)
	return impl.Record{
		ID:          id,
		Fingerprint: text.Draw(t, "fingerprint"),
		Request:     bytes.Draw(t, "request"),
		ProviderKey: text.Draw(t, "provider key"),
		WindowFrom:  instant.Draw(t, "window from"),
		State:       rapid.SampledFrom(states).Draw(t, "state"),
		Version:     rapid.Uint64Range(0, 3).Draw(t, "version"),
		Owner:       rapid.SampledFrom(machineOwners).Draw(t, "owner"),
		LeaseUntil:  instant.Draw(t, "lease until"),
		Reply: impl.Reply{
			Outcome:  rapid.SampledFrom([]impl.Outcome{impl.OutcomeNone, impl.OutcomePaid, impl.OutcomeDeclined}).Draw(t, "outcome"),
			Status:   rapid.IntRange(0, 599).Draw(t, "status"),
			Header:   headers.Draw(t, "header"),
			Body:     bytes.Draw(t, "body"),
			ChargeID: text.Draw(t, "reply charge"),
			Replayed: rapid.Bool().Draw(t, "replayed"),
		},
		ChargeID:  text.Draw(t, "charge"),
		ExpiresAt: instant.Draw(t, "expires at"),
		Tombstone: rapid.Bool().Draw(t, "tombstone"),
	}
}

// machine runs random calls against the registry and the model.
func (s suite) machine(t *testing.T) {
	registry := s.open(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := world{registry, rt, context.Background()}
		switch r := registry.(type) {
		case Resetter:
			if err := r.Reset(w.ctx); err != nil {
				rt.Fatalf("Reset returned %v", err)
			}
		case interface{ Reset() }:
			r.Reset()
		default:
			w.Registry = s.open(t)
		}
		m := model{}
		rt.Repeat(actions(w, m))
	})
}

func actions(w world, m model) map[string]func(*rapid.T) {
	id := func(t *rapid.T) impl.ID { return rapid.SampledFrom(machineIDs).Draw(t, "id") }
	// The record's own fence more often than not, else one near it.
	fence := func(t *rapid.T, id impl.ID) impl.Fence {
		rec := m[id]
		was := rec.Fence()
		switch rapid.SampledFrom([]string{"right", "right", "right", "version", "owner", "both"}).Draw(t, "fence") {
		case "version":
			was.Version = rapid.Uint64Range(0, 3).Draw(t, "was version")
		case "owner":
			was.Owner = rapid.SampledFrom(machineOwners).Draw(t, "was owner")
		case "both":
			was = impl.Fence{Version: rapid.Uint64Range(0, 3).Draw(t, "was version"), Owner: rapid.SampledFrom(machineOwners).Draw(t, "was owner")}
		}
		return was
	}
	sweepBy := func(sw sweep) func(t *rapid.T) {
		return func(t *rapid.T) {
			before := rapid.SampledFrom(machineTimes).Draw(t, "before")
			limit := rapid.IntRange(0, len(machineIDs)+1).Draw(t, "limit")
			w.at(t).finds(sw, before, limit, m.due(sw, before, limit)...)
		}
	}
	return map[string]func(*rapid.T){
		"insert": func(t *rapid.T) {
			rec := drawRecord(t, id(t))
			want, wantInserted := m.insert(rec)
			got, inserted, err := w.Insert(w.ctx, impl.StepClaim, rec)
			if err != nil || inserted != wantInserted {
				t.Fatalf("Insert(%+v) returned inserted %v, error %v; want inserted %v", rec.ID, inserted, err, wantInserted)
			}
			w.at(t).same("what Insert returned", got, want)
		},
		"update": func(t *rapid.T) {
			next := drawRecord(t, id(t))
			was := fence(t, next.ID)
			want := m.update(was, next)
			if err := w.Update(w.ctx, impl.StepComplete, was, next); !errors.Is(err, want) {
				t.Fatalf("Update(%+v) from %+v returned %v, want %v", next.ID, was, err, want)
			}
		},
		"delete": func(t *rapid.T) {
			id := id(t)
			was := fence(t, id)
			want := m.delete(id, was)
			if err := w.Delete(w.ctx, impl.StepCollect, id, was); !errors.Is(err, want) {
				t.Fatalf("Delete(%+v) from %+v returned %v, want %v", id, was, err, want)
			}
		},
		"unfinished": sweepBy(unfinished),
		"expired":    sweepBy(expired),
		"go on": func(t *rapid.T) {
			before := rapid.SampledFrom(machineTimes).Draw(t, "before")
			after := impl.Cursor{LeaseUntil: rapid.SampledFrom(machineTimes).Draw(t, "after"), ID: id(t)}
			limit := rapid.IntRange(0, len(machineIDs)+1).Draw(t, "limit")
			w.at(t).findsAfter(before, after, limit, m.after(before, after, limit)...)
		},
		"": func(t *rapid.T) {
			w := w.at(t)
			for _, id := range machineIDs {
				got, ok, err := w.Get(w.ctx, impl.StepReadBack, id)
				want, wantOK := m[id]
				if err != nil || ok != wantOK {
					t.Fatalf("Get(%+v) returned %v, error %v; want %v", id, ok, err, wantOK)
				}
				w.same(fmt.Sprintf("what is stored of %+v", id), got, want)
			}
			ever := epoch.Add(1000 * 24 * time.Hour)
			for _, sw := range []sweep{unfinished, expired} {
				w.finds(sw, ever, 100, m.due(sw, ever, 100)...)
			}
		},
	}
}

// at reports to the action that runs.
func (w world) at(t fataler) world {
	w.t = t
	return w
}
