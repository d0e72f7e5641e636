package history

import (
	"fmt"
	"slices"
)

// The names are part of the format: they may be added to, never changed.
var (
	kindNames = [KindCount]string{
		"none", "call", "return", "unanswered", "give-up", "charge", "absorbed", "refusal", "refund",
		"crash", "send", "write", "forget", "heal", "end",
	}
	outcomeNames = [OutcomeCount]string{
		"none", "paid", "declined", "failed", "mismatch", "gone", "refused", "in-progress", "unavailable",
	}
	stateNames = [StateCount]string{"none", "claimed", "sent", "succeeded", "declined", "review"}
)

// String returns the kind's name, as histories write it.
func (k Kind) String() string { return nameOf(kindNames[:], int(k), "kind") }

// String returns the outcome's name, as histories write it.
func (o Outcome) String() string { return nameOf(outcomeNames[:], int(o), "outcome") }

// String returns the state's name, as histories write it.
func (s State) String() string { return nameOf(stateNames[:], int(s), "state") }

// ParseKind is the inverse of String. It returns an error that lists the
// names for anything else, "none" included.
func ParseKind(name string) (Kind, error) {
	i, err := parseName(kindNames[:], name, "kind")
	return Kind(i), err
}

// ParseOutcome is the inverse of String. It returns an error that lists the
// names for anything else, "none" included.
func ParseOutcome(name string) (Outcome, error) {
	i, err := parseName(outcomeNames[:], name, "outcome")
	return Outcome(i), err
}

// ParseState is the inverse of String. It returns an error that lists the
// names for anything else, "none" included.
func ParseState(name string) (State, error) {
	i, err := parseName(stateNames[:], name, "state")
	return State(i), err
}

// Fits reports whether a reply of this outcome may have the HTTP status.
func (o Outcome) Fits(status int) bool {
	return o < OutcomeCount && slices.Contains(statuses[o], status)
}

// Statuses returns the HTTP statuses that a reply of this outcome may have,
// in ascending order.
func (o Outcome) Statuses() []int {
	if o >= OutcomeCount {
		return nil
	}
	return slices.Clone(statuses[o])
}

var statuses = [OutcomeCount][]int{
	OutcomePaid:        {200, 201},
	OutcomeDeclined:    {402},
	OutcomeFailed:      {500, 501, 502, 504},
	OutcomeMismatch:    {422},
	OutcomeGone:        {410},
	OutcomeRefused:     {400},
	OutcomeInProgress:  {409, 425},
	OutcomeUnavailable: {429, 503},
}

func nameOf(names []string, i int, what string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func parseName(names []string, name, what string) (int, error) {
	if i := slices.Index(names, name); i > 0 {
		return i, nil
	}
	return 0, fmt.Errorf("history: no %s is called %q; they are %v", what, name, names[1:])
}
