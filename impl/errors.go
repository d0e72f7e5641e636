package impl

import (
	"errors"
	"fmt"
	"time"
)

// Answers of the service that are not final replies. Match with errors.Is.
var (
	// ErrInProgress is returned when the outcome is not known yet: a live
	// owner works on it, or the provider's answer is unknown. Ask again with
	// the same key. The error is an [*InProgressError].
	ErrInProgress = errors.New("impl: the operation is in progress")
	// ErrMismatch is returned when the key was used before with other
	// parameters. It is final for this request.
	ErrMismatch = errors.New("impl: the idempotency key was used with other parameters")
	// ErrGone is returned when the operation finished so long ago that the
	// body of its reply was dropped.
	ErrGone = errors.New("impl: the operation finished and its reply is no longer kept")
	// ErrUnavailable is returned when the registry could not be asked:
	// nothing runs unregistered. Ask again with the same key.
	ErrUnavailable = errors.New("impl: the registry is unavailable")
	// ErrRefused is returned for a request that can never be accepted. The
	// error is a [*RefusedError].
	ErrRefused = errors.New("impl: the request is refused")
)

// InProgressError is ErrInProgress with a hint.
type InProgressError struct {
	RetryAfter time.Duration // a sensible wait before the next attempt, at least 0
}

func (e *InProgressError) Error() string {
	return fmt.Sprintf("%v, retry after %v", ErrInProgress, e.RetryAfter)
}

// Is makes errors.Is(err, ErrInProgress) hold.
func (e *InProgressError) Is(target error) bool { return target == ErrInProgress }

// RefusedError is ErrRefused with the part of the request that is wrong.
type RefusedError struct {
	Field string // "key", "body", "scope"
	Err   error  // what is wrong with it
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%v: %s: %v", ErrRefused, e.Field, e.Err) }

// Is makes errors.Is(err, ErrRefused) hold.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Unwrap returns what is wrong with the field.
func (e *RefusedError) Unwrap() error { return e.Err }

// Answers of ports. What is none of these is unknown: it may have happened,
// and may still.
var (
	// ErrConflict is returned by Registry.Update and Delete when the record
	// is absent or has another version or owner. Nothing was written.
	ErrConflict = errors.New("impl: the record has changed")
	// ErrNotApplied is returned by a registry that is sure that it did
	// nothing and will do nothing.
	ErrNotApplied = errors.New("impl: not applied")
	// ErrNotSent is returned by a provider port that is sure that the request
	// never left.
	ErrNotSent = errors.New("impl: not sent")
	// ErrUnknown is returned when no answer came in time or the connection
	// broke: the call may have happened and may still happen.
	ErrUnknown = errors.New("impl: outcome unknown")
	// ErrNoLookup is returned by Provider.Lookup when the provider has none.
	ErrNoLookup = errors.New("impl: the provider has no look-up")
)

// ProviderError is an answer of the provider that is neither approved nor
// declined: a conflict (409), a rate limit (429), a failure (5xx). It says
// nothing of the money.
type ProviderError struct {
	Status int // HTTP status
}

func (e *ProviderError) Error() string {
	return fmt.Sprintf("impl: the provider answered %d", e.Status)
}
