package sqlite

import (
	"context"
	"fmt"
)

// applicationID marks a database as this package's: "chg1".
const applicationID = 0x63686731

// isUnfinished and isTerminal stand in the partial indexes and, word for word
// as SQLite requires, in the queries that use them.
const (
	isUnfinished = `state IN ('claimed', 'sent', 'review')`
	isTerminal   = `state IN ('succeeded', 'declined')`
)

// migrations lead from each schema version to the next, the first from an
// empty database. A migration that was released is never edited.
var migrations = []string{
	`CREATE TABLE record (
		scope           TEXT    NOT NULL,
		key             TEXT    NOT NULL,
		fingerprint     TEXT    NOT NULL,
		request         BLOB,             -- NULL and empty differ, here and below
		provider_key    TEXT    NOT NULL,
		window_from     INTEGER NOT NULL, -- Unix nanoseconds, the least integer for none, here and below
		state           TEXT    NOT NULL,
		version         INTEGER NOT NULL,
		owner           TEXT    NOT NULL,
		lease_until     INTEGER NOT NULL,
		outcome         TEXT    NOT NULL,
		status          INTEGER NOT NULL,
		header          BLOB,             -- names and values, each after its length as a varint
		body            BLOB,
		reply_charge_id TEXT    NOT NULL,
		charge_id       TEXT    NOT NULL,
		expires_at      INTEGER NOT NULL,
		tombstone       INTEGER NOT NULL,
		PRIMARY KEY (scope, key)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX record_unfinished ON record (lease_until, scope, key) WHERE ` + isUnfinished + `;
	CREATE INDEX record_expired ON record (expires_at, scope, key) WHERE ` + isTerminal,
}

// schemaVersion returns the version of the schema, 0 for an empty database.
// It returns ErrNewerSchema or ErrForeign for what it must not touch.
func (r *Registry) schemaVersion(ctx context.Context) (int, error) {
	// One query, so that all is of one instant: another program may be
	// migrating.
	const look = `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`
	var id, version, objects int
	if err := r.conn.QueryRowContext(ctx, look).Scan(&id, &version, &objects); err != nil {
		return 0, fmt.Errorf("sqlite: read the schema version: %w", err)
	}
	switch {
	case id == 0 && version == 0 && objects == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("%w (application id %#x, want %#x)", ErrForeign, id, applicationID)
	case version > len(migrations):
		return 0, fmt.Errorf("%w (version %d, want at most %d)", ErrNewerSchema, version, len(migrations))
	default:
		return version, nil
	}
}

// migrate brings the schema to the version of this package, in one
// transaction. Of several programs that open one empty file, one migrates it
// and the others find it done.
func (r *Registry) migrate(ctx context.Context) error {
	if version, err := r.schemaVersion(ctx); err != nil || version == len(migrations) {
		return err
	}
	if _, err := r.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	if err := r.migrateLocked(ctx); err != nil {
		_, _ = r.conn.ExecContext(ctx, "ROLLBACK") // the first error says it all
		return err
	}
	return nil
}

func (r *Registry) migrateLocked(ctx context.Context) error {
	version, err := r.schemaVersion(ctx)
	if err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		if _, err := r.conn.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("sqlite: migrate from version %d: %w", version, err)
		}
	}
	end := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", applicationID, len(migrations))
	if _, err := r.conn.ExecContext(ctx, end); err != nil {
		return fmt.Errorf("sqlite: migrate: %w", err)
	}
	return nil
}
