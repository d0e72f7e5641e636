package designs

import (
	"context"
	"errors"

	"github.com/chargeonce/chargeonce/impl"
)

// blindRefundRetry is journal-and-compensate on a client library that repeats
// what was not answered.
func blindRefundRetry() impl.Design {
	return impl.Design{
		Name:    "blind-refund-retry",
		Summary: "no provider keys: send again at once; a refund without an answer is asked for again",
		Doc: `It believes that what was not answered was not done, or that the provider will notice. This one
gives back whatever it is asked to: the refund whose answer was lost is made twice, and so is one
that was only late. A refund is a payment too: before it is repeated, all earlier ones must be
dead, and a look-up must show that none was made.`,
		Source:      "akira-io/laravel-sisp#306 (a refund that is retried counts twice)",
		Expect:      "BoundedRefunds",
		Profiles:    []string{keylessRepeatsRefunds},
		Scenarios:   []string{onePayment, retryOtherReplica},
		Compensates: true,

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return newCompensator(cfg, ports) },
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			ports.Provider = &insistent{ports.Provider}
			return newCompensator(cfg, ports)
		},
	}
}

// insistent asks for each refund once more if it had no answer. Where equal
// keys give back once, there is nothing wrong with it.
type insistent struct{ impl.Provider }

func (p *insistent) Refund(ctx context.Context, step impl.Step, req impl.RefundRequest) error {
	err := p.Provider.Refund(ctx, step, req)
	if answer := (*impl.ProviderError)(nil); err == nil || errors.As(err, &answer) {
		return err
	}
	return p.Provider.Refund(ctx, step, req) // the defect of blind-refund-retry
}
