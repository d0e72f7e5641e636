package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// compensateNoAudit is journal-and-compensate with the refunds where the
// reply is, and without the books.
func compensateNoAudit() impl.Design {
	return impl.Design{
		Name:    "compensate-no-audit",
		Summary: "no provider keys: send again at once; who completes gives back what it sees then",
		Doc: `It believes that what is to be given back is there to be seen. The run that completes looks
up once more and refunds all charges but its own. What lands after that nobody looks for,
and a run that dies between the save and the refund leaves no note that one was due. "One
net charge" never comes true. The right design stores the audit before it sends.`,
		Source:      "model checking of the protocol; teesofttech/PayBridge#115",
		Expect:      "SingleCharge",
		Profiles:    []string{keylessLookup},
		Scenarios:   []string{onePayment, retryOtherReplica},
		Compensates: true,

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &bookless{ports.Registry}
			return &tidier{newCompensator(cfg, ports)}
		},
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			return newCompensator(cfg, ports)
		},
	}
}

// bookless keeps no audits. That is the defect.
type bookless struct{ impl.Registry }

func (b *bookless) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	if isAudit(rec.ID) {
		return rec, true, nil
	}
	return b.Registry.Insert(ctx, step, rec)
}

// tidier gives the surplus back before it replies.
type tidier struct{ *compensator }

func (h *tidier) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	reply, err := h.compensator.Handle(ctx, req)
	if err != nil || reply.Replayed || reply.Outcome != impl.OutcomePaid {
		return reply, err
	}
	op, err := impl.Parse(req)
	if err != nil {
		return reply, nil
	}
	r := begin(ctx, &h.cfg, &h.ports)
	charges, _ := r.lookUp(&op)
	for _, charge := range charges {
		if charge.ID != reply.ChargeID && !charge.Refunded {
			_ = h.ports.Provider.Refund(ctx, impl.StepRefund, impl.RefundRequest{
				Key: idemkey.Derive(op.Scope, charge.ID, "refund", 1), ChargeID: charge.ID,
			})
		}
	}
	return reply, nil
}
