package designs

import (
	"context"
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// busyIsFinal has the reference service behind a client that takes every
// answer for the last.
func busyIsFinal() impl.Design {
	return impl.Design{
		Name:    "busy-is-final",
		Summary: "the client retries what is not answered, and gives up on \"in progress\"",
		Doc: `It believes that a 4xx is an error of its own. "In progress" is a 409, and asks to come back:
the outcome is not known yet, to anybody. This client retries after a time-out, as it should,
hears that its first attempt is still being worked on, and reports that the payment failed.
It is made in the meantime, or was already.`,
		Source:    "draft-ietf-httpapi-idempotency-key-header-07 (409 while in flight), getAlby/hub#1727",
		Expect:    "Resolves",
		Profiles:  []string{keyed},
		Scenarios: []string{retryOtherReplica, onePayment},

		Client: func(cfg impl.Config, ports impl.ClientPorts) impl.Client {
			return &hasty{cfg, ports}
		},
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}

// hasty gives up on the first answer, whatever it is.
type hasty struct {
	cfg   impl.Config
	ports impl.ClientPorts
}

func (c *hasty) Pay(ctx context.Context, p impl.Payment) (impl.Reply, error) {
	key := p.Key
	if key == "" {
		key = c.ports.IDs.Key()
		c.ports.Journal(key)
	}
	since := p.Since
	if since.IsZero() {
		since = c.ports.Clock.Now()
	}
	for {
		reply, err := c.ports.Transport.Send(ctx, impl.Request{Scope: p.Scope, Endpoint: p.Endpoint, Key: key, Body: p.Body})
		// The defect: ErrInProgress and ErrUnavailable are answers, and not final.
		if !errors.Is(err, impl.ErrUnknown) || c.ports.Clock.Now().Add(c.cfg.Lease).Sub(since) > c.cfg.RetryHorizon {
			return reply, err
		}
		if c.ports.Clock.Sleep(ctx, c.cfg.Lease) != nil {
			return reply, err
		}
	}
}
