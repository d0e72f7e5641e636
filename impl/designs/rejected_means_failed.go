package designs

import (
	"context"
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// rejectedMeansFailed is the reference service behind an adapter that knows
// time-outs for what they are, and errors not.
func rejectedMeansFailed() impl.Design {
	return impl.Design{
		Name:    "rejected-means-failed",
		Summary: "an answer of the provider that is an error (5xx, 429) is saved and told as declined",
		Doc: `It believes that a provider which answers has decided. A 500 may come from anything that
stands in front of the ledger, before the charge or after it; Adyen documents a test fault
that is just this: it may have been acted on, and the error is the answer. The customer is
told "declined" and was charged. One failing answer breaks it.`,
		Source:    "alphagov/pay-connector#3989, model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Provider = &declining{ports.Provider, func(status int) bool { return status != statusBusy }}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// statusBusy is what a provider answers while a request of the same key is
// under way.
const statusBusy = 409

// declining takes errors of certain statuses for declines.
type declining struct {
	impl.Provider
	means func(status int) bool
}

func (p *declining) Charge(ctx context.Context, step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	result, err := p.Provider.Charge(ctx, step, req)
	var answer *impl.ProviderError
	if errors.As(err, &answer) && p.means(answer.Status) {
		// The defect: it says nothing of the money.
		return impl.ChargeResult{Code: "provider_error"}, nil
	}
	return result, err
}
