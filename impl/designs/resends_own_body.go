package designs

import "github.com/chargeonce/chargeonce/impl"

// resendsOwnBody is the reference with a charge that is made from the request
// at hand, and clients that render their request anew for each attempt.
func resendsOwnBody() impl.Design {
	d := decisions{request: fromRequest}
	return impl.Design{
		Name:    "resends-own-body",
		Summary: "each attempt sends the body that it received and not the one in the record",
		Doc: `It believes that two requests of one fingerprint are the same bytes. They mean the same;
the provider compares bytes. The second send of the key is refused for its parameters, and
where the first was lost the payment cannot be made under this key any more. A default that
changed between two versions of the service does the same. SentJournaled shows the defect:
what is sent is not what the record says.`,
		Source:    "model checking of the protocol; stripe/stripe-go#647 (a re-send with another body)",
		Expect:    "SentJournaled",
		Profiles:  []string{keyed},
		Scenarios: []string{retryOtherReplica, onePayment},

		Client: rerendering, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func fromRequest(r *run, rec *impl.Record) impl.ChargeRequest {
	req := impl.ChargeRequest{Key: rec.ProviderKey, Ref: rec.ProviderKey, Body: rec.Request}
	if r.body != nil {
		req.Body = r.body // the defect
	}
	return req
}
