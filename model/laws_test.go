package model_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
)

// Paid stands there more than once, since most of what can go wrong comes
// after it.
var outcomes = []history.Outcome{
	history.OutcomePaid, history.OutcomePaid, history.OutcomePaid, history.OutcomePaid, history.OutcomeDeclined,
	history.OutcomeFailed, history.OutcomeMismatch, history.OutcomeGone, history.OutcomeInProgress,
}

var drawInput = rapid.Custom(func(t *rapid.T) model.Input {
	in := model.Input{
		Kind:       model.InputKind(rapid.Uint8Range(0, uint8(model.End)).Draw(t, "kind")),
		Parameters: rapid.SampledFrom([]model.Parameters{x, x, x, y}).Draw(t, "parameters"),
		Charge:     rapid.SampledFrom([]string{"c1", "c1", "c2", "c3"}).Draw(t, "charge"),
	}
	switch in.Kind {
	case model.Answer:
		in.Reply.Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome")
		in.Reply.Body = rapid.Uint64Range(1, 2).Draw(t, "body")
		if in.Reply.Outcome == history.OutcomePaid {
			in.Reply.Charge = rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(t, "kept")
		}
	case model.Charge:
		in.Money = in.Parameters.Money
		in.Parameters.Fingerprint = rapid.SampledFrom([]string{"", in.Parameters.Fingerprint}).Draw(t, "for")
	}
	return in
})

// Whatever the inputs, what was promised once stays so. The checks are written from
// the point of view of somebody who only remembers what was allowed.
func TestPromisesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := model.Rules{Compensates: rapid.Bool().Draw(t, "compensates")}
		var s model.State
		var final model.Reply
		var notCharged, gone bool
		net := make(map[string]bool)
		for _, in := range rapid.SliceOfN(drawInput, 20, 60).Draw(t, "inputs") {
			next, why := s.Step(&in, rules)
			if why != model.Allowed {
				if next != s {
					t.Fatalf("%v, and the state changed", why)
				}
				continue
			}
			if s.Key.Bound.Fingerprint != "" && next.Key.Bound != s.Key.Bound {
				t.Fatalf("bound again: %+v, then %+v", s.Key.Bound, next.Key.Bound)
			}
			s = next
			switch in.Kind {
			case model.Charge:
				if notCharged {
					t.Fatal("charged after it was said that there will be no charge")
				}
				net[in.Charge] = true
			case model.Refund:
				if !net[in.Charge] {
					t.Fatal("refunded what was not there")
				}
				delete(net, in.Charge)
			case model.End:
				if len(net) > 1 {
					t.Fatalf("%d net charges at the end", len(net))
				}
			case model.Answer:
				switch o := in.Reply.Outcome; o {
				case history.OutcomePaid, history.OutcomeDeclined, history.OutcomeFailed:
					if (len(net) > 0) != (o == history.OutcomePaid) || gone {
						t.Fatalf("%v was told with %d net charges, gone %v", o, len(net), gone)
					}
					if final != (model.Reply{}) && final != in.Reply {
						t.Fatalf("%+v was told after %+v", in.Reply, final)
					}
					final = in.Reply
					notCharged = o != history.OutcomePaid
				case history.OutcomeGone:
					gone = true
				}
			}
			if !rules.Compensates && len(net) > 1 {
				t.Fatalf("%d net charges", len(net))
			}
			if final.Outcome == history.OutcomePaid && (len(net) == 0 || final.Charge != "" && !net[final.Charge]) {
				t.Fatalf("%+v was told and the net charges are %v", final, net)
			}
			if s.Order.Charges() != len(net) {
				t.Fatalf("%d net charges in the state, %d in the ledger", s.Order.Charges(), len(net))
			}
		}
	})
}
