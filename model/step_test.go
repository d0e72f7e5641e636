package model_test

import (
	"testing"

	"github.com/chargeonce/chargeonce/model"
	"github.com/chargeonce/chargeonce/model/history"
)

var (
	eur = model.Money{Minor: 1250, Currency: "EUR"}
	x   = model.Parameters{Fingerprint: "x", Money: eur}
	y   = model.Parameters{Fingerprint: "y", Money: model.Money{Minor: 900, Currency: "EUR"}}

	submitX = model.Input{Kind: model.Submit, Parameters: x}
	submitY = model.Input{Kind: model.Submit, Parameters: y}
	end     = model.Input{Kind: model.End}
)

func charge(id string) model.Input {
	return model.Input{Kind: model.Charge, Charge: id, Money: eur}
}

func refund(id string) model.Input { return model.Input{Kind: model.Refund, Charge: id} }

func answer(p model.Parameters, o history.Outcome) model.Input {
	return model.Input{Kind: model.Answer, Parameters: p, Reply: model.Reply{Outcome: o}}
}

func paid(charge string) model.Input {
	in := answer(x, history.OutcomePaid)
	in.Reply.Status, in.Reply.Body, in.Reply.Charge, in.Money = 201, 7, charge, eur
	return in
}

func with(in model.Input, change func(*model.Input)) model.Input {
	change(&in)
	return in
}

// Each case is a run that is right up to its last input, which is allowed or
// not for the reason given.
func TestStep(t *testing.T) {
	declined, failed := answer(x, history.OutcomeDeclined), answer(x, history.OutcomeFailed)
	gone, mismatch := answer(x, history.OutcomeGone), answer(y, history.OutcomeMismatch)
	compensates := model.Rules{Compensates: true}
	seen := make(map[model.Reason]bool)
	for name, c := range map[string]struct {
		inputs []model.Input
		rules  model.Rules
		want   model.Reason
	}{
		"paid":                           {inputs: []model.Input{submitX, charge("c1"), paid("c1"), end}},
		"replayed":                       {inputs: []model.Input{submitX, charge("c1"), paid("c1"), paid("c1")}},
		"paid, the charge is not told":   {inputs: []model.Input{submitX, charge("c1"), paid("")}},
		"charged, nobody told":           {inputs: []model.Input{submitX, charge("c1"), end}},
		"declined":                       {inputs: []model.Input{submitX, declined, declined, end}},
		"refunded, then declined":        {inputs: []model.Input{submitX, charge("c1"), refund("c1"), declined, end}},
		"refunded, then charged":         {inputs: []model.Input{submitX, charge("c1"), refund("c1"), charge("c2"), paid("c2")}},
		"in progress before everything":  {inputs: []model.Input{answer(x, history.OutcomeInProgress)}},
		"in progress after paid":         {inputs: []model.Input{submitX, charge("c1"), paid("c1"), answer(x, history.OutcomeInProgress)}},
		"refused, then paid":             {inputs: []model.Input{answer(x, history.OutcomeRefused), submitX, charge("c1"), paid("c1")}},
		"unavailable after gone":         {inputs: []model.Input{submitX, gone, answer(x, history.OutcomeUnavailable)}},
		"mismatch while in flight":       {inputs: []model.Input{submitX, submitY, mismatch, charge("c1"), paid("c1")}},
		"gone after paid":                {inputs: []model.Input{submitX, charge("c1"), paid("c1"), gone, gone}},
		"gone before anybody was told":   {inputs: []model.Input{submitX, charge("c1"), gone}},
		"an amount that was not stated":  {inputs: []model.Input{with(submitX, func(in *model.Input) { in.Parameters.Money = model.Money{} }), charge("c1"), paid("c1")}},
		"surplus compensated":            {rules: compensates, inputs: []model.Input{submitX, charge("c1"), charge("c2"), paid("c2"), refund("c1"), end}},
		"surplus after gone compensated": {rules: compensates, inputs: []model.Input{submitX, charge("c1"), gone, charge("c2"), refund("c1"), end}},

		"paid before a request": {want: model.AnsweredUnasked, inputs: []model.Input{paid("c1")}},
		"gone before a request": {want: model.AnsweredUnasked, inputs: []model.Input{gone}},
		"paid to others":        {want: model.OtherParameters, inputs: []model.Input{submitY, paid("c1")}},
		"gone to others":        {want: model.OtherParameters, inputs: []model.Input{submitY, gone}},
		"declined to others":    {want: model.OtherParameters, inputs: []model.Input{submitY, declined}},
		"mismatch to the first": {want: model.NoMismatch, inputs: []model.Input{submitY, submitX, mismatch}},
		"mismatch to the only":  {want: model.NoMismatch, inputs: []model.Input{mismatch}},
		"failed after declined": {want: model.OtherReply, inputs: []model.Input{submitX, declined, failed}},
		"paid with another body": {want: model.OtherReply, inputs: []model.Input{submitX, charge("c1"), paid("c1"),
			with(paid("c1"), func(in *model.Input) { in.Reply.Body = 8 })}},
		"paid with another status": {want: model.OtherReply, inputs: []model.Input{submitX, charge("c1"), paid("c1"),
			with(paid("c1"), func(in *model.Input) { in.Reply.Status = 200 })}},
		"paid by two charges":               {want: model.OtherReply, rules: compensates, inputs: []model.Input{submitX, charge("c1"), charge("c2"), paid("c1"), paid("c2")}},
		"paid after gone":                   {want: model.ToldAfterGone, inputs: []model.Input{submitX, charge("c1"), paid("c1"), gone, paid("c1")}},
		"declined after gone":               {want: model.ToldAfterGone, inputs: []model.Input{submitX, gone, declined}},
		"paid without a charge":             {want: model.PaidWithoutCharge, inputs: []model.Input{submitX, paid("c1")}},
		"paid without a charge, unnamed":    {want: model.PaidWithoutCharge, inputs: []model.Input{submitX, paid("")}},
		"paid after a refund":               {want: model.PaidWithoutCharge, inputs: []model.Input{submitX, charge("c1"), refund("c1"), paid("c1")}},
		"paid after declined":               {want: model.PaidWithoutCharge, inputs: []model.Input{submitX, declined, paid("c1")}},
		"paid by a foreign charge":          {want: model.PaidByOtherCharge, inputs: []model.Input{submitX, charge("c1"), paid("c2")}},
		"paid with a smaller amount":        {want: model.OtherAmount, inputs: []model.Input{submitX, charge("c1"), with(paid("c1"), func(in *model.Input) { in.Money.Minor-- })}},
		"declined though charged":           {want: model.NotChargedWithCharge, inputs: []model.Input{submitX, charge("c1"), declined}},
		"failed after paid":                 {want: model.NotChargedWithCharge, inputs: []model.Input{submitX, charge("c1"), paid("c1"), failed}},
		"charged before a request":          {want: model.ChargedUnasked, inputs: []model.Input{charge("c1")}},
		"charged for who was told mismatch": {want: model.ChargedOtherParameters, inputs: []model.Input{submitX, submitY, mismatch, with(charge("c1"), func(in *model.Input) { in.Parameters.Fingerprint = "y" })}},
		"charged in another currency":       {want: model.ChargedOtherAmount, inputs: []model.Input{submitX, with(charge("c1"), func(in *model.Input) { in.Money.Currency = "USD" })}},
		"charged two amounts":               {want: model.ChargedOtherAmount, rules: compensates, inputs: []model.Input{{Kind: model.Submit, Parameters: model.Parameters{Fingerprint: "x"}}, charge("c1"), with(charge("c2"), func(in *model.Input) { in.Money.Minor++ })}},
		"captured twice":                    {want: model.CapturedTwice, rules: compensates, inputs: []model.Input{submitX, charge("c1"), charge("c1")}},
		"charged after declined":            {want: model.LateCharge, inputs: []model.Input{submitX, declined, charge("c1")}},
		"charged after failed":              {want: model.LateCharge, rules: compensates, inputs: []model.Input{submitX, failed, charge("c1")}},
		"charged after gone":                {want: model.LateCharge, rules: compensates, inputs: []model.Input{submitX, gone, charge("c1")}},
		"charged twice":                     {want: model.SecondCharge, inputs: []model.Input{submitX, charge("c1"), charge("c2")}},
		"charged again after paid":          {want: model.SecondCharge, inputs: []model.Input{submitX, charge("c1"), paid("c1"), charge("c2")}},
		"refunded twice":                    {want: model.RefundedNothing, inputs: []model.Input{submitX, charge("c1"), refund("c1"), refund("c1")}},
		"refunded what has no name":         {want: model.RefundedNothing, inputs: []model.Input{submitX, refund("")}},
		"refunded after paid":               {want: model.RefundedKept, inputs: []model.Input{submitX, charge("c1"), paid("c1"), refund("c1")}},
		"refunded the victim's":             {want: model.RefundedKept, rules: compensates, inputs: []model.Input{submitX, charge("c1"), charge("c2"), paid("c1"), refund("c1")}},
		"refunded all after an unnamed":     {want: model.RefundedKept, rules: compensates, inputs: []model.Input{submitX, charge("c1"), charge("c2"), paid(""), refund("c1"), refund("c2")}},
		"surplus left over":                 {want: model.SurplusAtEnd, rules: compensates, inputs: []model.Input{submitX, charge("c1"), charge("c2"), paid("c1"), end}},
		"more than can be told apart": {want: model.TooManyCharges, rules: compensates, inputs: []model.Input{submitX,
			charge("1"), charge("2"), charge("3"), charge("4"), charge("5"), charge("6"), charge("7"), charge("8"), charge("9")}},
	} {
		t.Run(name, func(t *testing.T) {
			var s model.State
			for i := range c.inputs {
				next, why := s.Step(&c.inputs[i], c.rules)
				want := model.Allowed
				if i == len(c.inputs)-1 {
					want = c.want
				}
				if why != want {
					t.Fatalf("input %d: %v; want %v", i, why, want)
				}
				if why != model.Allowed && next != s {
					t.Fatalf("input %d is not allowed and changed\n%+v to\n%+v", i, s, next)
				}
				s = next
			}
		})
		seen[c.want] = true
	}
	for r := model.Allowed; r <= model.TooManyCharges; r++ {
		if !seen[r] {
			t.Errorf("no case ends with %v", r)
		}
		if (r.Invariant() == "") != (r == model.Allowed || r == model.TooManyCharges) {
			t.Errorf("%v: the invariant is %q", r, r.Invariant())
		}
	}
}
