package system

import (
	"context"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Clock is the machine's wall clock. It implements [impl.Clock]; the zero
// value is ready to use.
type Clock struct{}

var _ impl.Clock = Clock{}

// Now returns the wall time in UTC, without a monotonic reading. Two instants
// that both have one are compared by it, and on most systems it stands still
// while the machine is suspended: a handler that was put to sleep between its
// take-over and its send would wake up and find its lease still running. The
// other processes go by the wall clock, and so must this one.
func (Clock) Now() time.Time { return time.Now().Round(0).UTC() }

// Sleep returns nil after d, or earlier the context's error. It returns at
// once when d is 0 or less or the context is done already. Like every timer it
// may be late, by as long as the machine was suspended.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
