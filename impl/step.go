package impl

import (
	"fmt"
	"strings"
)

// Step names what a port call is for. The same names stand in the Observer,
// in plans, in traces and in the specification.
type Step uint8

// The steps of the protocol. Request is the client's call to the service and
// Reply the service's answer; the others are calls on ports.
const (
	StepNone        Step = iota
	StepRequest          // client → service: one attempt of an operation
	StepReply            // the handler's return
	StepClaim            // Registry.Insert: claim the operation before any effect
	StepReadBack         // Registry.Get: read what is there after waiting or after an unacknowledged write
	StepTakeOver         // Registry.Update: a new owner, in order to send
	StepMarkSent         // Registry.Update: journal that a send may follow (providers without keys)
	StepCharge           // Provider.Charge
	StepLookUp           // Provider.Lookup
	StepComplete         // Registry.Update: the reply, terminal
	StepSettle           // Registry.Update: declined, not charged, once no send can still land
	StepReview           // Registry.Update: hand over to a person
	StepRefund           // Provider.Refund
	StepSweep            // Registry.Unfinished: what the reconciler has to look at
	StepCollect          // Registry.Expired, Update, Delete: drop bodies, then tombstones
	StepReadReplica      // Registry.Get: read a copy that may lag behind; the reference never does
	StepCount            // how many there are
)

var stepNames = [StepCount]string{
	"none", "request", "reply", "claim", "read-back", "take-over", "mark-sent", "charge", "look-up",
	"complete", "settle", "review", "refund", "sweep", "collect", "read-replica",
}

// String returns the step's name, as plans and traces write it.
func (s Step) String() string {
	if int(s) < len(stepNames) {
		return stepNames[s]
	}
	return fmt.Sprintf("step(%d)", uint8(s))
}

// ParseStep is the inverse of String. It returns an error that lists the
// names for anything else.
func ParseStep(name string) (Step, error) {
	for i, n := range stepNames {
		if i > 0 && n == name {
			return Step(i), nil
		}
	}
	return StepNone, fmt.Errorf("impl: no step is called %q; the steps are %s", name, strings.Join(stepNames[1:], ", "))
}
