package history

import "strconv"

// Format and Version stand in the first line of every history.
const (
	Format  = "chargeonce history"
	Version = 1
)

// field is one member of an event; the order is that of the format.
type field uint8

const (
	fieldKind field = iota
	fieldAt
	fieldProcess
	fieldOperation
	fieldAttempt
	fieldScope
	fieldKey
	fieldFingerprint
	fieldAmount
	fieldCurrency
	fieldOutcome
	fieldStatus
	fieldBody
	fieldReplayed
	fieldCharge
	fieldProviderKey
	fieldRequest
	fieldState
	fieldVersion
	fieldOwner
	fieldRun
	fieldInsert
	fieldTombstone
	fieldWindowFrom
	fieldLeaseUntil
	fieldCount
)

var fieldNames = [fieldCount]string{
	"kind", "at_ns", "process", "operation", "attempt", "scope", "key", "fingerprint", "amount", "currency",
	"outcome", "status", "body", "replayed", "charge", "provider_key", "request", "state", "version", "owner",
	"run", "insert", "tombstone", "window_from_ns", "lease_until_ns",
}

// fields is a set of fields.
type fields uint32

func setOf(list ...field) fields {
	var s fields
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

func (s fields) has(f field) bool { return s&(1<<f) != 0 }

// first returns the first field of the set in the order of the format.
func (s fields) first() field {
	for f := range fieldCount {
		if s.has(f) {
			return f
		}
	}
	return fieldCount
}

// whoAndWhat may stand on every line but heal and end.
var whoAndWhat = setOf(fieldProcess, fieldOperation, fieldAttempt, fieldScope, fieldKey)

// shape says which members a kind must and may have.
type shape struct{ must, may fields }

var shapes = [KindCount]shape{
	KindCall: {
		setOf(fieldProcess, fieldOperation, fieldAttempt, fieldFingerprint),
		whoAndWhat | setOf(fieldAmount, fieldCurrency)},
	KindReturn: {
		setOf(fieldProcess, fieldOperation, fieldAttempt, fieldOutcome, fieldStatus),
		whoAndWhat | setOf(fieldAmount, fieldCurrency, fieldBody, fieldReplayed, fieldCharge)},
	KindUnanswered: {setOf(fieldProcess, fieldOperation, fieldAttempt), whoAndWhat},
	KindGiveUp:     {setOf(fieldProcess, fieldOperation), whoAndWhat},
	KindCharge: {
		setOf(fieldOperation, fieldAmount, fieldCurrency, fieldCharge),
		whoAndWhat | setOf(fieldProviderKey)},
	KindAbsorbed: {0, whoAndWhat | setOf(fieldProviderKey, fieldCharge, fieldAmount, fieldCurrency)},
	KindRefusal:  {0, whoAndWhat | setOf(fieldProviderKey, fieldAmount, fieldCurrency)},
	KindRefund:   {setOf(fieldOperation, fieldCharge), whoAndWhat | setOf(fieldAmount, fieldCurrency)},
	KindCrash:    {setOf(fieldProcess), whoAndWhat},
	KindSend:     {0, whoAndWhat | setOf(fieldProviderKey, fieldRequest, fieldRun)},
	KindWrite: {
		setOf(fieldState, fieldVersion),
		whoAndWhat | setOf(fieldFingerprint, fieldOutcome, fieldStatus, fieldBody, fieldCharge, fieldProviderKey,
			fieldRequest, fieldOwner, fieldRun, fieldInsert, fieldTombstone, fieldWindowFrom, fieldLeaseUntil)},
	KindForget: {setOf(fieldVersion), whoAndWhat},
	KindHeal:   {},
	KindEnd:    {},
}

var money = setOf(fieldAmount, fieldCurrency)

// misfit says what is wrong with the members that an event of this kind has.
func misfit(kind Kind, present fields) problem {
	if kind == KindNone || kind >= KindCount {
		return problem{`member "kind"`, "none"}
	}
	of := func(f field) string { return "member " + strconv.Quote(fieldNames[f]) }
	s := shapes[kind]
	surplus, missing := present&^(s.must|s.may), s.must&^present
	switch {
	case surplus != 0:
		return problem{"only members that go with kind " + strconv.Quote(kind.String()), of(surplus.first())}
	case missing != 0:
		return problem{of(missing.first()) + " with kind " + strconv.Quote(kind.String()), "none"}
	case present&money != 0 && present&money != money:
		return problem{"amount and currency together", "only " + of((present & money).first())}
	}
	return problem{}
}
