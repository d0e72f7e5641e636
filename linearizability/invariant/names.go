package invariant

import (
	"fmt"
	"strings"
)

// Name is an invariant. Its zero value is none.
type Name uint8

// The invariants, in the order of [All].
const (
	SingleCharge Name = iota + 1
	TruthfulReply
	StableReply
	TerminalIsFinal
	FingerprintBound
	FencedWrites
	SentJournaled
	WindowGuarded
	StableProviderKey
	ScopeIsolation
	SafeRetention
	BoundedRefunds
	Resolves
	NotWedged
	Linearizable // judged elsewhere
	Refines      // judged elsewhere
	nameCount
)

// Kind says what a violation of an invariant is.
type Kind uint8

// The kinds of invariants.
const (
	Safety   Kind = iota // something wrong has happened
	Liveness             // something right has not happened in time
)

// String returns "safety" or "liveness".
func (k Kind) String() string {
	if k == Liveness {
		return "liveness"
	}
	return "safety"
}

type description struct {
	name string
	kind Kind
	doc  string
}

var descriptions = [nameCount]description{
	{name: "none"},
	SingleCharge:      {"SingleCharge", Safety, "An operation has at most one charge that was not given back; a design that compensates has at most one at the end."},
	TruthfulReply:     {"TruthfulReply", Safety, `"Paid" is told only of a charge that was captured for this operation and amount, "declined" and "failed" only if none exists and none follows.`},
	StableReply:       {"StableReply", Safety, "All final replies of one operation are equal, the first and every replay, and equal to what its record says."},
	TerminalIsFinal:   {"TerminalIsFinal", Safety, "A terminal record never changes, but for dropping the body of its reply."},
	FingerprintBound:  {"FingerprintBound", Safety, "A reply or a charge of one set of parameters never answers another, and only another set hears of a mismatch."},
	FencedWrites:      {"FencedWrites", Safety, "Only the run that owns a record's current fencing token, or takes it over with a new one, writes the record, and what was bound at the claim stays."},
	SentJournaled:     {"SentJournaled", Safety, "Nothing is sent to the provider before the run that sends has written a record that says so."},
	WindowGuarded:     {"WindowGuarded", Safety, "All charge requests of one provider key reach the provider within the window in which it collapses them."},
	StableProviderKey: {"StableProviderKey", Safety, "An operation has one idempotency key and one provider key, the same in every attempt, record, send and ledger line, and no other has it."},
	ScopeIsolation:    {"ScopeIsolation", Safety, "No charge, reply or provider key crosses from one tenant or endpoint to another."},
	SafeRetention:     {"SafeRetention", Safety, "No record is forgotten before it is finished, nor while a retry may still come."},
	BoundedRefunds:    {"BoundedRefunds", Safety, "A charge is refunded at most once, in full, and not after the client was told that it is the one kept."},
	Resolves:          {"Resolves", Liveness, "In the end each operation has a final answer or is handed over to a person, and each record is terminal or in review."},
	NotWedged:         {"NotWedged", Liveness, "Once the faults are over, an operation that a client keeps asking for gets its final answer in time."},
	Linearizable:      {"Linearizable", Safety, "What the clients saw is what some sequential service could have told them."},
	Refines:           {"Refines", Safety, "Each recorded step is a step of the protocol model."},
}

func (n Name) describe() description {
	if n < nameCount {
		return descriptions[n]
	}
	return description{name: fmt.Sprintf("invariant(%d)", uint8(n))}
}

// String returns the name as plans, flags and verdicts write it.
func (n Name) String() string { return n.describe().name }

// Doc returns what the invariant says, in one plain sentence.
func (n Name) Doc() string { return n.describe().doc }

// Kind says whether the invariant is one of safety or of liveness.
func (n Name) Kind() Kind { return n.describe().kind }

// All returns the invariants, those that are judged elsewhere included.
func All() []Name {
	all := make([]Name, 0, nameCount-1)
	for n := SingleCharge; n < nameCount; n++ {
		all = append(all, n)
	}
	return all
}

// Parse is the inverse of String. It returns an error that lists the names
// for anything else.
func Parse(name string) (Name, error) {
	known := make([]string, 0, nameCount-1)
	for _, n := range All() {
		if n.String() == name {
			return n, nil
		}
		known = append(known, n.String())
	}
	return 0, fmt.Errorf("invariant: no invariant is called %q; there are %s", name, strings.Join(known, ", "))
}
