package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// noRetry has the reference service behind a client that asks once. It is
// safe, and nobody knows how the order ended.
func noRetry() impl.Design {
	return impl.Design{
		Name:    "no-retry",
		Summary: "the client sends once and never asks again",
		Doc: `It believes that a time-out is a failure, and that the safe answer to a failed payment
is to leave it alone. No order is charged twice. But a lost answer leaves an order that
is charged and not known to be, for ever: the client gave up without a final answer.`,
		Source:    "getAlby/hub#1727 (marked failed, settles later)",
		Expect:    "Resolves",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: func(_ impl.Config, ports impl.ClientPorts) impl.Client {
			return &singleShot{ports}
		},
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}

// singleShot sends one attempt per order, ever.
type singleShot struct{ ports impl.ClientPorts }

func (c *singleShot) Pay(ctx context.Context, p impl.Payment) (impl.Reply, error) {
	key := p.Key
	switch {
	case key == "":
		key = c.ports.IDs.Key()
		c.ports.Journal(key)
	case !p.Since.IsZero():
		// An attempt was made before. The defect: asking again with the same
		// key would tell how it ended.
		return impl.Reply{}, impl.ErrUnknown
	}
	return c.ports.Transport.Send(ctx, impl.Request{Scope: p.Scope, Endpoint: p.Endpoint, Key: key, Body: p.Body})
}
