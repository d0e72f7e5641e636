package protocol

import (
	"fmt"
	"math/bits"
	"strings"
)

// Defect is one thing that a design does wrong, or one assumption that does
// not hold.
type Defect uint8

// The defects of designs, then the assumptions dropped. Doc says what each is.
const (
	CheckThenInsert Defect = iota
	NoReadBack
	ReadBackIgnoresOwner
	OwnerIsProcess
	NoFence
	KeyPerSend
	NoFingerprint
	UnknownMeansFailed
	ReplyBeforeSave
	OwnReply
	SettleAtOnce
	ClockAfterLookUp
	NoGuard
	SendAfterLease
	CollectUnfinished
	ShortRetention
	DeleteWhenUnknown
	NoMark
	ResendUnproven
	AcceptForeign
	SettleUnseen
	NoResolve
	LeaseIgnored
	BreakA1
	BreakA2
	BreakA3
	BreakA4
	BreakA5
	BreakA6
	BreakAS
	DefectCount // how many there are
)

var defects = [DefectCount]struct{ name, doc string }{
	CheckThenInsert:      {"CheckThenInsert", "the claim asks first and overwrites then"},
	NoReadBack:           {"NoReadBack", "a write that was not acknowledged counts as applied"},
	ReadBackIgnoresOwner: {"ReadBackIgnoresOwner", "the read after an unacknowledged write does not ask whose record it is"},
	OwnerIsProcess:       {"OwnerIsProcess", "the owner is the process and not the run"},
	NoFence:              {"NoFence", "updates do not compare the version"},
	KeyPerSend:           {"KeyPerSend", "each send has a provider key of its own"},
	NoFingerprint:        {"NoFingerprint", "other parameters are not noticed"},
	UnknownMeansFailed:   {"UnknownMeansFailed", "no answer counts as a decline"},
	ReplyBeforeSave:      {"ReplyBeforeSave", "the client hears the provider's answer before it is saved"},
	OwnReply:             {"OwnReply", "who loses the race tells what it knows itself"},
	SettleAtOnce:         {"SettleAtOnce", `"not found" counts although a send may still land`},
	ClockAfterLookUp:     {"ClockAfterLookUp", "the clock is read after the look-up"},
	NoGuard:              {"NoGuard", "sends although the provider may have forgotten the key"},
	SendAfterLease:       {"SendAfterLease", "sends although its lease is over"},
	CollectUnfinished:    {"CollectUnfinished", "the collector looks only at age"},
	ShortRetention:       {"ShortRetention", "a reply is forgotten while a retry may come"},
	DeleteWhenUnknown:    {"DeleteWhenUnknown", "the claim is deleted when no answer came"},
	NoMark:               {"NoMark", "no mark before the send, where the provider has no keys"},
	ResendUnproven:       {"ResendUnproven", "sent again although what was sent may still be approved"},
	AcceptForeign:        {"AcceptForeign", "any charge that look-up shows is taken for ours"},
	SettleUnseen:         {"SettleUnseen", "settled although the provider has no look-up"},
	NoResolve:            {"NoResolve", "a record whose owner died is in progress for ever"},
	LeaseIgnored:         {"LeaseIgnored", "resolves although the lease runs"},
	BreakA1:              {"BreakA1", "the provider forgets a key within the window"},
	BreakA2:              {"BreakA2", "a message outlives its lifetime"},
	BreakA3:              {"BreakA3", "the registry loses what it acknowledged"},
	BreakA4:              {"BreakA4", "a retry comes after the horizon"},
	BreakA5:              {"BreakA5", "look-up hides a charge longer than its lag"},
	BreakA6:              {"BreakA6", "the network doubles although declines are not stored"},
	BreakAS:              {"BreakAS", "a clock is further behind than the skew"},
}

// String returns the name, as the specification has it.
func (d Defect) String() string {
	if d < DefectCount {
		return defects[d].name
	}
	return fmt.Sprintf("Defect(%d)", uint8(d))
}

// Doc returns what the design does, in a phrase.
func (d Defect) Doc() string {
	if d < DefectCount {
		return defects[d].doc
	}
	return ""
}

// ParseDefect is the inverse of String. It returns an error that lists the
// names for anything else.
func ParseDefect(name string) (Defect, error) {
	names := make([]string, DefectCount)
	for d := range DefectCount {
		if names[d] = defects[d].name; names[d] == name {
			return d, nil
		}
	}
	return 0, fmt.Errorf("protocol: no defect is called %q; there are %s", name, strings.Join(names, ", "))
}

// Defects is a set of defects. Its zero value is the protocol as it should be.
type Defects uint32

// With returns the set with d in it.
func (s Defects) With(d Defect) Defects { return s | 1<<d }

// Without returns the set with d not in it.
func (s Defects) Without(d Defect) Defects { return s &^ (1 << d) }

// Has reports whether d is in the set.
func (s Defects) Has(d Defect) bool { return s>>d&1 == 1 }

// String returns the names, joined by commas, or "none".
func (s Defects) String() string {
	if s == 0 {
		return "none"
	}
	names := make([]string, 0, bits.OnesCount32(uint32(s)))
	for d := range DefectCount {
		if s.Has(d) {
			names = append(names, d.String())
		}
	}
	return strings.Join(names, ",")
}
