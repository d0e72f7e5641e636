package model

import "github.com/chargeonce/chargeonce/model/history"

// InputKind is what happens in one step.
type InputKind uint8

// The kinds of inputs.
const (
	Submit InputKind = iota // an attempt reaches the service
	Answer                  // an attempt is answered
	Charge                  // the ledger: money is captured
	Refund                  // the ledger: a charge is given back in full
	End                     // nothing more will happen
)

// Input is one step.
type Input struct {
	Kind InputKind
	// Parameters are those of the attempt (Submit, Answer). For a Charge, the
	// fingerprint is that of the attempt that it is for, or empty.
	Parameters Parameters
	Reply      Reply  // Answer
	Money      Money  // Answer: what it says was paid; Charge
	Charge     string // Charge, Refund: the provider's id
}

// Rules are what the system promises.
type Rules struct {
	// Compensates says that surplus charges are refunded: "one net charge"
	// holds at the End and not before.
	Compensates bool
}

// Step returns the state after the input, or the same state and the reason
// why a system that keeps its promises cannot take that step.
func (s State) Step(in *Input, rules Rules) (State, Reason) {
	next := s
	var why Reason
	switch in.Kind {
	case Submit:
		next.Key.submit(in)
	case Answer:
		why = next.answer(in)
	case Charge:
		why = next.charge(in, rules)
	case Refund:
		why = next.Order.refund(in)
	case End:
		why = next.Order.end()
	}
	if why != Allowed {
		return s, why
	}
	return next, Allowed
}

// submit binds the key to the parameters of whoever comes first.
func (k *Key) submit(in *Input) {
	if k.Bound.Fingerprint == "" {
		k.Bound = in.Parameters
	}
}

func (s *State) answer(in *Input) Reason {
	bound := s.Key.Bound.Fingerprint
	switch in.Reply.Outcome {
	case history.OutcomePaid, history.OutcomeDeclined, history.OutcomeFailed, history.OutcomeGone:
		if bound == "" {
			return AnsweredUnasked
		}
		if bound != in.Parameters.Fingerprint {
			return OtherParameters
		}
	case history.OutcomeMismatch:
		if bound == "" || bound == in.Parameters.Fingerprint {
			return NoMismatch
		}
		return Allowed
	default: // in progress, unavailable, refused: promises nothing
		return Allowed
	}
	if in.Reply.Outcome == history.OutcomeGone {
		s.Key.Gone = true
		s.Order.gone()
		return Allowed
	}
	// The money comes first: of two replies that differ, the one that the
	// ledger belies is the graver fault.
	var why Reason
	if in.Reply.Outcome == history.OutcomePaid {
		why = s.Order.paid(in, s.Key.Bound.Money)
	} else {
		why = s.Order.notCharged()
	}
	if why != Allowed {
		return why
	}
	return s.Key.tell(in.Reply)
}

// tell keeps the first final reply and wants every later one to be equal.
func (k *Key) tell(reply Reply) Reason {
	switch {
	case k.Gone:
		return ToldAfterGone
	case k.Final == Reply{}:
		k.Final = reply
	case k.Final != reply:
		return OtherReply
	}
	return Allowed
}

func (o *Order) paid(in *Input, asked Money) Reason {
	charge := in.Reply.Charge
	switch {
	case o.Charges() == 0:
		return PaidWithoutCharge
	case charge != "" && !o.has(charge):
		return PaidByOtherCharge
	case o.Kept != "" && charge != "" && o.Kept != charge:
		return OtherReply
	case !in.Money.agrees(asked) || !in.Money.agrees(o.Money):
		return OtherAmount
	}
	o.Told = ToldPaid
	if charge != "" {
		o.Kept = charge
	}
	return Allowed
}

func (o *Order) notCharged() Reason {
	if o.Charges() > 0 {
		return NotChargedWithCharge
	}
	o.Told = ToldNotCharged
	return Allowed
}

// gone says that the operation is finished, so that from here on the ledger
// says how it ended.
func (o *Order) gone() {
	switch {
	case o.Told != ToldNothing:
	case o.Charges() > 0:
		o.Told = ToldPaid
	default:
		o.Told = ToldNotCharged
	}
}

func (s *State) charge(in *Input, rules Rules) Reason {
	o, bound := &s.Order, &s.Key.Bound
	n := o.Charges()
	switch {
	case bound.Fingerprint == "":
		return ChargedUnasked
	case in.Parameters.Fingerprint != "" && in.Parameters.Fingerprint != bound.Fingerprint:
		return ChargedOtherParameters
	case !in.Money.agrees(bound.Money) || !in.Money.agrees(o.Money):
		return ChargedOtherAmount
	case o.has(in.Charge):
		return CapturedTwice
	case o.Told == ToldNotCharged:
		return LateCharge
	case n > 0 && !rules.Compensates:
		return SecondCharge
	case n == MaxNet:
		return TooManyCharges
	}
	o.Net[n] = in.Charge
	if o.Money == (Money{}) {
		o.Money = in.Money
	}
	return Allowed
}

func (o *Order) refund(in *Input) Reason {
	switch {
	case !o.has(in.Charge):
		return RefundedNothing
	case o.Told == ToldPaid && (o.Kept == in.Charge || o.Charges() == 1):
		return RefundedKept
	}
	var rest [MaxNet]string
	n := 0
	for _, c := range o.Net {
		if c != in.Charge {
			rest[n] = c
			n++
		}
	}
	o.Net = rest
	return Allowed
}

func (o *Order) end() Reason {
	if o.Charges() > 1 {
		return SurplusAtEnd
	}
	return Allowed
}
