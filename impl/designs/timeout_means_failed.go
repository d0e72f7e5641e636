package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// timeoutMeansFailed is the reference service behind an adapter for the
// provider that knows two outcomes only.
func timeoutMeansFailed() impl.Design {
	return impl.Design{
		Name:    "timeout-means-failed",
		Summary: "a charge without an answer is saved and told as declined",
		Doc: `It believes that a call which returned an error did nothing. The adapter has a result
for approved and one for everything else, so a time-out, a 409 and a 500 become a
decline, which the service saves and tells for ever. The charge may have been made, or
may be made yet: the customer is told "declined" and pays. One lost answer breaks it.`,
		Source:    "LabsCrypt/remitlend#1329",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica, mixed},

		Client:     oneKey,
		Handler:    optimist,
		Reconciler: serviceReconciler,
	}
}

func optimist(cfg impl.Config, ports impl.Ports) impl.Handler {
	ports.Provider = &twoOutcomes{ports.Provider}
	return service(cfg, ports)
}

// twoOutcomes turns every error of a charge into a decline.
type twoOutcomes struct{ impl.Provider }

func (p *twoOutcomes) Charge(ctx context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	result, err := p.Provider.Charge(ctx, step, req)
	if err != nil {
		// The defect: nobody knows that yet.
		return impl.ChargeResult{Code: "timeout"}, nil
	}
	return result, nil
}
