package designs

import (
	"bytes"
	"context"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/fingerprint"
)

// scopeWithoutEndpoint is the reference with a key space for each tenant and a
// comparison of bodies.
func scopeWithoutEndpoint() impl.Design {
	d := decisions{known: sameBody}
	return impl.Design{
		Name:    "scope-without-endpoint",
		Summary: "a tenant's endpoints share one space of keys, and a request is known by its body alone",
		Doc: `It believes that a tenant uses a key once. One that numbers its orders uses the order's number
for the payment and for the tip that goes with it, and now and then both are of one amount. The
second is told of the first one's charge, and never made. The tenant is kept apart, the endpoint
is not: it must be in the scope, and in the fingerprint.`,
		Source:    "KeeperHub/keeperhub#1532 (five endpoints share one space of keys), LabsCrypt/remitlend#1680",
		Expect:    "ScopeIsolation",
		Profiles:  []string{keyed},
		Scenarios: []string{oneKeyEverywhere},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			return &tenants{d.handler(cfg, ports)}
		},
		Reconciler: d.reconciler,
	}
}

type tenants struct{ rest impl.Handler }

func (h *tenants) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	req.Scope = strings.TrimSuffix(req.Scope, " "+req.Endpoint) // the defect: which endpoint?
	return h.rest.Handle(ctx, req)
}

// sameBody is the other half of the defect: the fingerprint would tell. A
// tombstone has no body to compare with.
func sameBody(r *run, rec *impl.Record, print string) bool {
	if rec.Tombstone {
		return rec.Fingerprint == print
	}
	asked, err := fingerprint.Of("", r.body)
	return err == nil && bytes.Equal(asked.Canonical, rec.Request)
}
