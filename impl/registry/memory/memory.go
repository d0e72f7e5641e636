// Package memory keeps records in the memory of one process: for tests, for
// the simulator's registry, and for trying things out. It keeps nothing over
// a restart, so it is no registry for money.
//
// It answers at once, never fails, and passes over contexts and steps. Times
// are kept as instants: locations and monotonic readings are dropped, as a
// database drops them.
//
// The rule it keeps: records are values, and the bytes of a record that was
// handed over are written by nobody any more. Request, Reply.Body and
// Reply.Header of a record that goes in or comes out are not copied but
// shared with the registry; whoever wants other bytes makes other slices.
// Setting the fields of such a record and appending to its slices is safe.
package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Registry implements [impl.Registry]. It is safe for concurrent use: one
// mutex makes every call one instant.
type Registry struct {
	mu      sync.Mutex
	places  map[impl.ID]int // where in records
	records []impl.Record   // in no order that matters
	scratch []int           // places, for due
}

var _ impl.Registry = (*Registry)(nil)

// New returns an empty registry.
func New() *Registry { return &Registry{places: make(map[impl.ID]int)} }

// Reset forgets all records. It keeps the memory that they took, so that a
// registry that is used again allocates nothing.
func (r *Registry) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.places)
	clear(r.records)
	r.records = r.records[:0]
}

// Insert stores rec at version 1 unless there is a record. It never fails.
func (r *Registry) Insert(_ context.Context, _ impl.Step, rec impl.Record) (impl.Record, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.places[rec.ID]; ok {
		return r.records[i], false, nil
	}
	keep(&rec, 1)
	r.places[rec.ID] = len(r.records)
	r.records = append(r.records, rec)
	return rec, true, nil
}

// Get returns the record, and false if there is none. It never fails.
func (r *Registry) Get(_ context.Context, _ impl.Step, id impl.ID) (impl.Record, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.places[id]; ok {
		return r.records[i], true, nil
	}
	return impl.Record{}, false, nil
}

// Update replaces the record, or returns ErrConflict.
func (r *Registry) Update(_ context.Context, _ impl.Step, was impl.Fence, next impl.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.find(next.ID, was)
	if !ok {
		return impl.ErrConflict
	}
	keep(&next, was.Version+1)
	r.records[i] = next
	return nil
}

// Delete removes the record, or returns ErrConflict.
func (r *Registry) Delete(_ context.Context, _ impl.Step, id impl.ID, was impl.Fence) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.find(id, was)
	if !ok {
		return impl.ErrConflict
	}
	last := len(r.records) - 1
	if i != last {
		r.records[i] = r.records[last]
		r.places[r.records[i].ID] = i
	}
	r.records[last] = impl.Record{}
	r.records = r.records[:last]
	delete(r.places, id)
	return nil
}

// Unfinished returns the unfinished records whose lease is over, as
// [impl.Registry] orders them. It never fails.
func (r *Registry) Unfinished(_ context.Context, _ impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	return r.due(limit, func(rec *impl.Record) (time.Time, bool) {
		return rec.LeaseUntil, unfinished(rec.State) && rec.LeaseUntil.Before(before) &&
			(after.IsZero() || rec.Cursor().Compare(after) > 0)
	}), nil
}

// Expired returns the terminal records that are over, as [impl.Registry]
// orders them. It never fails.
func (r *Registry) Expired(_ context.Context, _ impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	return r.due(limit, func(rec *impl.Record) (time.Time, bool) {
		return rec.ExpiresAt, rec.State.Terminal() && rec.ExpiresAt.Before(before)
	}), nil
}

func unfinished(s impl.State) bool {
	return s == impl.StateClaimed || s == impl.StateSent || s == impl.StateReview
}

// due returns the first limit records that the condition picks, by the
// instant that it gives, then by scope and key. It passes over all records,
// and allocates only when there is something to return.
func (r *Registry) due(limit int, pick func(*impl.Record) (time.Time, bool)) []impl.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if limit <= 0 {
		return nil
	}
	due := r.scratch[:0]
	for i := range r.records {
		if _, ok := pick(&r.records[i]); ok {
			due = append(due, i)
		}
	}
	r.scratch = due
	if len(due) == 0 {
		return nil
	}
	slices.SortFunc(due, func(i, j int) int {
		a, b := &r.records[i], &r.records[j]
		at, _ := pick(a)
		bt, _ := pick(b)
		return cmp.Or(at.Compare(bt), cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Key, b.Key))
	})
	due = due[:min(limit, len(due))]
	found := make([]impl.Record, len(due))
	for n, i := range due {
		found[n] = r.records[i]
	}
	return found
}

// find returns the place of the record if it has the version and the owner
// of the fence.
func (r *Registry) find(id impl.ID, was impl.Fence) (int, bool) {
	i, ok := r.places[id]
	if !ok || r.records[i].Fence() != was {
		return 0, false
	}
	return i, true
}

// keep makes a record that was handed over into the one that is stored.
// Clipped slices make every append by a reader an append to a copy.
func keep(rec *impl.Record, version uint64) {
	rec.Version = version
	rec.Request = slices.Clip(rec.Request)
	rec.Reply.Body = slices.Clip(rec.Reply.Body)
	rec.Reply.Header = slices.Clip(rec.Reply.Header)
	rec.Reply.Replayed = false
	rec.WindowFrom = instant(rec.WindowFrom)
	rec.LeaseUntil = instant(rec.LeaseUntil)
	rec.ExpiresAt = instant(rec.ExpiresAt)
}

// instant drops the location and the monotonic reading.
func instant(t time.Time) time.Time { return t.Round(0).UTC() }
