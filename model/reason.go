package model

import "fmt"

// Reason is why a step is not allowed; the zero value says that it is.
type Reason uint8

// The reasons.
const (
	Allowed Reason = iota
	AnsweredUnasked
	OtherParameters
	NoMismatch
	OtherReply
	ToldAfterGone
	PaidWithoutCharge
	PaidByOtherCharge
	OtherAmount
	NotChargedWithCharge
	ChargedUnasked
	ChargedOtherParameters
	ChargedOtherAmount
	CapturedTwice
	LateCharge
	SecondCharge
	RefundedNothing
	RefundedKept
	SurplusAtEnd
	// TooManyCharges is no violation: the state has no room for more than
	// MaxNet net charges, and whoever meets this reason cannot tell.
	TooManyCharges
	reasonCount
)

var reasons = [reasonCount]struct{ sentence, invariant string }{
	Allowed:                {"allowed", ""},
	AnsweredUnasked:        {"a final answer though no request had reached the service", "TruthfulReply"},
	OtherParameters:        {"a final answer to a request with other parameters than the key is bound to", "FingerprintBound"},
	NoMismatch:             {"mismatch was told though no request with other parameters came before", "FingerprintBound"},
	OtherReply:             {"a final answer that differs from the one that was told before", "StableReply"},
	ToldAfterGone:          {"a reply after it was said to be no longer kept", "StableReply"},
	PaidWithoutCharge:      {"paid was told though there is no net charge", "TruthfulReply"},
	PaidByOtherCharge:      {"paid was told by a charge that is no net charge of this order", "TruthfulReply"},
	OtherAmount:            {"paid was told with another amount than asked for and charged", "TruthfulReply"},
	NotChargedWithCharge:   {"declined or failed was told though there is a net charge", "TruthfulReply"},
	ChargedUnasked:         {"a charge though no request had reached the service", "SingleCharge"},
	ChargedOtherParameters: {"a charge for other parameters than the key is bound to", "FingerprintBound"},
	ChargedOtherAmount:     {"a charge of another amount than asked for", "TruthfulReply"},
	CapturedTwice:          {"a charge that was captured before", "SingleCharge"},
	LateCharge:             {"a charge after the client was told that there is none and will be none", "TruthfulReply"},
	SecondCharge:           {"a second net charge", "SingleCharge"},
	RefundedNothing:        {"a refund of what is no net charge of this order", "BoundedRefunds"},
	RefundedKept:           {"a refund of the charge that the client was told is kept", "BoundedRefunds"},
	SurplusAtEnd:           {"more than one net charge when all is over", "SingleCharge"},
	TooManyCharges:         {fmt.Sprintf("more than %d net charges at once, which cannot be told apart", MaxNet), ""},
}

// String returns the reason as half a sentence.
func (r Reason) String() string {
	if r < reasonCount {
		return reasons[r].sentence
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Invariant returns the name of the invariant that such a step breaks, empty
// for Allowed and TooManyCharges.
func (r Reason) Invariant() string {
	if r < reasonCount {
		return reasons[r].invariant
	}
	return ""
}
