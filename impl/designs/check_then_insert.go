package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// checkThenInsert asks whether the key is known, charges if it is not, and
// inserts the finished record. Nothing is claimed in between.
func checkThenInsert() impl.Design {
	return impl.Design{
		Name:    "check-then-insert",
		Summary: "look whether the key is known; if not, charge, then insert the reply",
		Doc: `It believes that a key which is absent now stays absent until the insert. The unique
index lets only one record in, and the loser even tells the winner's reply, but both
have charged by then: the index guards the table and not the money. The charge carries
no provider key, so nothing behind it collapses the two; a charge whose answer or whose
insert was lost is made again too.`,
		Source:    "JiRaska/open-bank-oss#3340, LabsCrypt/remitlend#1624",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{twoReplicasOneKey, retryOtherReplica},

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return &checker{cfg, ports} },
	}
}

type checker struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *checker) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	r := begin(ctx, &h.cfg, &h.ports)
	stored, known, err := r.ReadBack(fresh.ID)
	switch {
	case err != nil:
		return impl.Reply{}, impl.ErrUnavailable
	case known && stored.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case known:
		return impl.Replay(stored)
	}

	// The defect: whoever else looked by now is here as well.
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: fresh.ProviderKey, Body: fresh.Request})
	if err != nil {
		return r.InProgress()
	}
	return r.insertFinished(fresh, result)
}
