package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// readsReplica is a service of one process, towards a provider without keys,
// that reads before it writes.
func readsReplica() impl.Design {
	return impl.Design{
		Name:    "reads-replica",
		Summary: "one process and a lock: reads whether the order was paid, from a replica, and what it finds in its way it overwrites",
		Doc: `It believes that what it has not read is not there. One process with a lock has nobody to race
with; a record that stands in the way of its claim after it read that there is none can only be
its own, of a life that ended before it could send. So it is, on the primary. The replica from
which it reads lags, and the order that was paid a moment ago is taken over and charged again. A
read may save work. What may be sent must be decided by the write, which says what it met.`,
		Source:    "lakekeeper/lakekeeper#1814 (the look-up goes to a replica; there the insert still tells), NousResearch/hermes-agent#98461",
		Expect:    "SingleCharge",
		Profiles:  []string{keylessLookup},
		Scenarios: []string{oneReplica},

		ReadsReplica: true,
		Client:       oneKey,
		Handler:      func(cfg impl.Config, ports impl.Ports) impl.Handler { return &soleWriter{cfg, ports} },
		Reconciler:   serviceReconciler,
	}
}

type soleWriter struct {
	cfg   impl.Config
	ports impl.Ports
}

func (h *soleWriter) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	h.ports.Locks.Lock(ctx, fresh.ProviderKey)
	defer h.ports.Locks.Unlock(fresh.ProviderKey)

	r := begin(ctx, &h.cfg, &h.ports)
	rec, ok, err := h.ports.Registry.Get(ctx, impl.StepReadReplica, fresh.ID)
	switch {
	case err != nil:
		return impl.Reply{}, impl.ErrUnavailable
	case ok && rec.Fingerprint != fresh.Fingerprint:
		return impl.Reply{}, impl.ErrMismatch
	case ok && rec.State.Terminal():
		return impl.Replay(rec)
	case ok: // somebody may have sent: the reconciler looks it up when that is over
		return r.InProgress()
	}
	fresh.State = impl.StateSent
	rec, mine, err := r.Claim(fresh)
	if err != nil {
		return impl.Reply{}, err
	}
	if !mine {
		// The defect: nobody asks what it is that stands there.
		if rec, err = r.takeOver(rec); err != nil {
			return r.AnswerLost(rec)
		}
	}
	if !r.MaySend(&rec) {
		return r.InProgress()
	}
	result, err := h.ports.Provider.Charge(ctx, impl.StepCharge, impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request})
	r.Observe(impl.StepCharge, rec.ID, err)
	if err != nil {
		return r.InProgress()
	}
	return r.save(rec, result)
}
