package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// localLock serialises the attempts of a key with a mutex in the memory of
// one process, and saves the reply once there is one.
func localLock() impl.Design {
	return impl.Design{
		Name:    "local-lock",
		Summary: "a mutex per key in the memory of one process, then look, charge, save",
		Doc: `It believes that one process sees all attempts. Within one process it is right to
wait for the lock and then to look again. A second replica has a lock of its own, and
a restart forgets the lock that was held: both look before the other has saved, and
both charge. The charge carries no provider key, so nothing behind it collapses them;
a charge whose answer was lost is made again too.`,
		Source:    "gofiber/fiber v3, the default lock of its idempotency middleware",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{twoReplicasOneKey, retryOtherReplica},

		Client:  oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler { return &localLocker{cfg, ports} },
	}
}

type localLocker struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *localLocker) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	r := begin(ctx, &h.cfg, &h.ports)

	// The defect: this excludes the handlers of this process and no others.
	h.ports.Locks.Lock(ctx, fresh.ProviderKey)
	defer h.ports.Locks.Unlock(fresh.ProviderKey)

	stored, ok, err := r.ReadBack(fresh.ID)
	switch {
	case err != nil:
		return impl.Reply{}, impl.ErrUnavailable
	case ok && stored.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case ok:
		return impl.Replay(stored)
	}
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: fresh.ProviderKey, Body: fresh.Request})
	if err != nil {
		return r.InProgress()
	}
	return r.insertFinished(fresh, result)
}
