package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// unkeyedRefund is journal-and-compensate with keys for charges and none for
// refunds.
func unkeyedRefund() impl.Design {
	return impl.Design{
		Name:    "unkeyed-refund",
		Summary: "no keys for charges: send again at once; a refund without an answer is asked for again, without a key",
		Doc: `It believes that only charges need keys. The provider takes refunds under one key for one refund,
and those without a key for as many as there are. With the key that is derived from the charge it
would be right to ask again, answer or not; without it the customer gets the money twice. A message
that the network doubles does the same.`,
		Source:      "medusajs/medusa#16681 (the next attempt of a refund has another key)",
		Expect:      "BoundedRefunds",
		Profiles:    []string{keylessRefundKeys},
		Scenarios:   []string{onePayment, retryOtherReplica},
		Compensates: true,

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return newCompensator(cfg, ports) },
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			ports.Provider = &insistent{&anonymous{ports.Provider}}
			return newCompensator(cfg, ports)
		},
	}
}

// anonymous sends refunds without their keys. That is the defect.
type anonymous struct{ impl.Provider }

func (p *anonymous) Refund(ctx context.Context, step impl.Step, req impl.RefundRequest) error {
	req.Key = ""
	return p.Provider.Refund(ctx, step, req)
}
