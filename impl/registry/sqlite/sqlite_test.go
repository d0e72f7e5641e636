package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/registrytest"
	"github.com/chargeonce/chargeonce/impl/registry/sqlite"
)

// patient is long enough that no test waits it out.
const patient = time.Hour

func open(tb testing.TB, o sqlite.Options) *sqlite.Registry {
	tb.Helper()
	r, err := sqlite.Open(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// raw opens a database as another program would.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func TestContract(t *testing.T) {
	for name, o := range map[string]sqlite.Options{
		"in memory":        {InMemory: true},
		"write-ahead log":  {},
		"rollback journal": {Journal: sqlite.JournalRollback},
		"exclusive":        {Locking: sqlite.LockingExclusive},
	} {
		t.Run(name, func(t *testing.T) {
			registrytest.Run(t, func(t *testing.T) impl.Registry {
				o := o
				if !o.InMemory {
					o.Synchronous = sqlite.SynchronousOff // the contract does not pull the plug
					o.Path = filepath.Join(t.TempDir(), "registry.db")
				}
				return open(t, o)
			})
		})
	}
}

// Two connections to one file are two replicas of the service.
func TestTwoConnectionsRace(t *testing.T) {
	for name, o := range map[string]sqlite.Options{
		"waiting":                       {BusyTimeout: patient},
		"not waiting":                   {},
		"waiting, rollback journal":     {BusyTimeout: patient, Journal: sqlite.JournalRollback},
		"not waiting, rollback journal": {Journal: sqlite.JournalRollback},
	} {
		t.Run(name, func(t *testing.T) {
			o.Path = filepath.Join(t.TempDir(), "registry.db")
			registrytest.RaceClaims(t, open(t, o), open(t, o))
		})
	}
}

const (
	childPath = "SQLITE_TEST_CHILD_PATH"
	orders    = 200
)

// claimAll claims every order and returns those that it got.
func claimAll(t *testing.T, path, owner string) []string {
	r := open(t, sqlite.Options{Path: path, BusyTimeout: patient})
	var won []string
	for i := range orders {
		rec := claim(i)
		rec.Owner = owner
		stored, inserted, err := r.Insert(context.Background(), impl.StepClaim, rec)
		if err != nil || inserted != (stored.Owner == owner) {
			t.Fatalf("Insert returned inserted %v, owner %s, error %v", inserted, stored.Owner, err)
		}
		if inserted {
			won = append(won, rec.Key)
		}
	}
	return won
}

func TestTwoProcessesRace(t *testing.T) {
	if path := os.Getenv(childPath); path != "" {
		for _, key := range claimAll(t, path, "child") {
			fmt.Println("won", key)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "registry.db")
	open(t, sqlite.Options{Path: path})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestTwoProcessesRace$")
	cmd.Env = append(os.Environ(), childPath+"="+path)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	won := claimAll(t, path, "parent")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the other process: %v\n%s", err, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if key, ok := strings.CutPrefix(strings.TrimSpace(line), "won "); ok {
			won = append(won, key)
		}
	}
	slices.Sort(won)
	if n := len(won); n != orders || len(slices.Compact(won)) != orders {
		t.Errorf("%d orders were claimed %d times", orders, n)
	}
}

func TestAcknowledgedWritesSurvive(t *testing.T) {
	for name, o := range map[string]sqlite.Options{"write-ahead log": {}, "rollback journal": {Journal: sqlite.JournalRollback}} {
		t.Run(name, func(t *testing.T) {
			ctx, dir := context.Background(), t.TempDir()
			o.Path = filepath.Join(dir, "registry.db")
			r := open(t, o)
			rec, _, err := r.Insert(ctx, impl.StepClaim, claim(1))
			if err != nil {
				t.Fatal(err)
			}
			rec.State = impl.StateReview
			if err := r.Update(ctx, impl.StepReview, rec.Fence(), rec); err != nil {
				t.Fatal(err)
			}
			// The files as a process that dies now leaves them.
			o.Path = filepath.Join(t.TempDir(), "registry.db")
			if err := os.CopyFS(filepath.Dir(o.Path), os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			got, ok, err := open(t, o).Get(ctx, impl.StepReadBack, rec.ID)
			if err != nil || !ok || got.Version != 2 || got.State != impl.StateReview {
				t.Errorf("after the restart, Get returned %+v, %v, %v", got, ok, err)
			}
		})
	}
}

func TestSettingsAreInForce(t *testing.T) {
	for _, c := range []struct {
		name                                     string
		o                                        sqlite.Options
		journal, synchronous, locking, busyMilli string
	}{
		{"by default", sqlite.Options{}, "wal", "2", "normal", "0"},
		{"all else", sqlite.Options{Journal: sqlite.JournalRollback, Synchronous: sqlite.SynchronousExtra, Locking: sqlite.LockingExclusive, BusyTimeout: 1500 * time.Microsecond}, "delete", "3", "exclusive", "2"},
		{"normal", sqlite.Options{Synchronous: sqlite.SynchronousNormal, BusyTimeout: time.Second}, "wal", "1", "normal", "1000"},
		{"off", sqlite.Options{Synchronous: sqlite.SynchronousOff}, "wal", "0", "normal", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Path = filepath.Join(t.TempDir(), "registry.db")
			r := open(t, c.o)
			for pragma, want := range map[string]string{"journal_mode": c.journal, "synchronous": c.synchronous, "locking_mode": c.locking, "busy_timeout": c.busyMilli} {
				if got := r.Query(t, "PRAGMA "+pragma); !slices.Equal(got, []string{want}) {
					t.Errorf("%s is %v, want %s", pragma, got, want)
				}
			}
		})
	}
}

// A file system without shared memory has no WAL, and SQLite goes on with
// another journal without a word.
func TestJournalThatIsNotTakenIsRefused(t *testing.T) {
	_, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(t.TempDir(), "registry.db"), VFS: "unix-dotfile"})
	if err != nil && strings.Contains(err.Error(), "no such vfs") {
		t.Skip("no such VFS on this system")
	}
	if !errors.Is(err, sqlite.ErrSetting) {
		t.Errorf("Open returned %v, want ErrSetting", err)
	}
}

// SQLite does not wait for the lock that a change of the journal mode takes;
// Open does, and here waits in vain.
func TestChangeOfJournalWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.db")
	if err := open(t, sqlite.Options{Path: path, Journal: sqlite.JournalRollback}).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, raw(t, path), "BEGIN IMMEDIATE")
	for wait, want := range map[time.Duration]string{0: "sqlite: set journal_mode", time.Millisecond: "sqlite: wait to set journal_mode"} {
		_, err := sqlite.Open(context.Background(), sqlite.Options{Path: path, BusyTimeout: wait})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("with BusyTimeout %v, Open returned %v, want %q", wait, err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name     string
		o        sqlite.Options
		problems int
	}{
		{"a file", sqlite.Options{Path: "registry.db"}, 0},
		{"memory", sqlite.Options{InMemory: true}, 0},
		{"neither", sqlite.Options{}, 1},
		{"both", sqlite.Options{Path: "registry.db", InMemory: true}, 1},
		{"memory by name", sqlite.Options{Path: ":memory:"}, 1},
		{"memory by URI", sqlite.Options{Path: "file::memory:?cache=shared"}, 1},
		{"a URI", sqlite.Options{Path: "file:registry.db?mode=memory"}, 1},
		{"a null byte", sqlite.Options{Path: "a\x00b"}, 1},
		{"unknown values", sqlite.Options{Path: "a", Journal: 9, Synchronous: 9, Locking: 9, BusyTimeout: -1}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.o.Validate()
			problems := 0
			if err != nil {
				problems = len(strings.Split(err.Error(), "\n"))
			}
			if problems != c.problems {
				t.Errorf("Validate returned %d problems, want %d: %v", problems, c.problems, err)
			}
			if c.problems == 0 {
				return
			}
			if _, opened := sqlite.Open(context.Background(), c.o); opened == nil || opened.Error() != err.Error() {
				t.Errorf("Open returned %v, want %v", opened, err)
			}
		})
	}
}

func TestPathIsTakenLiterally(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=memory", "a#b", "a%20b", "ü&x=1;", "'quoted'"} {
		path := filepath.Join(t.TempDir(), name)
		open(t, sqlite.Options{Path: path})
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSchema(t *testing.T) {
	t.Run("is marked and versioned", func(t *testing.T) {
		r := open(t, sqlite.Options{InMemory: true})
		if got := r.Query(t, "PRAGMA user_version"); !slices.Equal(got, []string{fmt.Sprint(sqlite.SchemaVersion)}) {
			t.Errorf("user_version is %v, want %d", got, sqlite.SchemaVersion)
		}
		if got := r.Query(t, "SELECT strict FROM pragma_table_list WHERE name = 'record'"); !slices.Equal(got, []string{"1"}) {
			t.Errorf("the table's strictness is %v, want 1", got)
		}
	})
	t.Run("newer is refused and left alone", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "registry.db")
		if err := open(t, sqlite.Options{Path: path, Journal: sqlite.JournalRollback}).Close(); err != nil {
			t.Fatal(err)
		}
		db := raw(t, path)
		execute(t, db, fmt.Sprintf("PRAGMA user_version = %d", sqlite.SchemaVersion+1))
		if _, err := sqlite.Open(context.Background(), sqlite.Options{Path: path}); !errors.Is(err, sqlite.ErrNewerSchema) {
			t.Errorf("Open returned %v, want ErrNewerSchema", err)
		}
		var mode string
		if err := db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
			t.Errorf("the journal mode is now %s, %v", mode, err)
		}
	})
	t.Run("another program's is refused", func(t *testing.T) {
		for _, made := range []string{"CREATE TABLE record (a)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"} {
			path := filepath.Join(t.TempDir(), "registry.db")
			execute(t, raw(t, path), made)
			if _, err := sqlite.Open(context.Background(), sqlite.Options{Path: path}); !errors.Is(err, sqlite.ErrForeign) {
				t.Errorf("after %s, Open returned %v, want ErrForeign", made, err)
			}
		}
	})
	t.Run("a file that is no database is refused", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "registry.db")
		text := strings.Repeat("no database ", 1000)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Open(context.Background(), sqlite.Options{Path: path}); err == nil {
			t.Error("Open returned no error")
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file has changed, %v", err)
		}
	})
	t.Run("is made once by many", func(t *testing.T) {
		for range 20 {
			path := filepath.Join(t.TempDir(), "registry.db")
			var wg sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs {
				wg.Go(func() {
					r, err := sqlite.Open(context.Background(), sqlite.Options{Path: path, BusyTimeout: patient})
					if err == nil {
						err = r.Close()
					}
					errs[i] = err
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The sweeps run for as long as the service does: they must not read, or
// sort, what is not due.
func TestSweepsUseTheirIndexes(t *testing.T) {
	r := open(t, sqlite.Options{InMemory: true})
	for _, tt := range []struct {
		query string
		args  []any
		want  string
	}{
		{sqlite.SelectUnfinished, []any{5, 3, "s", "k", 10}, "SEARCH record USING INDEX record_unfinished ((lease_until,scope,key)>(?,?,?) AND lease_until<?)"},
		{sqlite.SelectExpired, []any{5, 10}, "SEARCH record USING INDEX record_expired (expires_at<?)"},
	} {
		// One line: no other step, such as sorting, follows.
		if plan := r.Query(t, "EXPLAIN QUERY PLAN "+tt.query, tt.args...); !slices.Equal(plan, []string{tt.want}) {
			t.Errorf("the plan is %q, want %q", plan, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()

	// writes are all the calls that write, on a registry that holds claim(1).
	writes := map[string]func(ctx context.Context, r *sqlite.Registry) error{
		"Insert": func(ctx context.Context, r *sqlite.Registry) error {
			_, _, err := r.Insert(ctx, impl.StepClaim, claim(2))
			return err
		},
		"Update": func(ctx context.Context, r *sqlite.Registry) error {
			return r.Update(ctx, impl.StepComplete, impl.Fence{Version: 1, Owner: claim(1).Owner}, claim(1))
		},
		"Delete": func(ctx context.Context, r *sqlite.Registry) error {
			return r.Delete(ctx, impl.StepCollect, claim(1).ID, impl.Fence{Version: 1, Owner: claim(1).Owner})
		},
		"Reset": func(ctx context.Context, r *sqlite.Registry) error { return r.Reset(ctx) },
	}
	reads := map[string]func(ctx context.Context, r *sqlite.Registry) error{
		"Get": func(ctx context.Context, r *sqlite.Registry) error {
			_, _, err := r.Get(ctx, impl.StepReadBack, claim(1).ID)
			return err
		},
		"Unfinished": func(ctx context.Context, r *sqlite.Registry) error {
			_, err := r.Unfinished(ctx, impl.StepSweep, time.Unix(0, 0), impl.Cursor{}, 1)
			return err
		},
		"Expired": func(ctx context.Context, r *sqlite.Registry) error {
			_, err := r.Expired(ctx, impl.StepCollect, time.Unix(0, 0), 1)
			return err
		},
	}
	holding := func(t *testing.T, o sqlite.Options) *sqlite.Registry {
		t.Helper()
		r := open(t, o)
		if _, _, err := r.Insert(ctx, impl.StepClaim, claim(1)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := func(t *testing.T, what string, got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("%s returned %v, want %v", what, got, want)
		}
		for _, other := range []error{impl.ErrNotApplied, impl.ErrUnknown, impl.ErrConflict} {
			if other != want && errors.Is(got, other) {
				t.Errorf("%s returned %v, which is %v too", what, got, other)
			}
		}
	}
	unchanged := func(t *testing.T, r *sqlite.Registry) {
		t.Helper()
		if rec, ok, err := r.Get(ctx, impl.StepReadBack, claim(1).ID); err != nil || !ok || rec.Version != 1 {
			t.Errorf("afterwards, Get returned %+v, %v, %v; want version 1", rec, ok, err)
		}
		if _, ok, err := r.Get(ctx, impl.StepReadBack, claim(2).ID); ok || err != nil {
			t.Errorf("afterwards, Get returned %v, %v; want no record", ok, err)
		}
	}

	t.Run("busy is not applied", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "registry.db")
		r := holding(t, sqlite.Options{Path: path})
		other := raw(t, path)
		execute(t, other, "BEGIN IMMEDIATE")
		for name, write := range writes {
			want(t, name, write(ctx, r), impl.ErrNotApplied)
		}
		for name, read := range reads {
			if err := read(ctx, r); err != nil {
				t.Errorf("%s returned %v, want it not to wait for a writer", name, err)
			}
		}
		unchanged(t, r)
		execute(t, other, "ROLLBACK")
		for _, name := range []string{"Insert", "Update", "Delete", "Reset"} {
			if name != "Delete" { // the version has moved by then
				if err := writes[name](ctx, r); err != nil {
					t.Errorf("%s returned %v once the lock was gone", name, err)
				}
			}
		}
	})
	t.Run("busy reads with a rollback journal are not applied", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "registry.db")
		r := holding(t, sqlite.Options{Path: path, Journal: sqlite.JournalRollback})
		execute(t, raw(t, path), "BEGIN EXCLUSIVE")
		for name, call := range reads {
			want(t, name, call(ctx, r), impl.ErrNotApplied)
		}
		for name, call := range writes {
			want(t, name, call(ctx, r), impl.ErrNotApplied)
		}
	})
	t.Run("a commit that waits for a reader is not applied", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "registry.db")
		r := holding(t, sqlite.Options{Path: path, Journal: sqlite.JournalRollback})
		reader := raw(t, path)
		execute(t, reader, "BEGIN")
		var n int
		if err := reader.QueryRow("SELECT count(*) FROM record").Scan(&n); err != nil {
			t.Fatal(err)
		}
		for name, write := range writes {
			want(t, name, write(ctx, r), impl.ErrNotApplied)
		}
		unchanged(t, r)
	})
	t.Run("read-only is not applied", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		r.Query(t, "PRAGMA query_only = 1")
		for name, write := range writes {
			want(t, name, write(ctx, r), impl.ErrNotApplied)
		}
		unchanged(t, r)
	})
	t.Run("refused by the schema is not applied", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		// An extended code, SQLITE_CONSTRAINT_TRIGGER, as all constraints have.
		for _, verb := range []string{"INSERT", "UPDATE", "DELETE"} {
			r.Query(t, "CREATE TRIGGER no_"+verb+" BEFORE "+verb+" ON record BEGIN SELECT raise(ABORT, 'no'); END")
		}
		for name, write := range writes {
			want(t, name, write(ctx, r), impl.ErrNotApplied)
		}
		unchanged(t, r)
	})
	t.Run("a full disk is unknown", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		r.Query(t, "PRAGMA max_page_count = 1") // not below what there is
		rec := claim(2)
		rec.Request = make([]byte, 1<<20)
		_, _, err := r.Insert(ctx, impl.StepClaim, rec)
		want(t, "Insert", err, impl.ErrUnknown)
		unchanged(t, r)
	})
	t.Run("a damaged record is not read as another", func(t *testing.T) {
		for _, damage := range []string{"state = 'paid'", "outcome = 'maybe'", "header = x'05'", "header = x'0161'"} {
			r := holding(t, sqlite.Options{InMemory: true})
			r.Query(t, "UPDATE record SET "+damage)
			_, _, err := r.Get(ctx, impl.StepReadBack, claim(1).ID)
			want(t, "Get after "+damage, err, impl.ErrNotApplied)
		}
	})
	t.Run("a context that is over is not applied", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		over, cancel := context.WithCancel(ctx)
		cancel()
		for _, calls := range []map[string]func(context.Context, *sqlite.Registry) error{writes, reads} {
			for name, call := range calls {
				err := call(over, r)
				want(t, name, err, impl.ErrNotApplied)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s returned %v, want the context's error in it", name, err)
				}
			}
		}
		unchanged(t, r)
	})
	t.Run("a context bounds the wait for the connection", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		release := r.Hold()
		for name, write := range writes {
			want(t, name, write(&endsWhileWaiting{Context: ctx}, r), impl.ErrNotApplied)
		}
		release()
		unchanged(t, r)
	})
	t.Run("a closed registry applies nothing", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
		for _, calls := range []map[string]func(context.Context, *sqlite.Registry) error{writes, reads} {
			for name, call := range calls {
				want(t, name, call(ctx, r), impl.ErrNotApplied)
			}
		}
	})
	t.Run("what the schema cannot hold is not applied", func(t *testing.T) {
		for name, change := range map[string]func(rec *impl.Record){
			"a state without a name":    func(rec *impl.Record) { rec.State = 99 },
			"an outcome without a name": func(rec *impl.Record) { rec.Reply.Outcome = 99 },
			"a time too early":          func(rec *impl.Record) { rec.WindowFrom = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC) },
			"a time too late":           func(rec *impl.Record) { rec.ExpiresAt = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) },
		} {
			t.Run(name, func(t *testing.T) {
				r := holding(t, sqlite.Options{InMemory: true})
				for i, id := range []impl.ID{claim(1).ID, claim(2).ID} {
					rec := claim(i)
					rec.ID = id
					change(&rec)
					_, _, err := r.Insert(ctx, impl.StepClaim, rec)
					want(t, "Insert", err, impl.ErrNotApplied)
					want(t, "Update", r.Update(ctx, impl.StepComplete, impl.Fence{Version: 1, Owner: rec.Owner}, rec), impl.ErrNotApplied)
				}
				unchanged(t, r)
			})
		}
	})
	t.Run("a version that no record has is a conflict", func(t *testing.T) {
		r := holding(t, sqlite.Options{InMemory: true})
		for _, version := range []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
			was := impl.Fence{Version: version, Owner: claim(1).Owner}
			want(t, "Update", r.Update(ctx, impl.StepComplete, was, claim(1)), impl.ErrConflict)
			want(t, "Delete", r.Delete(ctx, impl.StepCollect, claim(1).ID, was), impl.ErrConflict)
		}
	})
}

// endsWhileWaiting is a context that ends between the first look at its
// error and the wait for its end.
type endsWhileWaiting struct {
	context.Context
	looked bool
}

func (c *endsWhileWaiting) Err() error {
	if !c.looked {
		c.looked = true
		return nil
	}
	return context.Canceled
}

func (*endsWhileWaiting) Done() <-chan struct{} {
	over := make(chan struct{})
	close(over)
	return over
}

// A sweep may ask about any instant, also one that no record can have.
func TestSweepsBeyondTheRange(t *testing.T) {
	r, ctx := open(t, sqlite.Options{InMemory: true}), context.Background()
	late, never := claim(1), claim(2)
	late.LeaseUntil, never.LeaseUntil = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}
	for _, rec := range []impl.Record{late, never} {
		if _, _, err := r.Insert(ctx, impl.StepClaim, rec); err != nil {
			t.Fatal(err)
		}
	}
	for year, want := range map[int]int{-5000: 0, 1000: 1, 1600: 1, 1700: 1, 2200: 2, 2300: 2, 9999: 2} {
		// The zero time is the first instant of year 1.
		got, err := r.Unfinished(ctx, impl.StepSweep, time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC), impl.Cursor{}, 10)
		if err != nil || len(got) != want {
			t.Errorf("in the year %d, Unfinished returned %d records, %v; want %d", year, len(got), err, want)
		}
	}
	for year, want := range map[int]int{-5000: 2, 1000: 1, 1600: 1, 1700: 1, 2200: 0, 2300: 0, 9999: 0} {
		after := impl.Cursor{LeaseUntil: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)}
		got, err := r.Unfinished(ctx, impl.StepSweep, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), after, 10)
		if err != nil || len(got) != want {
			t.Errorf("after the year %d, Unfinished returned %d records, %v; want %d", year, len(got), err, want)
		}
	}
}

// Text is bytes to Go, and no byte is special to this registry.
func TestTextKeepsItsBytes(t *testing.T) {
	r, ctx := open(t, sqlite.Options{InMemory: true}), context.Background()
	for _, text := range []string{"a\x00b", "a\x00", "\xff\xfe", "\xed\xa0\x80", strings.Repeat("x", 100_000)} {
		rec := claim(1)
		rec.Scope, rec.Key, rec.Owner, rec.Fingerprint = text, text, text, text
		if _, inserted, err := r.Insert(ctx, impl.StepClaim, rec); !inserted || err != nil {
			t.Fatalf("Insert(%.20q) returned %v, %v", text, inserted, err)
		}
		got, ok, err := r.Get(ctx, impl.StepReadBack, rec.ID)
		if err != nil || !ok || got.ID != rec.ID || got.Owner != text || got.Fingerprint != text {
			t.Errorf("Get(%.20q) returned %.20q, %.20q, %.20q, %v, %v", text, got.Key, got.Owner, got.Fingerprint, ok, err)
		}
		if err := r.Update(ctx, impl.StepComplete, impl.Fence{Version: 1, Owner: text}, rec); err != nil {
			t.Errorf("Update(%.20q) returned %v", text, err)
		}
	}
}

// database/sql and the driver start a goroutine for a context that can end.
func TestCallsStartNoGoroutine(t *testing.T) {
	r := open(t, sqlite.Options{InMemory: true})
	type label struct{}
	ending, cancel := context.WithCancel(context.WithValue(context.Background(), label{}, "kept"))
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), ending} {
		got, err := r.CallContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got.Done() != nil || got.Value(label{}) != ctx.Value(label{}) {
			t.Errorf("from %v, calls get %v", ctx, got)
		}
	}
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01a\x01b"))
	f.Add([]byte("\x0cContent-Type\x10application/json\x00\x00"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"))
	f.Add([]byte("\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		fields, err := sqlite.DecodeHeader(b)
		if err != nil {
			return
		}
		again, err := sqlite.DecodeHeader(sqlite.EncodeHeader(fields))
		if err != nil || !slices.Equal(again, fields) {
			t.Fatalf("%q decodes to %q, which comes back as %q, %v", b, fields, again, err)
		}
	})
}

// modernc.org/sqlite is validated against the one libc that its own go.mod
// names, and asks its users to require exactly that. Whatever raises another
// dependency may raise libc silently.
func TestLibcIsPinned(t *testing.T) {
	const want = "v1.80.1"
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			if got := mentions(string(text), "modernc.org/libc"); !slices.Equal(got, []string{want}) {
				t.Errorf("%s names modernc.org/libc with %v, want %s once", filepath.Join(dir, "go.mod"), got, want)
			}
			return
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above this package")
		}
		dir = parent
	}
}

// mentions returns what follows a module's path wherever go.mod has it, in a
// require, a replace or an exclude.
func mentions(text, module string) []string {
	var found []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if i := slices.Index(words, module); i >= 0 && i+1 < len(words) {
			found = append(found, words[i+1])
		}
	}
	return found
}
