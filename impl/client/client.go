// Package client is the paying side of the protocol: one key per operation,
// made before the first attempt and journaled, the same on every attempt, and
// none after the horizon.
//
// It does not speak HTTP; that is the transport's. The rule it keeps: it
// gives up only when an answer is final or the horizon is over, and it never
// changes the key.
package client

import (
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Retry is how a client repeats an attempt.
type Retry struct {
	// Horizon: no attempt starts later than this after the first, by the
	// client's own clock. It is the service's RetryHorizon, or where that
	// clock may be set meanwhile, MaxClockSkew less.
	Horizon time.Duration
	First   time.Duration // pause before the second attempt
	Most    time.Duration // the pause doubles up to this
}

// Client pays with one key per operation.
type Client struct {
	ports impl.ClientPorts
	retry Retry
}

// New returns a client.
func New(ports impl.ClientPorts, retry Retry) *Client { return &Client{ports, retry} }

// ErrHorizon is returned by Pay when the horizon was over before the first
// attempt of this call: nothing was sent.
var ErrHorizon = errors.New("client: the retry horizon is over")

// Pay sends attempts until an answer is final or the horizon is over, and
// returns the last answer. The clock is read right before every attempt, so
// that neither a restart nor a sleep that took longer sends one too late. A
// caller that restarts gives back the key that was journaled and the instant
// of the first attempt, which it has to keep together.
func (c *Client) Pay(ctx context.Context, p impl.Payment) (reply impl.Reply, err error) {
	key := p.Key
	if key == "" {
		key = c.ports.IDs.Key()
		c.ports.Journal(key)
	}
	since := p.Since
	if since.IsZero() {
		since = c.ports.Clock.Now()
	}
	err = ErrHorizon
	for pause := c.retry.First; c.ports.Clock.Now().Sub(since) <= c.retry.Horizon; pause = min(2*pause, c.retry.Most) {
		reply, err = c.ports.Transport.Send(ctx, impl.Request{Scope: p.Scope, Endpoint: p.Endpoint, Key: key, Body: p.Body})
		if Final(err) || c.ports.Clock.Now().Add(pause).Sub(since) > c.retry.Horizon {
			break
		}
		if c.ports.Clock.Sleep(ctx, pause) != nil {
			break
		}
	}
	return reply, err
}

// Final reports whether an answer ends the operation for the client: a reply,
// or an error that no later attempt would change.
func Final(err error) bool {
	return err == nil || errors.Is(err, impl.ErrMismatch) || errors.Is(err, impl.ErrGone) || errors.Is(err, impl.ErrRefused)
}
