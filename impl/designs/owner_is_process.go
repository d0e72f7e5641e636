package designs

import "github.com/chargeonce/chargeonce/impl"

// ownerIsProcess is the reference service where the owner of a record is the
// process that works on it.
func ownerIsProcess() impl.Design {
	return impl.Design{
		Name:    "owner-is-process",
		Summary: "the fencing token is the process's, the same for all its runs",
		Doc: `It believes that one process does not race with itself. A run whose lease is over and the
run that took over from it may well be handlers of one process, for a client's retry often
comes back to the replica that was slow. They have one token: when a write is not
acknowledged, each takes the other's for its own and goes on. Masked by provider keys and
by the version, which still tells the two apart; FencedWrites shows the defect alone.`,
		Source:    "model checking of the protocol",
		Expect:    "FencedWrites",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica, mixed},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.IDs = &hostname{IDs: ports.IDs}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

// hostname is a token that a process draws once in its life.
type hostname struct {
	impl.IDs
	token string
}

func (h *hostname) Owner() string {
	if h.token == "" {
		h.token = h.IDs.Owner()
	}
	return h.token
}
