package registrytest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

func (s suite) insert(t *testing.T) {
	t.Run("stores the record at version 1", func(t *testing.T) {
		w := s.world(t)
		want := claimed("a")
		want.Version = 1
		w.same("what Insert returned", w.insert(claimed("a")), want)
		w.holds(want)
	})
	t.Run("stores at version 1 whatever version is given", func(t *testing.T) {
		w := s.world(t)
		given, want := claimed("a"), claimed("a")
		given.Version, want.Version = 7, 1
		w.same("what Insert returned", w.insert(given), want)
		w.holds(want)
	})
	t.Run("leaves a record that exists and returns it", func(t *testing.T) {
		for _, first := range []impl.Record{claimed("a"), succeeded("a")} {
			w := s.world(t)
			want := w.insert(first)
			other := claimed("a")
			other.Owner, other.Fingerprint, other.Request = "owner-2", "v1.other", []byte(`{}`)
			stored, inserted, err := w.Insert(w.ctx, impl.StepClaim, other)
			if inserted || err != nil {
				t.Fatalf("Insert of a record that exists returned inserted %v, error %v", inserted, err)
			}
			w.same("what Insert returned", stored, want)
			w.holds(want)
		}
	})
	t.Run("is not taken for inserted when the same record is there", func(t *testing.T) {
		w := s.world(t)
		w.insert(claimed("a"))
		if _, inserted, err := w.Insert(w.ctx, impl.StepClaim, claimed("a")); inserted || err != nil {
			t.Fatalf("the second Insert of one record returned inserted %v, error %v", inserted, err)
		}
	})
	t.Run("returns what is stored now", func(t *testing.T) {
		w := s.world(t)
		was := w.insert(claimed("a"))
		w.update(was.Fence(), succeeded("a"))
		stored, inserted, err := w.Insert(w.ctx, impl.StepClaim, claimed("a"))
		if inserted || err != nil {
			t.Fatalf("Insert of a record that exists returned inserted %v, error %v", inserted, err)
		}
		want := succeeded("a")
		want.Version = 2
		w.same("what Insert returned", stored, want)
	})
	t.Run("keeps identities apart", func(t *testing.T) {
		w := s.world(t)
		var stored []impl.Record
		for _, id := range confusable {
			rec := claimed("")
			rec.ID = id
			rec.Owner = "owner of " + id.Scope + "|" + id.Key
			stored = append(stored, w.insert(rec))
		}
		for _, rec := range stored {
			w.holds(rec)
		}
	})
	t.Run("starts over after a deletion", func(t *testing.T) {
		w := s.world(t)
		was := w.insert(claimed("a"))
		w.update(was.Fence(), claimed("a"))
		if err := w.Delete(w.ctx, impl.StepCollect, was.ID, impl.Fence{Version: 2, Owner: was.Owner}); err != nil {
			t.Fatalf("Delete returned %v", err)
		}
		w.same("what Insert returned", w.insert(claimed("a")), was)
		w.holds(was)
	})
}

// confusable are identities that a careless comparison takes for each other.
var confusable = []impl.ID{
	{Scope: "a", Key: "bc"}, {Scope: "ab", Key: "c"}, {Scope: "abc", Key: ""}, {Scope: "", Key: "abc"},
	{Scope: "A", Key: "bc"}, {Scope: "a", Key: "BC"}, {Scope: "a ", Key: "bc"}, {Scope: "a", Key: "bc "},
	{Scope: "a", Key: "1"}, {Scope: "a", Key: "01"}, {Scope: "a", Key: "1.0"}, {Scope: "a", Key: "1e0"},
	{Scope: "a", Key: "é"}, {Scope: "a", Key: "e\u0301"}, {Scope: "a", Key: "%"}, {Scope: "a", Key: "_"},
	{Scope: "a", Key: "'; --"}, {Scope: "a", Key: `"`}, {Scope: "a", Key: `\`}, {Scope: "a", Key: "?1"},
	{Scope: "a", Key: strings.Repeat("k", 255)}, {Scope: "a", Key: strings.Repeat("k", 254)},
}

func (s suite) get(t *testing.T) {
	t.Run("returns false if there is none", func(t *testing.T) {
		w := s.world(t)
		w.holdsNone(impl.ID{Scope: "a", Key: "b"})
		w.insert(claimed("a"))
		w.holdsNone(impl.ID{Scope: claimed("a").Scope, Key: "b"})
		w.holdsNone(impl.ID{Scope: "another scope", Key: "a"})
	})
	t.Run("changes nothing", func(t *testing.T) {
		w := s.world(t)
		want := w.insert(claimed("a"))
		w.holds(want)
		w.holds(want)
	})
}

// stale are fences that a record at version 2 of owner-2 must not let pass.
var stale = []struct {
	name string
	was  impl.Fence
}{
	{"the version before", impl.Fence{Version: 1, Owner: "owner-2"}},
	{"the version after", impl.Fence{Version: 3, Owner: "owner-2"}},
	{"no version", impl.Fence{Version: 0, Owner: "owner-2"}},
	{"another owner", impl.Fence{Version: 2, Owner: "owner-1"}},
	{"no owner", impl.Fence{Version: 2, Owner: ""}},
	{"an owner that begins alike", impl.Fence{Version: 2, Owner: "owner-22"}},
	{"an owner in other letters", impl.Fence{Version: 2, Owner: "Owner-2"}},
	{"the fence of the first write", impl.Fence{Version: 1, Owner: "owner-1"}},
}

// atVersion2 stores a record at version 2 of owner-2.
func (w world) atVersion2(key string) impl.Record {
	was := w.insert(claimed(key))
	next := claimed(key)
	next.Owner = "owner-2"
	w.update(was.Fence(), next)
	return w.get(was.ID)
}

func (s suite) update(t *testing.T) {
	t.Run("replaces the record and sets the version", func(t *testing.T) {
		w := s.world(t)
		was := w.insert(claimed("a"))
		next := succeeded("a")
		next.Owner = "owner-2"
		next.Version = 40 // not the caller's to choose
		w.update(was.Fence(), next)
		next.Version = 2
		w.holds(next)
	})
	t.Run("replaces every field", func(t *testing.T) {
		w := s.world(t)
		was := w.insert(full("a"))
		blank := impl.Record{ID: was.ID}
		w.update(was.Fence(), blank)
		blank.Version = 2
		w.holds(blank)
		again := full("a")
		w.update(blank.Fence(), again)
		again.Version = 3
		w.holds(again)
	})
	t.Run("leaves other records alone", func(t *testing.T) {
		w := s.world(t)
		a, b := w.insert(claimed("a")), w.insert(claimed("b"))
		w.update(a.Fence(), succeeded("a"))
		w.holds(b)
	})
	t.Run("counts versions one by one", func(t *testing.T) {
		w := s.world(t)
		rec := w.insert(claimed("a"))
		for version := uint64(2); version < 10; version++ {
			w.update(rec.Fence(), rec)
			if rec = w.get(rec.ID); rec.Version != version {
				t.Fatalf("version is %d, want %d", rec.Version, version)
			}
		}
	})
	for _, c := range stale {
		t.Run("returns ErrConflict for "+c.name+" and writes nothing", func(t *testing.T) {
			w := s.world(t)
			want := w.atVersion2("a")
			next := succeeded("a")
			if err := w.Update(w.ctx, impl.StepComplete, c.was, next); !errors.Is(err, impl.ErrConflict) {
				t.Fatalf("Update of version 2 of owner-2 from %+v returned %v, want ErrConflict", c.was, err)
			}
			w.holds(want)
		})
	}
	t.Run("returns ErrConflict if there is no record and makes none", func(t *testing.T) {
		w := s.world(t)
		for _, was := range []impl.Fence{{}, {Version: 1, Owner: "owner-1"}} {
			if err := w.Update(w.ctx, impl.StepComplete, was, claimed("a")); !errors.Is(err, impl.ErrConflict) {
				t.Fatalf("Update of no record from %+v returned %v, want ErrConflict", was, err)
			}
			w.holdsNone(claimed("a").ID)
		}
	})
}

func (s suite) delete(t *testing.T) {
	t.Run("removes the record", func(t *testing.T) {
		w := s.world(t)
		a, b, c := w.atVersion2("a"), w.atVersion2("b"), w.atVersion2("c")
		if err := w.Delete(w.ctx, impl.StepCollect, a.ID, a.Fence()); err != nil {
			t.Fatalf("Delete returned %v", err)
		}
		w.holdsNone(a.ID)
		w.holds(b)
		w.holds(c)
	})
	for _, c := range stale {
		t.Run("returns ErrConflict for "+c.name+" and writes nothing", func(t *testing.T) {
			w := s.world(t)
			want := w.atVersion2("a")
			if err := w.Delete(w.ctx, impl.StepCollect, want.ID, c.was); !errors.Is(err, impl.ErrConflict) {
				t.Fatalf("Delete of version 2 of owner-2 from %+v returned %v, want ErrConflict", c.was, err)
			}
			w.holds(want)
		})
	}
	t.Run("returns ErrConflict if there is no record", func(t *testing.T) {
		w := s.world(t)
		a := w.atVersion2("a")
		if err := w.Delete(w.ctx, impl.StepCollect, impl.ID{Scope: a.Scope, Key: "b"}, a.Fence()); !errors.Is(err, impl.ErrConflict) {
			t.Fatalf("Delete of no record returned %v, want ErrConflict", err)
		}
		if err := w.Delete(w.ctx, impl.StepCollect, a.ID, a.Fence()); err != nil {
			t.Fatalf("Delete returned %v", err)
		}
		if err := w.Delete(w.ctx, impl.StepCollect, a.ID, a.Fence()); !errors.Is(err, impl.ErrConflict) {
			t.Fatalf("Delete of a deleted record returned %v, want ErrConflict", err)
		}
	})
}

// states are all states, unknown ones of a later version apart.
var states = []impl.State{
	impl.StateNone, impl.StateClaimed, impl.StateSent, impl.StateSucceeded, impl.StateDeclined, impl.StateReview,
}

// sweep is what Unfinished and Expired share: the call, the states that it
// covers and the instant that it goes by.
type sweep struct {
	name   string
	call   func(w world, before time.Time, limit int) ([]impl.Record, error)
	covers []impl.State
	at     func(rec *impl.Record) *time.Time
}

var (
	unfinished = sweep{
		"Unfinished",
		func(w world, before time.Time, limit int) ([]impl.Record, error) {
			return w.Unfinished(w.ctx, impl.StepSweep, before, impl.Cursor{}, limit)
		},
		[]impl.State{impl.StateClaimed, impl.StateSent, impl.StateReview},
		func(rec *impl.Record) *time.Time { return &rec.LeaseUntil },
	}
	expired = sweep{
		"Expired",
		func(w world, before time.Time, limit int) ([]impl.Record, error) {
			return w.Expired(w.ctx, impl.StepCollect, before, limit)
		},
		[]impl.State{impl.StateSucceeded, impl.StateDeclined},
		func(rec *impl.Record) *time.Time { return &rec.ExpiresAt },
	}
)

// finds checks what a sweep returns, in order.
func (w world) finds(sw sweep, before time.Time, limit int, want ...impl.Record) {
	w.t.Helper()
	got, err := sw.call(w, before, limit)
	if err != nil {
		w.t.Fatalf("%s returned %v", sw.name, err)
	}
	if !slices.Equal(list(got), list(want)) {
		w.t.Fatalf("%s(%v, limit %d) returned %v, want %v", sw.name, before, limit, list(got), list(want))
	}
	for i := range got {
		w.same("what "+sw.name+" returned", got[i], want[i])
	}
}

func (s suite) unfinished(t *testing.T) {
	s.sweeps(t, unfinished)
	s.cursors(t)
}

func (s suite) expired(t *testing.T) { s.sweeps(t, expired) }

// findsAfter checks what Unfinished returns from a cursor on, in order.
func (w world) findsAfter(before time.Time, after impl.Cursor, limit int, want ...impl.Record) {
	w.t.Helper()
	w.finds(sweep{
		name: fmt.Sprintf("Unfinished after (%v, %q, %q)", after.LeaseUntil, after.ID.Scope, after.ID.Key),
		call: func(w world, before time.Time, limit int) ([]impl.Record, error) {
			return w.Unfinished(w.ctx, impl.StepSweep, before, after, limit)
		},
	}, before, limit, want...)
}

func (s suite) cursors(t *testing.T) {
	at := func(scope, key string, lease time.Time) impl.Record {
		rec := claimed(key)
		rec.Scope, rec.LeaseUntil = scope, lease
		return rec
	}
	before := epoch.Add(time.Minute)
	// In order. Each part of the place decides somewhere, and where a later
	// part would decide otherwise.
	filled := func(t *testing.T) (world, []impl.Record) {
		w := s.world(t)
		all := []impl.Record{
			at("z", "z", time.Time{}),
			at("y", "y", epoch.Add(-1)),
			at("", "z", epoch),
			at("B", "z", epoch),
			at("a", "", epoch),
			at("a", "10", epoch),
			at("a", "9", epoch),
			at("a", "é", epoch),
			at("ab", "", epoch),
			at("a", "a", epoch.Add(1)),
		}
		for _, i := range []int{7, 2, 9, 0, 4, 1, 6, 3, 8, 5} {
			all[i] = w.insert(all[i])
		}
		w.insert(at("a", "live", before))
		return w, all
	}

	t.Run("returns what is strictly after the cursor", func(t *testing.T) {
		w, all := filled(t)
		for i := range all {
			w.findsAfter(before, all[i].Cursor(), 100, all[i+1:]...)
			w.findsAfter(before, all[i].Cursor(), 2, all[i+1:min(i+3, len(all))]...)
		}
	})
	t.Run("takes any place for a cursor", func(t *testing.T) {
		w, all := filled(t)
		for _, c := range []struct {
			lease      time.Time
			scope, key string
			next       int
		}{
			{time.Time{}, "", "a", 0},
			{time.Time{}, "z", "zz", 1},
			{epoch.Add(-time.Hour), "zz", "zz", 1},
			{epoch, "", "", 2},
			{epoch, "a", "1", 5},
			{epoch, "a", "100", 6},
			{epoch, "aa", "zz", 8},
			{epoch.In(time.FixedZone("UTC+9", 9*60*60)), "a", "9", 7},
			{epoch.Add(1), "a", "A", 9},
			{epoch.Add(1), "b", "", 10},
			{before, "", "", 10},
			{before.Add(time.Hour), "", "", 10},
		} {
			w.findsAfter(before, impl.Cursor{LeaseUntil: c.lease, ID: impl.ID{Scope: c.scope, Key: c.key}}, 100, all[c.next:]...)
		}
	})
	t.Run("begins before the record of no lease and no name", func(t *testing.T) {
		w := s.world(t)
		first := w.insert(at("", "", time.Time{}))
		w.findsAfter(before, impl.Cursor{}, 1, first)
		second := w.insert(at("", "a", time.Time{}))
		w.findsAfter(before, impl.Cursor{}, 100, first, second)
	})
	t.Run("goes on from a record that moved or went", func(t *testing.T) {
		w, all := filled(t)
		moved, gone := all[4], all[5]
		next := moved
		next.LeaseUntil = before
		w.update(moved.Fence(), next)
		if err := w.Delete(w.ctx, impl.StepCollect, gone.ID, gone.Fence()); err != nil {
			t.Fatalf("Delete returned %v", err)
		}
		w.findsAfter(before, moved.Cursor(), 100, all[6:]...)
		w.findsAfter(before, gone.Cursor(), 100, all[6:]...)
		w.findsAfter(before, all[3].Cursor(), 100, all[6:]...)
	})
	t.Run("reaches everything page by page", func(t *testing.T) {
		w, all := filled(t)
		for limit := 1; limit <= len(all)+1; limit++ {
			after := impl.Cursor{}
			for from := 0; from < len(all); from += limit {
				page := all[from:min(from+limit, len(all))]
				w.findsAfter(before, after, limit, page...)
				after = page[len(page)-1].Cursor()
			}
			w.findsAfter(before, after, limit)
		}
	})
}

func (s suite) sweeps(t *testing.T, sw sweep) {
	due := func(id impl.ID, at time.Time) impl.Record {
		rec := full("")
		rec.ID = id
		rec.State = sw.covers[0]
		// The other instant is out of the way on either side.
		rec.LeaseUntil, rec.ExpiresAt = epoch.Add(-time.Hour), epoch.Add(-time.Hour)
		*sw.at(&rec) = at
		return rec
	}
	before := epoch.Add(time.Minute)

	t.Run("covers its states and no others", func(t *testing.T) {
		w := s.world(t)
		var want []impl.Record
		for i, state := range states {
			rec := due(impl.ID{Scope: "s", Key: string(rune('a' + i))}, epoch)
			rec.State = state
			stored := w.insert(rec)
			if slices.Contains(sw.covers, state) {
				want = append(want, stored)
			}
		}
		w.finds(sw, before, 100, want...)
	})
	t.Run("covers tombstones like their state", func(t *testing.T) {
		w := s.world(t)
		rec := due(impl.ID{Scope: "s", Key: "a"}, epoch)
		rec.Tombstone = true
		w.finds(sw, before, 100, w.insert(rec))
	})
	t.Run("finds what was before the instant, not at it", func(t *testing.T) {
		w := s.world(t)
		earlier := w.insert(due(impl.ID{Scope: "s", Key: "c"}, before.Add(-1)))
		w.insert(due(impl.ID{Scope: "s", Key: "b"}, before))
		w.insert(due(impl.ID{Scope: "s", Key: "a"}, before.Add(1)))
		w.finds(sw, before, 100, earlier)
	})
	t.Run("goes by the instant and not by the wall", func(t *testing.T) {
		w := s.world(t)
		east := time.FixedZone("UTC+9", 9*60*60)
		rec := w.insert(due(impl.ID{Scope: "s", Key: "a"}, before.Add(-1).In(east)))
		w.finds(sw, before, 100, rec)
		w.finds(sw, before.Add(-1).In(east), 100)
	})
	t.Run("finds the zero time before any other", func(t *testing.T) {
		w := s.world(t)
		first := w.insert(due(impl.ID{Scope: "s", Key: "b"}, time.Time{}))
		second := w.insert(due(impl.ID{Scope: "s", Key: "a"}, time.Unix(-1, 0)))
		w.finds(sw, before, 100, first, second)
		w.finds(sw, time.Time{}, 100)
	})
	t.Run("orders by instant, then scope, then key", func(t *testing.T) {
		w := s.world(t)
		want := []impl.Record{
			due(impl.ID{Scope: "z", Key: "z"}, epoch.Add(-time.Hour)),
			due(impl.ID{Scope: "y", Key: "z"}, epoch.Add(-1)),
			due(impl.ID{Scope: "", Key: "z"}, epoch),
			due(impl.ID{Scope: "B", Key: "z"}, epoch), // by bytes: capitals first
			due(impl.ID{Scope: "a", Key: ""}, epoch),
			due(impl.ID{Scope: "a", Key: "10"}, epoch), // by bytes: not as numbers
			due(impl.ID{Scope: "a", Key: "9"}, epoch),
			due(impl.ID{Scope: "a", Key: "Z"}, epoch),
			due(impl.ID{Scope: "a", Key: "a"}, epoch),
			due(impl.ID{Scope: "a", Key: "é"}, epoch),
			due(impl.ID{Scope: "ab", Key: ""}, epoch),
		}
		for _, i := range []int{7, 2, 9, 0, 4, 10, 1, 6, 3, 8, 5} {
			want[i] = w.insert(want[i])
		}
		w.finds(sw, before, 100, want...)
		w.finds(sw, before, 4, want[:4]...)
	})
	t.Run("returns at most limit records", func(t *testing.T) {
		w := s.world(t)
		var all []impl.Record
		for i := range 4 {
			all = append(all, w.insert(due(impl.ID{Scope: "s", Key: string(rune('a' + i))}, epoch)))
		}
		for limit := range 6 {
			w.finds(sw, before, limit, all[:min(limit, 4)]...)
		}
		w.finds(sw, before, -1)
	})
	t.Run("follows updates and deletions", func(t *testing.T) {
		w := s.world(t)
		rec := w.insert(due(impl.ID{Scope: "s", Key: "a"}, before))
		w.finds(sw, before, 100)
		*sw.at(&rec) = epoch
		w.update(rec.Fence(), rec)
		rec.Version++
		w.finds(sw, before, 100, rec)
		was := rec.Fence()
		rec.State = impl.StateNone
		w.update(was, rec)
		rec.Version++
		w.finds(sw, before, 100)
		was = rec.Fence()
		rec.State = sw.covers[1]
		w.update(was, rec)
		rec.Version++
		w.finds(sw, before, 100, rec)
		if err := w.Delete(w.ctx, impl.StepCollect, rec.ID, rec.Fence()); err != nil {
			t.Fatalf("Delete returned %v", err)
		}
		w.finds(sw, before, 100)
	})
}

// full returns a record with something in every field that is stored.
func full(key string) impl.Record {
	rec := succeeded(key)
	rec.Version = 1
	rec.Tombstone = true
	return rec
}

func (s suite) records(t *testing.T) {
	t.Run("every field comes back", func(t *testing.T) {
		rec := full("a")
		v := reflect.ValueOf(rec)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Fatalf("the suite gives no value to Record.%s", v.Type().Field(i).Name)
			}
		}
		v = reflect.ValueOf(rec.Reply)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Replayed" {
				t.Fatalf("the suite gives no value to Reply.%s", name)
			}
		}
		w := s.world(t)
		w.insert(rec)
		w.holds(rec)
	})
	for _, c := range []struct {
		name   string
		change func(rec *impl.Record)
	}{
		{"nothing but an identity", func(rec *impl.Record) { *rec = impl.Record{ID: rec.ID} }},
		{"no identity even", func(rec *impl.Record) { rec.ID = impl.ID{} }},
		{"empty slices", func(rec *impl.Record) {
			rec.Request, rec.Reply.Body, rec.Reply.Header = []byte{}, []byte{}, []impl.HeaderField{}
		}},
		{"nil slices", func(rec *impl.Record) {
			rec.Request, rec.Reply.Body, rec.Reply.Header = nil, nil, nil
		}},
		{"bytes that are no text", func(rec *impl.Record) {
			rec.Request, rec.Reply.Body = []byte("\x00\xff\xfe'\"\\\r\n"), []byte("\xc3(\x00")
		}},
		{"long bodies", func(rec *impl.Record) {
			rec.Request = []byte(strings.Repeat("0123456789abcdef", 4096))
			rec.Reply.Body = []byte(strings.Repeat("fedcba9876543210", 65536))
		}},
		{"headers in order, twice, odd and empty", func(rec *impl.Record) {
			rec.Reply.Header = []impl.HeaderField{{Name: "Link", Value: "</b>"}, {Name: "Link", Value: "</a>"}, {Name: "", Value: ""}, {Name: "X", Value: "a: b\r\n\x00,;=é"}}
		}},
		{"text that looks like something else", func(rec *impl.Record) {
			rec.Fingerprint, rec.ProviderKey, rec.Owner, rec.ChargeID = "1e3", "007", "NULL", " 9007199254740993 "
		}},
		{"empty text", func(rec *impl.Record) {
			rec.Fingerprint, rec.ProviderKey, rec.Owner, rec.ChargeID = "", "", "", ""
		}},
		{"zero times", func(rec *impl.Record) {
			rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt = time.Time{}, time.Time{}, time.Time{}
		}},
		{"nanoseconds", func(rec *impl.Record) {
			rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt = epoch.Add(1), epoch.Add(999_999_999), epoch.Add(-1)
		}},
		{"the start of Unix time", func(rec *impl.Record) {
			rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt = time.Unix(0, 0), time.Unix(0, 1), time.Unix(0, -1)
		}},
		{"far times", func(rec *impl.Record) {
			rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt = time.Date(1700, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
		}},
		{"times of other places", func(rec *impl.Record) {
			rec.WindowFrom = epoch.In(time.FixedZone("UTC-11", -11*60*60))
		}},
		{"a large status", func(rec *impl.Record) { rec.Reply.Status = 1 << 30 }},
	} {
		t.Run(c.name+" comes back", func(t *testing.T) {
			w := s.world(t)
			rec := full("a")
			c.change(&rec)
			want := rec
			want.Version = 1
			w.same("what Insert returned", w.insert(rec), want)
			w.holds(want)
			w.update(want.Fence(), rec)
			want.Version = 2
			w.holds(want)
		})
	}
	t.Run("every call returns times in one form", func(t *testing.T) {
		w := s.world(t)
		rec := full("a")
		elsewhere := time.FixedZone("UTC+9", 9*60*60)
		rec.WindowFrom, rec.LeaseUntil, rec.ExpiresAt = rec.WindowFrom.In(elsewhere), rec.LeaseUntil.In(elsewhere), rec.ExpiresAt.In(elsewhere)
		inserted, got := w.insert(rec), w.get(rec.ID)
		for _, pair := range [][2]time.Time{{inserted.WindowFrom, got.WindowFrom}, {inserted.LeaseUntil, got.LeaseUntil}, {inserted.ExpiresAt, got.ExpiresAt}} {
			if pair[0] != pair[1] {
				t.Fatalf("Insert returned %v, Get returned %v", pair[0], pair[1])
			}
		}
	})
	t.Run("the replay marker is not stored", func(t *testing.T) {
		w := s.world(t)
		rec, want := full("a"), full("a")
		rec.Reply.Replayed = true
		w.same("what Insert returned", w.insert(rec), want)
		w.holds(want)
		w.update(want.Fence(), rec)
		want.Version = 2
		w.holds(want)
	})
	t.Run("records that are handed out are the reader's own", func(t *testing.T) {
		w := s.world(t)
		given := full("a")
		given.Request = append(make([]byte, 0, 1024), given.Request...)
		given.Reply.Body = append(make([]byte, 0, 1024), given.Reply.Body...)
		given.Reply.Header = append(make([]impl.HeaderField, 0, 8), given.Reply.Header...)
		handedOut := []impl.Record{w.insert(given), w.get(given.ID), w.get(given.ID)}
		existing, _, _ := w.Insert(w.ctx, impl.StepClaim, given)
		found, _ := expired.call(w, epoch.Add(48*time.Hour), 1)
		handedOut = append(append(handedOut, existing), found...)
		for _, rec := range handedOut {
			rec.State = impl.StateReview
			rec.Reply.Status = 500
			_ = append(rec.Request, "appended"...)
			_ = append(rec.Reply.Body, "appended"...)
			_ = append(rec.Reply.Header, impl.HeaderField{Name: "appended"})
			w.holds(full("a"))
		}
		for i, one := range handedOut {
			for _, other := range handedOut[i+1:] {
				apart(t, "Request", one.Request, other.Request, 'a', 'b')
				apart(t, "Reply.Body", one.Reply.Body, other.Reply.Body, 'a', 'b')
				apart(t, "Reply.Header", one.Reply.Header, other.Reply.Header, impl.HeaderField{Name: "a"}, impl.HeaderField{Name: "b"})
			}
		}
	})
	t.Run("records share no memory with the registry", func(t *testing.T) {
		if s.excepted(SharesBytes) {
			t.Skip("the adapter shares bytes, and says so")
		}
		w := s.world(t)
		given := full("a")
		scribble := func(rec impl.Record) {
			clear(rec.Request)
			clear(rec.Reply.Body)
			clear(rec.Reply.Header)
			w.holds(full("a"))
		}
		stored := w.insert(given)
		scribble(given)
		scribble(stored)
		scribble(w.get(given.ID))
		existing, _, _ := w.Insert(w.ctx, impl.StepClaim, full("a"))
		scribble(existing)
		found, _ := expired.call(w, epoch.Add(48*time.Hour), 1)
		scribble(found[0])
	})
}

// apart checks that what is appended to one slice is not seen in the other.
func apart[E comparable](t *testing.T, field string, one, other []E, a, b E) {
	t.Helper()
	one, other = append(one, a), append(other, b)
	if one[len(one)-1] != a || other[len(other)-1] != b {
		t.Fatalf("two readers append to %s and write into one array", field)
	}
}
