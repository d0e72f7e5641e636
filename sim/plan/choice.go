package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// Class is a kind of fault. Its name is what -faults takes and what reports
// count under.
type Class uint8

// The classes. ClassNone is the benign choice.
const (
	ClassNone Class = iota
	ClassDrop
	ClassDuplicate
	ClassHold
	ClassHoldUntil
	ClassCutLink
	ClassCutNode
	ClassStallLink
	ClassStallNode
	ClassCrash
	ClassPause
	ClassSkew
	ClassJump
	ClassRefuse
	ClassFreeze
	ClassDecline
	ClassFailBefore
	ClassFailAfter
	ClassLate
	ClassLag
	ClassForgetKeys
	ClassHoldBeyond
	ClassPauseBeyond
	ClassLoseWrite
	ClassStaleRead
	ClassPastHorizon
	ClassLagBeyond
	ClassDuplicateUnstored
	ClassSkewBeyond
	ClassCount
)

// Bound is how long, or which way, a choice goes.
type Bound uint8

// The bounds.
const (
	BoundNone         Bound = iota
	BoundShort              // overtaken by what follows, nothing times out
	BoundPastTimeout        // past the time-out of whoever waits
	BoundPastLease          // past the lease of whoever owns the record
	BoundToMaximum          // to the last legal instant, MessageLifetime
	BoundPastMaximum        // past the instant at which everything counts as dead, and past the retry horizon
	BoundPastWindow         // past the provider's window
	BoundPastHorizon        // past the retry horizon and the retention
	BoundUntil              // until the next STEP of PROCESS has ended
	BoundBy                 // by a duration
	BoundFast               // clock ahead by half of MaxClockSkew
	BoundSlow               // clock behind by half of MaxClockSkew
	BoundFastBeyond         // clock ahead by more than leases and lifetimes together
	BoundSlowBeyond         // clock behind by as much
	BoundAfterRestart       // crash: the process is back soon
	boundCount
)

var boundWords = [boundCount]string{
	"", "short", "past-timeout", "past-lease", "to-maximum", "past-maximum", "past-window", "past-horizon",
	"until", "by", "fast", "slow", "far-ahead", "far-behind", "",
}

// String returns the bound's word.
func (b Bound) String() string {
	if b < boundCount {
		return boundWords[b]
	}
	return fmt.Sprintf("bound(%d)", uint8(b))
}

// classInfo is what the vocabulary knows of a class.
type classInfo struct {
	name   string
	verb   string // the words in front of the site
	doc    string
	breaks impl.Assumption // "" is within the assumptions
	whats  []What
	bounds []Bound
}

var message = []What{WhatMessage}
var process = []What{WhatBefore, WhatDuring, WhatAfter}
var spans = []Bound{BoundPastTimeout, BoundPastLease}

var classes = [ClassCount]classInfo{
	ClassNone:              {name: "none"},
	ClassDrop:              {"drop", "drop", "a message is lost", "", message, nil},
	ClassDuplicate:         {"duplicate", "duplicate", "a message arrives twice", "", message, nil},
	ClassHold:              {"hold", "hold", "a message is late: short, past-timeout, past-lease, to-maximum, or by a duration", "", message, []Bound{BoundShort, BoundPastTimeout, BoundPastLease, BoundToMaximum, BoundBy}},
	ClassHoldUntil:         {"hold-until", "hold", "a message is late until a process has ended a step", "", message, []Bound{BoundUntil}},
	ClassCutLink:           {"cut-link", "cut link", "from this message on the link loses everything, for a time", "", message, spans},
	ClassCutNode:           {"cut-node", "cut node", "from this message on everything from and to its sender is lost, for a time", "", message, spans},
	ClassStallLink:         {"stall-link", "stall link", "from this message on the link keeps everything back, for a time", "", message, spans},
	ClassStallNode:         {"stall-node", "stall node", "from this message on everything from and to its sender is kept back, for a time", "", message, spans},
	ClassCrash:             {"crash", "crash", "a process dies, loses its memory and starts again", "", process, nil},
	ClassPause:             {"pause", "pause", "a process stands still for a time", "", process, []Bound{BoundShort, BoundPastTimeout, BoundPastLease, BoundToMaximum}},
	ClassSkew:              {"skew", "skew", "a process starts with its clock ahead or behind, within MaxClockSkew", "", []What{WhatClock}, []Bound{BoundFast, BoundSlow}},
	ClassJump:              {"jump", "jump", "a process's clock jumps, within MaxClockSkew", "", []What{WhatAfter}, []Bound{BoundFast, BoundSlow}},
	ClassRefuse:            {"refuse", "refuse", "the registry refuses a request: surely not applied", "", []What{WhatServe}, nil},
	ClassFreeze:            {"freeze", "freeze", "the registry or the provider stands still from this request on, for a time", "", []What{WhatServe}, spans},
	ClassDecline:           {"decline", "decline", "the provider declines a charge", "", []What{WhatServe}, nil},
	ClassFailBefore:        {"fail-before", "fail before", "the provider fails (500) and does nothing", "", []What{WhatServe}, nil},
	ClassFailAfter:         {"fail-after", "fail after", "the provider acts and then fails (500)", "", []What{WhatServe}, nil},
	ClassLate:              {"late", "late", "the provider answers 500 and acts later, within MessageLifetime", "", []What{WhatServe}, []Bound{BoundPastTimeout, BoundPastLease, BoundToMaximum}},
	ClassLag:               {"lag", "lag", "look-up does not show what is younger than LookupLag, or a replica of the registry what is younger than MessageLifetime", "", []What{WhatServe}, nil},
	ClassForgetKeys:        {"forget-keys", "forget", "the provider has forgotten its keys", impl.A1, []What{WhatServe}, nil},
	ClassHoldBeyond:        {"hold-beyond", "hold", "a message outlives MessageLifetime", impl.A2, message, []Bound{BoundPastMaximum, BoundPastWindow}},
	ClassPauseBeyond:       {"pause-beyond", "pause", "a process stands still between its clock reading and the send for longer than MessageLifetime", impl.A2, []What{WhatBefore}, []Bound{BoundPastMaximum, BoundPastWindow}},
	ClassLoseWrite:         {"lose-write", "lose", "the registry acknowledges a write and loses it in a failover", impl.A3, []What{WhatServe}, nil},
	ClassStaleRead:         {"stale-read", "stale", "the registry answers a read with the state before the last write (the reference survives it: what a read leads to is a compare-and-swap on what was read, or a send within its own lease)", impl.A3, []What{WhatServe}, nil},
	ClassPastHorizon:       {"past-horizon", "pause", "a client retries after the horizon", impl.A4, []What{WhatBefore}, []Bound{BoundPastHorizon}},
	ClassLagBeyond:         {"lag-beyond", "lag beyond", "from this look-up on none shows a charge, however old, until everything counts as dead", impl.A5, []What{WhatServe}, nil},
	ClassDuplicateUnstored: {"resend", "resend", "something below us sends a charge or a refund again, to a provider that does not collapse the two", impl.A6, message, nil},
	ClassSkewBeyond:        {"skew-beyond", "skew", "a clock is further off than MaxClockSkew", impl.AS, []What{WhatClock}, []Bound{BoundFastBeyond, BoundSlowBeyond}},
}

// String returns the class's name.
func (c Class) String() string {
	if c < ClassCount {
		return classes[c].name
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Doc says in one line what the class does.
func (c Class) Doc() string { return classes[c].doc }

// Breaks returns the assumption that the class breaks, "" if it is within all.
func (c Class) Breaks() impl.Assumption { return classes[c].breaks }

// Bounds returns the bounds that the class can have; none means BoundNone.
func (c Class) Bounds() []Bound { return classes[c].bounds }

// ParseClass is the inverse of String. The error lists the names.
func ParseClass(name string) (Class, error) {
	for c := ClassNone + 1; c < ClassCount; c++ {
		if classes[c].name == name {
			return c, nil
		}
	}
	var names []string
	for c := ClassNone + 1; c < ClassCount; c++ {
		names = append(names, classes[c].name)
	}
	return 0, fmt.Errorf("no fault class is called %q; they are %s", name, strings.Join(names, ", "))
}

// Choice is what the world does at a site. The zero value is benign.
type Choice struct {
	Class Class
	Bound Bound
	Until               // BoundUntil: until when
	By    time.Duration // BoundBy: how long
}

// Until is the end of a step of a process.
type Until struct {
	Step impl.Step
	Who  Process
}

// Deviation is a choice that is not benign, at its site.
type Deviation struct {
	Site   Site
	Choice Choice
}

// String returns the deviation as a line of a plan.
func (d Deviation) String() string {
	line := classes[d.Choice.Class].verb + " " + d.Site.String()
	switch d.Choice.Bound {
	case BoundNone, BoundAfterRestart:
	case BoundUntil:
		line += " until " + d.Choice.Step.String() + " of " + d.Choice.Who.String()
	case BoundBy:
		line += " by " + d.Choice.By.String()
	default:
		line += " " + d.Choice.Bound.String()
	}
	return line
}

// ParseDeviation is the inverse of String.
func ParseDeviation(line string) (Deviation, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Deviation{}, fmt.Errorf("an empty line is no deviation")
	}
	verb, rest := words[0], words[1:]
	if len(rest) > 0 {
		two := verb + " " + rest[0]
		if knownVerb(two) {
			verb, rest = two, rest[1:]
		}
	}
	if !knownVerb(verb) {
		return Deviation{}, fmt.Errorf("%q is no choice; the choices begin with %s", words[0], strings.Join(verbs(), ", "))
	}
	site, rest, err := parseSite(rest)
	if err != nil {
		return Deviation{}, err
	}
	choice, err := parseBound(rest)
	if err != nil {
		return Deviation{}, err
	}
	for c := ClassNone + 1; c < ClassCount; c++ {
		if classes[c].verb != verb {
			continue
		}
		choice.Class = c
		if choice.Fits(site) {
			return Deviation{site, choice}, nil
		}
	}
	return Deviation{}, fmt.Errorf("%q does not go with %q %s", verb, site, strings.Join(rest, " "))
}

// Fits reports whether the vocabulary knows the choice at such a site.
func (c Choice) Fits(s Site) bool {
	info := &classes[c.Class]
	ok := len(info.bounds) == 0 && c.Bound == BoundNone
	for _, b := range info.bounds {
		ok = ok || b == c.Bound
	}
	for _, w := range info.whats {
		if ok && w == s.What() && c.fitsPlace(s) {
			return true
		}
	}
	return false
}

// fitsPlace knows which process and step a class needs.
func (c Choice) fitsPlace(s Site) bool {
	who, step := s.Who().Kind(), s.Step()
	charge := step == impl.StepCharge || step == impl.StepRefund
	switch c.Class {
	case ClassRefuse:
		return who == Registry
	case ClassLoseWrite:
		return who == Registry && step != impl.StepReadBack && step != impl.StepSweep && step != impl.StepReadReplica
	case ClassStaleRead:
		return who == Registry && step == impl.StepReadBack
	case ClassDecline, ClassForgetKeys:
		return who == Provider && step == impl.StepCharge
	case ClassFailBefore, ClassFailAfter:
		return who == Provider && (charge || c.Class == ClassFailBefore)
	case ClassLate:
		return who == Provider && step == impl.StepCharge
	case ClassLag:
		return who == Provider && step == impl.StepLookUp || who == Registry && step == impl.StepReadReplica
	case ClassLagBeyond:
		return who == Provider && step == impl.StepLookUp
	case ClassPauseBeyond:
		return charge && who != Client
	case ClassPastHorizon:
		return who == Client && step == impl.StepRequest
	case ClassDuplicateUnstored:
		return s.Peer() == Provider && charge
	}
	return true
}

func parseBound(words []string) (Choice, error) {
	var c Choice
	switch {
	case len(words) == 0:
		return c, nil
	case words[0] == "until":
		if len(words) != 4 || words[2] != "of" {
			return c, fmt.Errorf("want until STEP of PROCESS, for example until look-up of reconciler-1")
		}
		step, err := impl.ParseStep(words[1])
		if err != nil {
			return c, err
		}
		who, err := ParseProcess(words[3])
		if err != nil {
			return c, err
		}
		return Choice{Bound: BoundUntil, Until: Until{step, who}}, nil
	case words[0] == "by":
		if len(words) != 2 {
			return c, fmt.Errorf("want by DURATION, for example by 12ms")
		}
		d, err := time.ParseDuration(words[1])
		if err != nil || d <= 0 {
			return c, fmt.Errorf("%q is no duration: want for example 12ms", words[1])
		}
		return Choice{Bound: BoundBy, By: d}, nil
	}
	for b := BoundNone + 1; b < boundCount; b++ {
		if len(words) == 1 && boundWords[b] == words[0] {
			return Choice{Bound: b}, nil
		}
	}
	return c, fmt.Errorf("%q is no bound: want one of %s, until STEP of PROCESS, by DURATION", strings.Join(words, " "),
		strings.Join(boundWords[BoundShort:BoundUntil], ", ")+", fast, slow, far-ahead, far-behind")
}

func knownVerb(v string) bool {
	for c := ClassNone + 1; c < ClassCount; c++ {
		if classes[c].verb == v {
			return true
		}
	}
	return false
}

func verbs() []string {
	var all []string
	for c := ClassNone + 1; c < ClassCount; c++ {
		seen := false
		for _, v := range all {
			seen = seen || v == classes[c].verb
		}
		if !seen {
			all = append(all, classes[c].verb)
		}
	}
	return all
}
