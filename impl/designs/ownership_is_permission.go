package designs

import "github.com/chargeonce/chargeonce/impl"

// ownershipIsPermission is the reference without a look at the clock between
// the write that makes a record its own and the send.
func ownershipIsPermission() impl.Design {
	d := decisions{maySend: whoOwnsMaySend}
	return impl.Design{
		Name:    "ownership-is-permission",
		Summary: "who has claimed the record or taken it over sends, whatever the clock says",
		Doc: `It believes that a fenced registry keeps all but one owner from acting. It keeps them from
writing; the provider knows nothing of fences. An owner that stands still after its claim has
lost it, another has charged and completed, and the window in which the provider would take the
second charge for the first has closed when the first owner goes on. Its completion is refused,
and the money is gone. There may not be a send without a look at the clock: the first owner's lease
would be enough to ask for, and whoever takes over needs the window.`,
		Source:    "model checking of the protocol; DonaldMurillo/gofastr#198 (the handler outlives its lease)",
		Expect:    "WindowGuarded",
		Profiles:  []string{keyedSlow},
		Scenarios: []string{longTrouble},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// whoOwnsMaySend is the defect: that was a while ago.
func whoOwnsMaySend(*run, *impl.Record) bool { return true }
