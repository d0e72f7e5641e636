package designs

import "github.com/chargeonce/chargeonce/impl"

// replaysAs200 is the reference with replies that are put together again from
// what was kept of them.
func replaysAs200() impl.Design {
	d := decisions{replay: withoutStatus}
	return impl.Design{
		Name:    "replays-as-200",
		Summary: "a replay has the body of the first reply, and the status and headers of any reply",
		Doc: `It believes that a reply is its body. The first attempt hears 201, a retry 200, and a client
that acts on "created" acts differently on the retry; of a decline the retry hears that all
is well. A reply is stored with its status and the headers that matter, and told again as it
was.`,
		Source:    "fullstackhero/dotnet-starter-kit#1378",
		Expect:    "StableReply",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func withoutStatus(_ *run, rec impl.Record) (impl.Reply, error) {
	reply, err := impl.Replay(rec)
	if err == nil {
		reply.Status, reply.Header = 200, nil // the defect
	}
	return reply, err
}
