package invariant

import (
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
)

// auditPrefix begins the scope of a record that keeps the books of a
// compensation.
const auditPrefix = "audit "

// operation is what is known of one intent.
type operation struct {
	identity    int  // under which it was called first, or none
	begun       bool // the first attempt is in the history
	firstCall   time.Duration
	lastCall    time.Duration
	asked       []parameters // that it was called with; one, unless clients misbehave
	open        []attempt    // not answered yet
	providerKey string       // the first seen, while it has no identity
	sends       int
	net         int // charges minus refunds
	captured    bool
	paid        bool            // "paid" was told
	denied      history.Outcome // declined, failed or mismatch, once that was told
	replied     bool
	reply       answer // the first of the final replies that must be equal
	final       bool   // a client has its final answer
	gaveUp      string // the client that stopped asking
}

// parameters are what one fingerprint stands for.
type parameters struct {
	fingerprint string
	amount      int64
	currency    string
}

// attempt is one call.
type attempt struct {
	process  string
	number   int
	identity int // or none, if it had no key
	parameters
}

// answer is what must be the same in all final replies of an operation.
type answer struct {
	outcome history.Outcome
	status  int
	body    uint64
	charge  string
}

// identity is what is known of one scope and key: who calls with it, and its
// record.
type identity struct {
	operations  []int  // that were called with it
	fingerprint string // of the first call
	disputed    bool   // there were calls of two fingerprints
	providerKey string // the first seen; an audit record uses its operation's
	main        int    // of an audit record: the operation's identity, otherwise none
	sameKey     int    // the next identity whose record has the same provider key, or none
	record
}

// record is what was last written under an identity.
type record struct {
	exists      bool
	forgotten   bool   // it existed before
	bound       string // fingerprint of the first claim, kept when forgotten
	boundBefore string // that of the life before
	state       history.State
	version     uint64
	owner       string
	request     uint64
	windowFrom  time.Duration
	journaled   string // its provider key
	tombstone   bool
	told        answer // what the last write will tell
	settled     bool
	final       answer   // what the first terminal write will tell
	writers     []writer // of all lives: a token never comes back
}

// writer is a fencing token and the run that it belongs to.
type writer struct {
	token, run string
	left       history.State // by the last write under this token
}

// charge is one charge id, of the ledger or of a reply.
type charge struct {
	captured    bool // it is in the ledger
	operation   int  // that it was captured for, or none
	amount      int64
	currency    string
	providerKey string
	refunded    bool
	told        bool   // as what was paid
	toldTo      int    // the operation, or none
	toldFor     string // the fingerprint
}

// providerKey is what is known of one provider key.
type providerKey struct {
	record  int // the first identity whose record has it, or none
	landed  bool
	first   time.Duration // landing
	charged string        // the operation of the first charge
	charges int           // of that operation
	sends   int
}

// operation returns the number of an intent.
func (c *Checker) operation(name string) int {
	i, added := c.operations.number("", name)
	if added {
		op := c.operations.at(i)
		*op = operation{identity: none, asked: op.asked[:0], open: op.open[:0]}
	}
	return i
}

// identity returns the number of a scope and key.
func (c *Checker) identity(scope, key string) int {
	i, added := c.identities.number(scope, key)
	if !added {
		return i
	}
	id := c.identities.at(i)
	*id = identity{operations: id.operations[:0], main: none, sameKey: none, record: record{writers: id.writers[:0]}}
	if of, audit := strings.CutPrefix(scope, auditPrefix); audit {
		main := c.identity(of, key)
		c.identities.at(i).main = main
	}
	return i
}

// charge returns the number of a charge id.
func (c *Checker) charge(id string) int {
	i, added := c.charges.number("", id)
	if added {
		*c.charges.at(i) = charge{operation: none, toldTo: none}
	}
	return i
}

// providerKey returns the number of a provider key.
func (c *Checker) providerKey(key string) int {
	i, added := c.keys.number("", key)
	if added {
		*c.keys.at(i) = providerKey{record: none}
	}
	return i
}

// holder returns the operation that a record was claimed for, or none: the
// one whose parameters it is bound to.
func (c *Checker) holder(id *identity) int {
	for _, o := range id.operations {
		if c.certainly(c.operations.at(o), id.bound) {
			return o
		}
	}
	return none
}

// certainly is askedFor where it must not be wrong: in a history that is not
// complete, what is not stated may belong to somebody else.
func (c *Checker) certainly(op *operation, fingerprint string) bool {
	if c.header.Complete {
		return op.askedFor(fingerprint)
	}
	for i := range op.asked {
		if op.asked[i].fingerprint == fingerprint && fingerprint != "" {
			return true
		}
	}
	return false
}

// askedFor reports whether the operation was called with a fingerprint; one
// that is not stated fits all.
func (op *operation) askedFor(fingerprint string) bool {
	for i := range op.asked {
		if p := op.asked[i].fingerprint; p == fingerprint || p == "" || fingerprint == "" {
			return true
		}
	}
	return false
}

// nameOf returns the name of an operation, empty for none.
func (c *Checker) nameOf(operation int) string {
	if operation == none {
		return ""
	}
	return c.operations.names[operation].key
}

// sameMoney reports whether two amounts agree. What want does not state
// cannot be disagreed with; what got does not state, only in a history that
// is not complete.
func (c *Checker) sameMoney(want parameters, amount int64, currency string) bool {
	lenient := !c.header.Complete
	return (want.amount == amount || want.amount == 0 || lenient && amount == 0) &&
		(want.currency == currency || want.currency == "" || lenient && currency == "")
}
