package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Options says which database to open, and how.
type Options struct {
	// Path is the database's file, made if there is none. Beside it SQLite
	// keeps files with the suffixes -wal, -shm and -journal.
	Path string
	// InMemory keeps the database in the memory of this Registry, instead of
	// in a file: it is gone with Close. Journal, Synchronous, Locking and VFS
	// mean nothing to it.
	InMemory bool
	// Journal is how a commit is made atomic. The zero value is JournalWAL.
	Journal Journal
	// Synchronous is when a commit is on the disk. The zero value is
	// SynchronousFull: when it is acknowledged.
	Synchronous Synchronous
	// Locking says whether other connections may use the file meanwhile. The
	// zero value is LockingShared.
	Locking Locking
	// BusyTimeout is how long a call waits for another connection's lock
	// before it returns ErrNotApplied, rounded up to milliseconds. 0 does not
	// wait. A few seconds suit a server; a simulator needs 0.
	BusyTimeout time.Duration
	// VFS names a registered SQLite VFS; empty is the operating system's.
	VFS string
}

// Journal is a journal mode.
type Journal uint8

// The journal modes that survive a crash.
const (
	JournalWAL      Journal = iota // a write-ahead log: readers and a writer do not wait for each other
	JournalRollback                // a rollback journal, deleted at each commit
)

var journalNames = [...]string{JournalWAL: "wal", JournalRollback: "delete"}

// String returns the mode as SQLite names it.
func (j Journal) String() string { return name(journalNames[:], uint8(j)) }

// Synchronous is how far a commit has come when it is acknowledged.
type Synchronous uint8

// The levels. All but SynchronousFull and SynchronousExtra can lose
// acknowledged writes at a power failure, which breaks assumption A3.
const (
	SynchronousFull   Synchronous = iota // on the disk
	SynchronousExtra                     // and, with a rollback journal, its deletion too
	SynchronousNormal                    // on the disk at the next checkpoint
	SynchronousOff                       // with the operating system
)

var synchronousNames = [...]string{SynchronousFull: "full", SynchronousExtra: "extra", SynchronousNormal: "normal", SynchronousOff: "off"}

// String returns the level as SQLite names it.
func (s Synchronous) String() string { return name(synchronousNames[:], uint8(s)) }

// Locking says who may use the file.
type Locking uint8

// The locking modes.
const (
	LockingShared    Locking = iota // any connection, between two statements of this one
	LockingExclusive                // this connection alone until Close; a WAL then needs no shared memory
)

var lockingNames = [...]string{LockingShared: "normal", LockingExclusive: "exclusive"}

// String returns the mode as SQLite names it.
func (l Locking) String() string { return name(lockingNames[:], uint8(l)) }

func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

// Validate reports every problem of the options, joined; nil if there is none.
func (o *Options) Validate() error {
	var problems []error
	add := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("sqlite: options: "+format, args...))
		}
	}
	memory := strings.Contains(o.Path, ":memory:")
	add(o.InMemory || o.Path != "", "want Path or InMemory")
	add(!o.InMemory || o.Path == "", "want Path or InMemory, not both")
	add(!memory, "Path is %q: for a database in memory set InMemory, since it has no WAL and is not durable", o.Path)
	add(memory || !strings.HasPrefix(o.Path, "file:"), "Path is %q: want the name of a file, not a URI", o.Path)
	add(!strings.Contains(o.Path, "\x00"), "Path holds a null byte")
	add(int(o.Journal) < len(journalNames), "Journal is %v", o.Journal)
	add(int(o.Synchronous) < len(synchronousNames), "Synchronous is %v", o.Synchronous)
	add(int(o.Locking) < len(lockingNames), "Locking is %v", o.Locking)
	add(o.BusyTimeout >= 0, "BusyTimeout is %v: want 0 or more", o.BusyTimeout)
	return errors.Join(problems...)
}

// source is the data source name for the driver.
func (o *Options) source() string {
	if o.InMemory {
		return ":memory:"
	}
	path := filepath.ToSlash(o.Path)
	if filepath.VolumeName(o.Path) != "" {
		path = "/" + path // file:/C:/…
	}
	source := "file:" + (&url.URL{Path: path}).EscapedPath()
	if o.VFS != "" {
		source += "?vfs=" + url.QueryEscape(o.VFS)
	}
	return source
}

// Open opens the database, makes or migrates its schema, and checks that what
// was asked for is in force. It returns ErrNewerSchema, ErrForeign or
// ErrSetting, and otherwise the errors of Validate and of SQLite. The context
// bounds Open alone.
func Open(ctx context.Context, o Options) (*Registry, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", o.source())
	if err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	db.SetMaxOpenConns(1)
	// From here on, as in every call, a context that ends would only leave
	// things half done.
	ctx = context.WithoutCancel(ctx)
	conn, err := db.Conn(ctx)
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("sqlite: open %s: %w", o.Path, err)
	}
	r := &Registry{db: db, conn: conn, turn: make(chan struct{}, 1)}
	if err := r.setUp(ctx, o); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Registry) setUp(ctx context.Context, o Options) error {
	milliseconds := (o.BusyTimeout + time.Millisecond - 1) / time.Millisecond
	if _, err := r.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", milliseconds)); err != nil {
		return fmt.Errorf("sqlite: open %s: %w", o.Path, err)
	}
	// What belongs to somebody else is not even switched to another journal.
	if _, err := r.schemaVersion(ctx); err != nil {
		return err
	}
	if !o.InMemory {
		if err := r.set(ctx, "locking_mode", o.Locking.String()); err != nil {
			return err
		}
		if err := r.setJournal(ctx, o); err != nil {
			return err
		}
		if err := r.setSynchronous(ctx, o.Synchronous); err != nil {
			return err
		}
	}
	if err := r.migrate(ctx); err != nil {
		return err
	}
	return r.prepare(ctx)
}

// set sets a pragma that answers with what is in force, which is not always
// what was asked for.
func (r *Registry) set(ctx context.Context, pragma, value string) error {
	var got string
	if err := r.conn.QueryRowContext(ctx, "PRAGMA "+pragma+" = "+value).Scan(&got); err != nil {
		return fmt.Errorf("sqlite: set %s to %s: %w", pragma, value, err)
	}
	if got != value {
		return fmt.Errorf("%w: %s is %s, not %s", ErrSetting, pragma, got, value)
	}
	return nil
}

// journalTries bounds how often another connection may come between.
const journalTries = 100

// setJournal sets the journal mode. SQLite does not wait for the lock that a
// change of the mode takes, whatever the busy timeout, so where waiting was
// asked for this waits for the write lock in between.
func (r *Registry) setJournal(ctx context.Context, o Options) error {
	for try := 1; ; try++ {
		err := r.set(ctx, "journal_mode", o.Journal.String())
		if o.BusyTimeout == 0 || try == journalTries || !isBusy(err) {
			return err
		}
		for _, query := range []string{"BEGIN IMMEDIATE", "ROLLBACK"} {
			if _, err := r.conn.ExecContext(ctx, query); err != nil {
				return fmt.Errorf("sqlite: wait to set journal_mode: %w", err)
			}
		}
	}
}

// setSynchronous sets and checks the one pragma that answers in numbers.
func (r *Registry) setSynchronous(ctx context.Context, level Synchronous) error {
	if _, err := r.conn.ExecContext(ctx, "PRAGMA synchronous = "+level.String()); err != nil {
		return fmt.Errorf("sqlite: set synchronous to %v: %w", level, err)
	}
	numbers := map[Synchronous]int{SynchronousOff: 0, SynchronousNormal: 1, SynchronousFull: 2, SynchronousExtra: 3}
	var got int
	if err := r.conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&got); err != nil {
		return fmt.Errorf("sqlite: read synchronous: %w", err)
	}
	if got != numbers[level] {
		return fmt.Errorf("%w: synchronous is %d, not %v (%d)", ErrSetting, got, level, numbers[level])
	}
	return nil
}
