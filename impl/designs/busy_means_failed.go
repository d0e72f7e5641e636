package designs

import "github.com/chargeonce/chargeonce/impl"

// busyMeansFailed is the reference service behind an adapter that takes one
// status wrong.
func busyMeansFailed() impl.Design {
	return impl.Design{
		Name:    "busy-means-failed",
		Summary: "409 from the provider is saved and told as declined",
		Doc: `It believes that a conflict is a refusal. The provider says 409 while the first send of
the key is still being worked on: the one answer that proves that a charge may come. It
takes a provider that is slow enough for the lease to end, and the second owner to send
while the first send is under way; the second is told "busy", the client "declined", and
then the first is approved.`,
		Source:    "model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Provider = &declining{ports.Provider, func(status int) bool { return status == statusBusy }}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}
