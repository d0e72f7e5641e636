package designs

import "github.com/chargeonce/chargeonce/impl"

// journalAndWait is the reference service towards a provider without keys.
// Config.Provider.Keys false makes it mark the record as sent before the
// charge, and send again only when no earlier send can still land and the
// look-up shows no charge. What protects the customer is the journal and the
// wait, so a lost answer costs the client MessageLifetime and LookupLag more.
func journalAndWait() impl.Design {
	return impl.Design{
		Name:    "journal-and-wait",
		Summary: "no provider keys: journal \"sent\" before the charge, send again only once the first send is dead and not found",
		Doc: `It believes that a message lives at most MessageLifetime (A2), that a mark which was
acknowledged stays (A3), and that look-up shows every charge after LookupLag (A5).
A record that is not marked was surely not sent. A marked one is looked up, and sent
again only when all earlier sends are dead and none is found: at most one charge, and
nothing to give back. A message that outlives its bound, a look-up that lags longer, or
a transport that re-sends by itself (A6), which no journal sees, breaks it. Where the provider has no look-up either, nothing can prove that the first
send did not land: the operation is sent once and ends in review.`,
		Source:   "koala73/worldmonitor#8294 (the provider has no idempotency at all)",
		Expect:   held,
		Refines:  true,
		Profiles: []string{keylessLookup, keyless},

		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
