package sqlite

import (
	"context"
	"testing"
)

// Query returns the first column of the answer to a query on the registry's
// own connection, where the settings of the connection are.
func (r *Registry) Query(t *testing.T, query string, args ...any) []string {
	t.Helper()
	rows, err := r.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values := make([]any, len(columns))
		var last string
		for i := range values {
			values[i] = new(any)
		}
		values[len(values)-1] = &last
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		all = append(all, last)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// CallContext is the context that the calls of the driver get.
func (r *Registry) CallContext(ctx context.Context) (context.Context, error) {
	ctx, err := r.begin(ctx)
	if err == nil {
		r.end()
	}
	return ctx, err
}

// Hold takes the connection as a call does that is under way, until the
// returned function is called.
func (r *Registry) Hold() (release func()) {
	r.turn <- struct{}{}
	return r.end
}

const (
	SchemaVersion    = 1
	SelectUnfinished = selectUnfinished
	SelectExpired    = selectExpired
)

var (
	EncodeHeader = encodeHeader
	DecodeHeader = decodeHeader
)
