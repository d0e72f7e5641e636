package registrytest_test

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/impl/registry/registrytest"
)

// broken is a good registry with some calls replaced by bad ones.
type broken struct {
	impl.Registry
	insert  func(r impl.Registry, rec impl.Record) (impl.Record, bool, error)
	get     func(r impl.Registry, id impl.ID) (impl.Record, bool, error)
	update  func(r impl.Registry, was impl.Fence, next impl.Record) error
	delete  func(r impl.Registry, id impl.ID, was impl.Fence) error
	sweep   func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error)
	collect func(r impl.Registry, before time.Time, limit int) ([]impl.Record, error)
}

var ctx = context.Background()

func (b broken) Insert(_ context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	if b.insert == nil {
		return b.Registry.Insert(ctx, step, rec)
	}
	return b.insert(b.Registry, rec)
}

func (b broken) Get(_ context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	if b.get == nil {
		return b.Registry.Get(ctx, step, id)
	}
	return b.get(b.Registry, id)
}

func (b broken) Update(_ context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	if b.update == nil {
		return b.Registry.Update(ctx, step, was, next)
	}
	return b.update(b.Registry, was, next)
}

func (b broken) Delete(_ context.Context, step impl.Step, id impl.ID, was impl.Fence) error {
	if b.delete == nil {
		return b.Registry.Delete(ctx, step, id, was)
	}
	return b.delete(b.Registry, id, was)
}

func (b broken) Unfinished(_ context.Context, step impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	if b.sweep == nil {
		return b.Registry.Unfinished(ctx, step, before, after, limit)
	}
	return b.sweep(b.Registry, before, after, limit)
}

func (b broken) Expired(_ context.Context, step impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	if b.collect == nil {
		return b.Registry.Expired(ctx, step, before, limit)
	}
	return b.collect(b.Registry, before, limit)
}

// The good calls, by short names.
func insert(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
	return r.Insert(ctx, impl.StepClaim, rec)
}
func get(r impl.Registry, id impl.ID) (impl.Record, bool) {
	rec, ok, _ := r.Get(ctx, impl.StepReadBack, id)
	return rec, ok
}
func update(r impl.Registry, was impl.Fence, next impl.Record) error {
	return r.Update(ctx, impl.StepComplete, was, next)
}
func remove(r impl.Registry, id impl.ID, was impl.Fence) error {
	return r.Delete(ctx, impl.StepCollect, id, was)
}
func unfinished(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	return r.Unfinished(ctx, impl.StepSweep, before, after, limit)
}
func expired(r impl.Registry, before time.Time, limit int) ([]impl.Record, error) {
	return r.Expired(ctx, impl.StepCollect, before, limit)
}

// stores is a registry that changes each record before it stores it.
func stores(change func(rec *impl.Record)) broken {
	return broken{
		insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
			change(&rec)
			return insert(r, rec)
		},
		update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
			change(&next)
			return update(r, was, next)
		},
	}
}

// identifies is a registry that takes the identity for another.
func identifies(as func(impl.ID) impl.ID) broken {
	return broken{
		insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
			id := rec.ID
			rec.ID = as(id)
			stored, inserted, err := insert(r, rec)
			stored.ID = id
			return stored, inserted, err
		},
		get: func(r impl.Registry, id impl.ID) (impl.Record, bool, error) {
			rec, ok := get(r, as(id))
			if ok {
				rec.ID = id
			}
			return rec, ok, nil
		},
		update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
			next.ID = as(next.ID)
			return update(r, was, next)
		},
		delete: func(r impl.Registry, id impl.ID, was impl.Fence) error { return remove(r, as(id), was) },
	}
}

// goesOn is a registry whose sweep takes another order for what is after the
// cursor.
func goesOn(after func(rec *impl.Record, cursor impl.Cursor) bool) broken {
	return broken{sweep: func(r impl.Registry, before time.Time, cursor impl.Cursor, limit int) ([]impl.Record, error) {
		if cursor.IsZero() || limit <= 0 {
			return unfinished(r, before, cursor, limit)
		}
		recs, err := unfinished(r, before, impl.Cursor{}, 1000)
		recs = slices.DeleteFunc(recs, func(rec impl.Record) bool { return !after(&rec, cursor) })
		return recs[:min(limit, len(recs))], err
	}}
}

// bugs are ways to break the contract, each with the group of subtests that
// has to notice.
var bugs = map[string]struct {
	noticed string
	broken  broken
}{
	"the loser of the insert overwrites": {"Insert", broken{insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
		if was, ok := get(r, rec.ID); ok {
			_ = remove(r, rec.ID, was.Fence())
		}
		return insert(r, rec)
	}}},
	"the loser of the insert is told that it won": {"Insert", broken{insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
		stored, _, err := insert(r, rec)
		return stored, true, err
	}}},
	"the loser of the insert is told its own record": {"Insert", broken{insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
		_, inserted, err := insert(r, rec)
		rec.Version = 1
		return rec, inserted, err
	}}},
	"one owner inserts twice": {"Insert", broken{insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
		stored, inserted, err := insert(r, rec)
		return stored, inserted || stored.Owner == rec.Owner, err
	}}},
	"the insert is told the version that it gave": {"Insert", broken{insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
		stored, inserted, err := insert(r, rec)
		if inserted {
			stored.Version = rec.Version
		}
		return stored, inserted, err
	}}},
	"the insert is a check and then an insert": {"Races", broken{insert: func(r impl.Registry, rec impl.Record) (impl.Record, bool, error) {
		was, ok := get(r, rec.ID)
		if ok {
			return was, false, nil
		}
		runtime.Gosched()
		stored, _, err := insert(r, rec)
		return stored, true, err
	}}},
	"scope and key run together": {"Insert", identifies(func(id impl.ID) impl.ID { return impl.ID{Key: id.Scope + id.Key} })},
	"keys are compared without case": {"Insert", identifies(func(id impl.ID) impl.ID {
		return impl.ID{Scope: id.Scope, Key: strings.ToLower(id.Key)}
	})},
	"keys are trimmed":     {"Insert", identifies(func(id impl.ID) impl.ID { return impl.ID{Scope: id.Scope, Key: strings.TrimSpace(id.Key)} })},
	"keys are cut":         {"Insert", identifies(func(id impl.ID) impl.ID { return impl.ID{Scope: id.Scope, Key: id.Key[:min(254, len(id.Key))]} })},
	"the scope is no part": {"Insert", identifies(func(id impl.ID) impl.ID { return impl.ID{Key: id.Key} })},
	"absence is a record": {"Get", broken{get: func(r impl.Registry, id impl.ID) (impl.Record, bool, error) {
		rec, _ := get(r, id)
		return rec, true, nil
	}}},
	"the update ignores the version": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if rec, ok := get(r, next.ID); ok {
			was.Version = rec.Version
		}
		return update(r, was, next)
	}}},
	"the update ignores the owner": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if rec, ok := get(r, next.ID); ok {
			was.Owner = rec.Owner
		}
		return update(r, was, next)
	}}},
	"the update takes no owner for any owner": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if rec, ok := get(r, next.ID); ok && was.Owner == "" {
			was.Owner = rec.Owner
		}
		return update(r, was, next)
	}}},
	"the update lets later versions pass": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if rec, ok := get(r, next.ID); ok && was.Version > rec.Version {
			was.Version = rec.Version
		}
		return update(r, was, next)
	}}},
	"the update is a read and then a write": {"Races", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		rec, ok := get(r, next.ID)
		if !ok || rec.Fence() != was {
			return impl.ErrConflict
		}
		runtime.Gosched()
		for {
			now, ok := get(r, next.ID)
			if !ok {
				return impl.ErrConflict
			}
			if update(r, now.Fence(), next) == nil {
				return nil
			}
		}
	}}},
	"the update inserts": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if _, ok := get(r, next.ID); !ok {
			_, _, err := insert(r, next)
			return err
		}
		return update(r, was, next)
	}}},
	"the update of nothing succeeds": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if _, ok := get(r, next.ID); !ok {
			return nil
		}
		return update(r, was, next)
	}}},
	"the update keeps the old reply if there is no new one": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if rec, ok := get(r, next.ID); ok && next.Reply.Body == nil {
			next.Reply = rec.Reply
		}
		return update(r, was, next)
	}}},
	"the update conflicts and writes all the same": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		err := update(r, was, next)
		if rec, ok := get(r, next.ID); ok && err != nil {
			_ = update(r, rec.Fence(), next)
		}
		return err
	}}},
	"the update counts twice": {"Update", broken{update: func(r impl.Registry, was impl.Fence, next impl.Record) error {
		if err := update(r, was, next); err != nil {
			return err
		}
		return update(r, impl.Fence{Version: was.Version + 1, Owner: next.Owner}, next)
	}}},
	"the deletion ignores the fence": {"Delete", broken{delete: func(r impl.Registry, id impl.ID, was impl.Fence) error {
		if rec, ok := get(r, id); ok {
			was = rec.Fence()
		}
		return remove(r, id, was)
	}}},
	"the deletion ignores the owner": {"Delete", broken{delete: func(r impl.Registry, id impl.ID, was impl.Fence) error {
		if rec, ok := get(r, id); ok {
			was.Owner = rec.Owner
		}
		return remove(r, id, was)
	}}},
	"the deletion of nothing succeeds": {"Delete", broken{delete: func(r impl.Registry, id impl.ID, was impl.Fence) error {
		if _, ok := get(r, id); !ok {
			return nil
		}
		return remove(r, id, was)
	}}},
	"the deletion leaves the record": {"Delete", broken{delete: func(r impl.Registry, id impl.ID, was impl.Fence) error {
		if rec, ok := get(r, id); !ok || rec.Fence() != was {
			return impl.ErrConflict
		}
		return nil
	}}},
	"the sweep forgets reviews": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		recs, err := unfinished(r, before, after, limit)
		return slices.DeleteFunc(recs, func(rec impl.Record) bool { return rec.State == impl.StateReview }), err
	}}},
	"the sweep is empty": {"Unfinished", broken{sweep: func(impl.Registry, time.Time, impl.Cursor, int) ([]impl.Record, error) { return nil, nil }}},
	"the sweep includes the instant": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		return unfinished(r, before.Add(1), after, limit)
	}}},
	"the sweep has no limit": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		return unfinished(r, before, after, 1000)
	}}},
	"the sweep orders by key": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		recs, err := unfinished(r, before, after, limit)
		slices.SortStableFunc(recs, func(a, b impl.Record) int { return cmp.Compare(a.Key, b.Key) })
		return recs, err
	}}},
	"the sweep cuts before it orders": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		recs, err := unfinished(r, before, after, 1000)
		slices.Reverse(recs)
		recs = recs[:max(0, min(limit, len(recs)))]
		slices.SortFunc(recs, func(a, b impl.Record) int {
			return cmp.Or(a.LeaseUntil.Compare(b.LeaseUntil), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Key, b.Key))
		})
		return recs, err
	}}},
	"the sweep returns records without their body": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		recs, err := unfinished(r, before, after, limit)
		for i := range recs {
			recs[i].Request = nil
		}
		return recs, err
	}}},
	"the sweep begins again and again": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, _ impl.Cursor, limit int) ([]impl.Record, error) {
		return unfinished(r, before, impl.Cursor{}, limit)
	}}},
	"the sweep gives the record of the cursor again": {"Unfinished", goesOn(func(rec *impl.Record, after impl.Cursor) bool {
		return rec.Cursor().Compare(after) >= 0
	})},
	"the sweep goes on with the next lease": {"Unfinished", goesOn(func(rec *impl.Record, after impl.Cursor) bool {
		return rec.LeaseUntil.After(after.LeaseUntil)
	})},
	"the sweep goes on by scope and key alone": {"Unfinished", goesOn(func(rec *impl.Record, after impl.Cursor) bool {
		return cmp.Or(cmp.Compare(rec.Scope, after.ID.Scope), cmp.Compare(rec.Key, after.ID.Key)) > 0
	})},
	"the sweep compares each part of the cursor": {"Unfinished", goesOn(func(rec *impl.Record, after impl.Cursor) bool {
		return !rec.LeaseUntil.Before(after.LeaseUntil) && rec.Scope >= after.ID.Scope && rec.Key > after.ID.Key
	})},
	"the sweep runs scope and key together": {"Unfinished", goesOn(func(rec *impl.Record, after impl.Cursor) bool {
		return cmp.Or(rec.LeaseUntil.Compare(after.LeaseUntil), cmp.Compare(rec.Scope+rec.Key, after.ID.Scope+after.ID.Key)) > 0
	})},
	"the sweep is over when the cursor's record is gone": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		if rec, ok := get(r, after.ID); !after.IsZero() && (!ok || rec.Cursor().Compare(after) != 0) {
			return nil, nil
		}
		return unfinished(r, before, after, limit)
	}}},
	"the sweep counts what comes before the cursor": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		recs, err := unfinished(r, before, impl.Cursor{}, limit)
		return slices.DeleteFunc(recs, func(rec impl.Record) bool { return !after.IsZero() && rec.Cursor().Compare(after) <= 0 }), err
	}}},
	"the sweep begins after the record of no name": {"Unfinished", broken{sweep: func(r impl.Registry, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
		recs, err := unfinished(r, before, after, limit)
		return slices.DeleteFunc(recs, func(rec impl.Record) bool { return rec.Cursor().IsZero() }), err
	}}},
	"the collection takes unfinished records too": {"Expired", broken{collect: func(r impl.Registry, before time.Time, limit int) ([]impl.Record, error) {
		recs, _ := expired(r, before, limit)
		more, _ := unfinished(r, before, impl.Cursor{}, limit)
		return slices.Concat(recs, more), nil
	}}},
	"the collection leaves tombstones": {"Expired", broken{collect: func(r impl.Registry, before time.Time, limit int) ([]impl.Record, error) {
		recs, err := expired(r, before, limit)
		return slices.DeleteFunc(recs, func(rec impl.Record) bool { return rec.Tombstone }), err
	}}},
	"the collection orders backwards": {"Expired", broken{collect: func(r impl.Registry, before time.Time, limit int) ([]impl.Record, error) {
		recs, err := expired(r, before, limit)
		slices.Reverse(recs)
		return recs, err
	}}},
	"times are kept to the microsecond": {"Records", stores(func(rec *impl.Record) { rec.LeaseUntil = rec.LeaseUntil.Truncate(time.Microsecond) })},
	"the zero time becomes another": {"Records", stores(func(rec *impl.Record) {
		if rec.ExpiresAt.IsZero() {
			rec.ExpiresAt = time.Unix(0, 0)
		}
	})},
	"nil becomes empty": {"Records", stores(func(rec *impl.Record) {
		if rec.Request == nil {
			rec.Request = []byte{}
		}
	})},
	"empty becomes nil": {"Records", stores(func(rec *impl.Record) {
		if len(rec.Reply.Header) == 0 {
			rec.Reply.Header = nil
		}
	})},
	"bodies are text": {"Records", stores(func(rec *impl.Record) {
		if rec.Request != nil {
			rec.Request = []byte(strings.ToValidUTF8(string(rec.Request), "�"))
		}
	})},
	"bodies are cut": {"Records", stores(func(rec *impl.Record) { rec.Reply.Body = rec.Reply.Body[:min(65535, len(rec.Reply.Body))] })},
	"headers are sorted": {"Records", stores(func(rec *impl.Record) {
		rec.Reply.Header = slices.Clone(rec.Reply.Header)
		slices.SortFunc(rec.Reply.Header, func(a, b impl.HeaderField) int { return cmp.Compare(a.Value, b.Value) })
	})},
	"the fingerprint is lost":       {"Records", stores(func(rec *impl.Record) { rec.Fingerprint = "" })},
	"the reply's charge is lost":    {"Records", stores(func(rec *impl.Record) { rec.Reply.ChargeID = "" })},
	"the tombstone is lost":         {"Records", stores(func(rec *impl.Record) { rec.Tombstone = false })},
	"readers append into one array": {"Records", broken{get: shareSpare}},
	"the replay marker comes back set": {"Records", broken{get: func(r impl.Registry, id impl.ID) (impl.Record, bool, error) {
		rec, ok := get(r, id)
		rec.Reply.Replayed = ok
		return rec, ok, nil
	}}},
}

// shareSpare hands out slices with spare room that all readers share.
func shareSpare(r impl.Registry, id impl.ID) (impl.Record, bool, error) {
	rec, ok := get(r, id)
	if ok && rec.Request != nil {
		n := copy(spare, rec.Request)
		rec.Request = spare[:n]
	}
	return rec, ok, nil
}

var spare = make([]byte, 1<<20)

const bugVariable = "REGISTRYTEST_BUG"

// TestBroken runs the suite against the bug that the environment names; it
// is the child of TestSuiteNotices.
func TestBroken(t *testing.T) {
	bug, ok := bugs[os.Getenv(bugVariable)]
	if !ok {
		t.Skip("only with a bug")
	}
	registrytest.Run(t, func(*testing.T) impl.Registry {
		b := bug.broken
		b.Registry = memory.New()
		return b
	}, registrytest.SharesBytes)
}

// A suite that passes says little unless it fails where it should.
func TestSuiteNotices(t *testing.T) {
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runBroken(t, name)
			if err == nil || !strings.Contains(out, "--- FAIL: TestBroken/"+bug.noticed+"/") {
				t.Errorf("%s did not notice (%v):\n%s", bug.noticed, err, out)
			}
		})
	}
}

// The state machine alone finds most bugs that are visible without threads;
// those that need a value which it does not draw are the subtests' own.
func TestMachineNotices(t *testing.T) {
	for _, name := range []string{
		"the loser of the insert overwrites", "the update ignores the owner", "the update lets later versions pass",
		"the deletion ignores the owner", "the sweep forgets reviews", "the sweep cuts before it orders",
		"the sweep gives the record of the cursor again", "the sweep counts what comes before the cursor",
		"the collection leaves tombstones", "empty becomes nil", "the tombstone is lost",
		"the update keeps the old reply if there is no new one", "scope and key run together",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runBroken(t, name)
			if err == nil || !strings.Contains(out, "--- FAIL: TestBroken/Machine") {
				t.Errorf("the machine did not notice (%v):\n%s", err, out)
			}
		})
	}
}

func runBroken(t *testing.T, name string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestBroken$", "-rapid.nofailfile", "-rapid.shrinktime=0s", "-rapid.checks=200", "-rapid.seed=1")
	cmd.Env = append(os.Environ(), bugVariable+"="+name)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A good registry passes with the same wrapping, so that it is the bugs that
// the suite notices.
func TestWrappedRegistryPasses(t *testing.T) {
	registrytest.Run(t, func(*testing.T) impl.Registry { return broken{Registry: memory.New()} }, registrytest.SharesBytes)
}
