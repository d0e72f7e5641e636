package designs

import "github.com/chargeonce/chargeonce/impl"

// laterDeclineIsFinal is the reference towards a provider that stores no
// declines, with a retry that does not wait.
func laterDeclineIsFinal() impl.Design {
	d := decisions{resend: atOnce}
	return impl.Design{
		Name:    "later-decline-is-final",
		Summary: "where declines are not stored, the second send goes out at once and its decline is believed",
		Doc: `It believes that with one key all sends get one answer. This provider stores approvals
only: a declined key is free again, and each send of it is another question to the bank.
The second send is declined while the first is still on its way; the client is told
"declined", and the first lands and is approved. A decline is definite only when no other
send can land any more, so the second send must wait for the first to be dead.`,
		Source:    "model checking of the protocol",
		Expect:    "TruthfulReply",
		Profiles:  []string{keyedForgetsDeclines},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// atOnce is the defect: keys alone do not make two sends one.
func atOnce(r *run, _ *impl.Record) bool { return r.cfg.Provider.Keys }
