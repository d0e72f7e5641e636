// Package sqlite keeps records in an SQLite database: one file on one machine,
// shared by any number of processes there, or one process's memory.
//
// Every write is one statement in a transaction of its own. Such a statement
// takes the write lock before it reads, like BEGIN IMMEDIATE, so no write acts
// on what somebody else has changed since, and none is refused for having read
// first (SQLITE_BUSY_SNAPSHOT; ovumcy/ovumcy-web#155, Aureliolo/synthorg#1624).
// An acknowledged write is on the disk unless Options says otherwise.
//
// What an error says: busy, locked, read-only, over the length limit, or an
// argument that the schema cannot hold: nothing was written, ErrNotApplied.
// Any other failure of a write, a full disk or an I/O error among them, is
// ErrUnknown: a commit whose sync failed may still be found after a restart.
// A failed read is ErrNotApplied, since it writes nothing.
//
// It does not share a database over a network file system, does not retry,
// and does not stop a statement that runs when its context ends: that would
// only turn known outcomes into unknown ones. A context bounds the wait for
// the connection; BusyTimeout bounds the wait for other processes.
//
// The rule it keeps: it has one connection and starts no goroutine (the one
// that database/sql keeps for each DB apart), so with BusyTimeout 0 equal calls
// get equal answers, also when the callers are coroutines of a simulator.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Registry implements [impl.Registry]. It is safe for concurrent use; calls
// take turns on the one connection.
type Registry struct {
	db     *sql.DB
	conn   *sql.Conn
	turn   chan struct{} // holds a token while a call is under way
	closed bool          // whoever has the turn may look

	insert, get, update, delete, unfinished, expired, reset *sql.Stmt
}

var _ impl.Registry = (*Registry)(nil)

// columns are those of a record, in the order of row and scan.
const columns = `scope, key, fingerprint, request, provider_key, window_from, state, version, owner, lease_until,
	outcome, status, header, body, reply_charge_id, charge_id, expires_at, tombstone`

// The sweeps, each on an index of its own.
const (
	selectUnfinished = `SELECT ` + columns + ` FROM record
		WHERE ` + isUnfinished + ` AND lease_until < ? AND (lease_until, scope, key) > (?, ?, ?)
		ORDER BY lease_until, scope, key LIMIT ?`
	selectExpired = `SELECT ` + columns + ` FROM record
		WHERE ` + isTerminal + ` AND expires_at < ? ORDER BY expires_at, scope, key LIMIT ?`
)

// prepare makes the statements. It is called once the schema is there.
func (r *Registry) prepare(ctx context.Context) error {
	for _, s := range []struct {
		into  **sql.Stmt
		query string
	}{
		{&r.insert, `INSERT INTO record (` + columns + `)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&r.get, `SELECT ` + columns + ` FROM record WHERE scope = ? AND key = ?`},
		{&r.update, `UPDATE record SET (` + columns + `)
			= (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
			WHERE scope = ?1 AND key = ?2 AND version = ?19 AND owner = ?20`},
		{&r.delete, `DELETE FROM record WHERE scope = ? AND key = ? AND version = ? AND owner = ?`},
		{&r.unfinished, selectUnfinished},
		{&r.expired, selectExpired},
		{&r.reset, `DELETE FROM record`},
	} {
		stmt, err := r.conn.PrepareContext(ctx, s.query)
		if err != nil {
			return fmt.Errorf("sqlite: prepare: %w", err)
		}
		*s.into = stmt
	}
	return nil
}

// Close waits for the call that is under way and closes the database. Calls
// after it return ErrNotApplied; closing again does nothing.
func (r *Registry) Close() error {
	r.turn <- struct{}{}
	defer r.end()
	if r.closed {
		return nil
	}
	r.closed = true
	for _, stmt := range []*sql.Stmt{r.insert, r.get, r.update, r.delete, r.unfinished, r.expired, r.reset} {
		if stmt != nil {
			_ = stmt.Close() // what fails here fails again, and is told, below
		}
	}
	_ = r.conn.Close()
	return r.db.Close()
}

// begin waits for the connection, no longer than ctx. It returns the context
// for the call: one that never ends, which spares the driver a goroutine.
func (r *Registry) begin(ctx context.Context) (context.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, notApplied(err)
	}
	select {
	case r.turn <- struct{}{}:
	default:
		select {
		case r.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, notApplied(ctx.Err())
		}
	}
	if r.closed {
		r.end()
		return nil, notApplied(sql.ErrConnDone)
	}
	if ctx.Done() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	return ctx, nil
}

func (r *Registry) end() { <-r.turn }

// insertTries bounds how often Insert meets a record that is gone again when
// it looks. Other processes would have to delete and insert it in step.
const insertTries = 100

// Insert stores rec at version 1 unless there is a record.
func (r *Registry) Insert(ctx context.Context, _ impl.Step, rec impl.Record) (impl.Record, bool, error) {
	rec = stored(rec, 1)
	args, err := row(&rec)
	if err != nil {
		return impl.Record{}, false, notApplied(err)
	}
	if ctx, err = r.begin(ctx); err != nil {
		return impl.Record{}, false, err
	}
	defer r.end()
	for range insertTries {
		n, err := write(ctx, r.insert, args...)
		if err != nil {
			return impl.Record{}, false, err
		}
		if n == 1 {
			return rec, true, nil
		}
		there, ok, err := r.read(ctx, rec.ID)
		if err != nil || ok {
			return there, false, err
		}
	}
	return impl.Record{}, false, notApplied(fmt.Errorf("the record came and went %d times", insertTries))
}

// Get returns the record, and false if there is none.
func (r *Registry) Get(ctx context.Context, _ impl.Step, id impl.ID) (impl.Record, bool, error) {
	ctx, err := r.begin(ctx)
	if err != nil {
		return impl.Record{}, false, err
	}
	defer r.end()
	return r.read(ctx, id)
}

func (r *Registry) read(ctx context.Context, id impl.ID) (impl.Record, bool, error) {
	recs, err := query(ctx, r.get, id.Scope, id.Key)
	if err != nil || len(recs) == 0 {
		return impl.Record{}, false, err
	}
	return recs[0], true, nil
}

// Update replaces the record, or returns ErrConflict.
func (r *Registry) Update(ctx context.Context, _ impl.Step, was impl.Fence, next impl.Record) error {
	next = stored(next, was.Version+1)
	args, err := row(&next)
	if err != nil {
		return notApplied(err)
	}
	return r.fenced(ctx, r.update, append(args, int64(was.Version), was.Owner))
}

// Delete removes the record, or returns ErrConflict.
func (r *Registry) Delete(ctx context.Context, _ impl.Step, id impl.ID, was impl.Fence) error {
	return r.fenced(ctx, r.delete, []any{id.Scope, id.Key, int64(was.Version), was.Owner})
}

// fenced runs a write that finds one record or none.
func (r *Registry) fenced(ctx context.Context, stmt *sql.Stmt, args []any) error {
	ctx, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer r.end()
	n, err := write(ctx, stmt, args...)
	if err == nil && n == 0 {
		return impl.ErrConflict
	}
	return err
}

// Unfinished returns the unfinished records whose lease is over, as
// [impl.Registry] orders them.
func (r *Registry) Unfinished(ctx context.Context, _ impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	at := any(instantBound(after.LeaseUntil))
	if after.IsZero() {
		at = -math.MaxFloat64 // less than any integer: also the record of the empty name comes after it
	}
	return r.due(ctx, r.unfinished, limit, instantBound(before), at, after.ID.Scope, after.ID.Key, limit)
}

// Expired returns the terminal records that are over, as [impl.Registry]
// orders them.
func (r *Registry) Expired(ctx context.Context, _ impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	return r.due(ctx, r.expired, limit, instantBound(before), limit)
}

func (r *Registry) due(ctx context.Context, stmt *sql.Stmt, limit int, args ...any) ([]impl.Record, error) {
	if limit <= 0 {
		return nil, nil // to SQLite, a negative limit is none
	}
	ctx, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer r.end()
	return query(ctx, stmt, args...)
}

// Reset deletes all records, whatever their state: for tests and simulators
// that use one database again. It leaves the file as large as it was.
func (r *Registry) Reset(ctx context.Context) error {
	ctx, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer r.end()
	_, err = write(ctx, r.reset)
	return err
}

// write runs a statement that writes and returns how many records it found.
func write(ctx context.Context, stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, writeError(err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, writeError(err)
	}
	return n, nil
}

// query runs a statement that reads records.
func query(ctx context.Context, stmt *sql.Stmt, args ...any) ([]impl.Record, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, notApplied(err)
	}
	defer rows.Close()
	var recs []impl.Record
	for rows.Next() {
		var rec impl.Record
		if err := scan(rows, &rec); err != nil {
			return nil, notApplied(err)
		}
		recs = append(recs, rec)
	}
	if err := rows.Err(); err != nil {
		return nil, notApplied(err)
	}
	return recs, nil
}
