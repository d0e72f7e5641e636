package designs

import "github.com/chargeonce/chargeonce/impl"

// reference is package impl as it is: the claim before any effect, one
// provider key per operation, the guard before every send, and a look-up
// before anything is decided about an operation whose owner is gone.
func reference() impl.Design {
	return impl.Design{
		Name:    "reference",
		Summary: "claim, charge under a derived provider key, save, reply; look up what was left open",
		Doc: `It believes the assumptions of its configuration and nothing else: the provider
collapses equal keys within its window (A1), a message lives at most so long (A2),
an acknowledged write stays (A3), no client sends the key after its horizon (A4),
look-up is complete after its lag (A5), and where declines are not stored nothing
below re-sends by itself (A6). Leases and clocks decide who works, never what is
true. Dropping one of the assumptions breaks it; losing, repeating or delaying
messages, crashes and pauses within them do not.`,
		Source:   "draft-ietf-httpapi-idempotency-key-header-07, and what its text leaves open",
		Expect:   held,
		Refines:  true,
		Profiles: []string{keyed, keyedForgetsDeclines, keyedShortWindow, keylessLookup, keyless, keyedStoresFailures, keyedSlow},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
