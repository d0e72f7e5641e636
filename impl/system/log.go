package system

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/chargeonce/chargeonce/impl"
)

// LogObserver writes one line for each observation. It implements
// [impl.Observer].
//
// A line has the message "payment step" and these attributes:
//
//	step       the step's name, as [impl.Step] writes it
//	scope      the operation's scope: tenant and endpoint
//	operation  a digest of scope and key, see [Digest]
//	error      absent when the call was answered as hoped; otherwise one of
//	           conflict, not-applied, not-sent, unknown, no-look-up,
//	           in-progress, mismatch, gone, unavailable, refused, canceled,
//	           deadline, provider-STATUS or, for any other error, other
//	type       with error=other: the error's type
//	detail     with an error and Describe: what Describe made of it
//
// Scope and operation are absent when the observation is of no operation.
// Lines are at debug level without an error, at info level for a lost race and
// for a provider without look-up, which are all in a day's work, and at
// warning level otherwise.
//
// No line holds an idempotency key, a provider key, a request or a reply. The
// text of an error is left out for the same reason: databases and HTTP clients
// quote what they were given.
//
// An observer must not block, and writing a line blocks as long as the
// logger's handler does: give it one that buffers where its output can stall.
// LogObserver is safe for concurrent use.
type LogObserver struct {
	Logger *slog.Logger // where lines go; must not be nil
	// Describe returns what may be logged of an error that the deployment's
	// own adapters return, without secrets; "" for nothing. It may be nil.
	Describe func(error) string
}

var _ impl.Observer = (*LogObserver)(nil)

// Observe writes one line.
func (l *LogObserver) Observe(o impl.Observation) {
	ctx, level := context.Background(), levelOf(o.Err)
	if !l.Logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 6)
	attrs = append(attrs, slog.String("step", o.Step.String()))
	if o.ID != (impl.ID{}) {
		attrs = append(attrs, slog.String("scope", o.ID.Scope), slog.String("operation", Digest(o.ID)))
	}
	if o.Err != nil {
		name, known := errorName(o.Err)
		attrs = append(attrs, slog.String("error", name))
		if !known {
			attrs = append(attrs, slog.String("type", fmt.Sprintf("%T", o.Err)))
		}
		if l.Describe != nil {
			if detail := l.Describe(o.Err); detail != "" {
				attrs = append(attrs, slog.String("detail", detail))
			}
		}
	}
	l.Logger.LogAttrs(ctx, level, "payment step", attrs...)
}

func levelOf(err error) slog.Level {
	switch {
	case err == nil:
		return slog.LevelDebug
	case errors.Is(err, impl.ErrConflict), errors.Is(err, impl.ErrNoLookup):
		return slog.LevelInfo
	default:
		return slog.LevelWarn
	}
}

// errorNames are looked at in order.
var errorNames = []struct {
	err  error
	name string
}{
	{impl.ErrConflict, "conflict"},
	{impl.ErrNotApplied, "not-applied"},
	{impl.ErrNotSent, "not-sent"},
	{impl.ErrUnknown, "unknown"},
	{impl.ErrNoLookup, "no-look-up"},
	{impl.ErrInProgress, "in-progress"},
	{impl.ErrMismatch, "mismatch"},
	{impl.ErrGone, "gone"},
	{impl.ErrUnavailable, "unavailable"},
	{impl.ErrRefused, "refused"},
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "deadline"},
}

// errorName returns an error's class, and whether it has one of its own.
func errorName(err error) (name string, known bool) {
	for _, e := range errorNames {
		if errors.Is(err, e.err) {
			return e.name, true
		}
	}
	if answer, ok := errors.AsType[*impl.ProviderError](err); ok {
		return "provider-" + strconv.Itoa(answer.Status), true
	}
	return "other", false
}

// Digest names an operation without its key: the first 50 bits of the SHA-256
// of its scope and key, as 10 characters out of A-Z and 2-7. It lets the lines
// of one operation be found, also by someone who has the key. It hides a key
// that nobody can guess; who can guess the key can check the guess.
func Digest(id impl.ID) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(len(id.Scope)))
	b = append(b, id.Scope...)
	b = append(b, id.Key...)
	sum := sha256.Sum256(b)
	return base32.StdEncoding.EncodeToString(sum[:])[:10]
}
