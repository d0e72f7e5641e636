package designs

import "github.com/chargeonce/chargeonce/impl"

// takeoverBeforeLookup is the reference with a resolve that first makes sure
// that it is alone.
func takeoverBeforeLookup() impl.Design {
	d := decisions{resolve: takeOverFirst}
	return impl.Design{
		Name:    "takeover-before-lookup",
		Summary: "whoever looks what became of an operation takes it over first",
		Doc: `It believes that one must own a record to look at it. Each take-over begins a new lease,
and the instant from which all sends are dead moves with the lease: with a client and a
reconciler that come back whenever it is over, that instant never comes. Once the window
is closed and nothing can be sent any more, the operation is never settled and nobody
hears how it ended. Nothing is wrong with the money; looking first and writing once has
fewer writes and no such loop.`,
		Source:    "model checking of the protocol (a livelock of 21 steps)",
		Expect:    "NotWedged",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func takeOverFirst(t *twin, r *run, rec impl.Record, by want) (impl.Reply, error) {
	// The defect: this is only needed to send.
	taken, err := r.TakeOver(rec, r.ports.Clock.Now())
	if err != nil {
		return r.AnswerLost(taken)
	}
	rest := *t
	rest.resolve = nil
	return rest.settleOrSend(r, taken, by)
}
