package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/client"
)

// retryWithoutKey has the reference service behind a client whose keys do not
// survive: the key is made where the request is made, below the retry loop.
func retryWithoutKey() impl.Design {
	return impl.Design{
		Name:    "retry-without-key",
		Summary: "the client makes a new key for each attempt",
		Doc: `It believes that a request which got no answer did nothing, or that the service can
tell two attempts of one order from two orders. It cannot: to the service each key is
an operation of its own. One lost answer breaks it, whatever the service does.`,
		Source:    "stripe/ai#402, circlefin/payments-sample-app#35",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{retryOtherReplica, onePayment},

		Client: func(cfg impl.Config, ports impl.ClientPorts) impl.Client {
			return &keylessClient{cfg, ports}
		},
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}

// keylessClient has no key that lasts longer than one attempt.
type keylessClient struct {
	cfg   impl.Config
	ports impl.ClientPorts
}

func (c *keylessClient) Pay(ctx context.Context, p impl.Payment) (impl.Reply, error) {
	since := p.Since
	if since.IsZero() {
		since = c.ports.Clock.Now()
	}
	pause := c.cfg.Lease / 4
	for {
		// The defect: this line belongs above the loop, and into the journal.
		key := c.ports.IDs.Key()
		reply, err := c.ports.Transport.Send(ctx, impl.Request{Scope: p.Scope, Endpoint: p.Endpoint, Key: key, Body: p.Body})
		if client.Final(err) || c.ports.Clock.Now().Add(pause).Sub(since) > c.cfg.RetryHorizon {
			return reply, err
		}
		if c.ports.Clock.Sleep(ctx, pause) != nil {
			return reply, err
		}
		pause = min(2*pause, c.cfg.Lease)
	}
}
