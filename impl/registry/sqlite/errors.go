package sqlite

import (
	"errors"
	"fmt"

	"github.com/chargeonce/chargeonce/impl"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// What Open refuses. Match with errors.Is.
var (
	// ErrNewerSchema is returned for a database that a later version of this
	// package has migrated.
	ErrNewerSchema = errors.New("sqlite: the database has a newer schema than this program knows; use the newer program")
	// ErrForeign is returned for a database that holds something else.
	ErrForeign = errors.New("sqlite: the database belongs to another program")
	// ErrSetting is returned when SQLite passed over a setting, as it does
	// where it cannot do what was asked.
	ErrSetting = errors.New("sqlite: the database does not take the setting")
)

// notApplied says that nothing was written, and why.
func notApplied(err error) error { return fmt.Errorf("sqlite: %w: %w", impl.ErrNotApplied, err) }

// writeError tells failures that come before anything is written from those
// that may come with the commit.
func writeError(err error) error {
	var e *driver.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff { // the primary code
		case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_READONLY, lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH:
			return notApplied(err)
		}
	}
	return fmt.Errorf("sqlite: %w: %w", impl.ErrUnknown, err)
}

func isBusy(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY
}
