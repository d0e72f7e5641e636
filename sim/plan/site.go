package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chargeonce/chargeonce/impl"
)

// What is the kind of question that a site asks.
type What uint8

// The kinds of sites.
const (
	WhatNone    What = iota
	WhatMessage      // a message leaves: "server-2→provider charge of …"
	WhatBefore       // a process is about to send: "server-2 before charge of …"
	WhatDuring       // its call is out: "server-2 during charge of …"
	WhatAfter        // its call was answered, or timed out: "server-2 after charge of …"
	WhatServe        // registry or provider handles a request: "provider charge of …"
	WhatClock        // a process starts: "server-2"
	whatCount
)

// Site is where a run could go more than one way: what is asked, who it
// happens to, with whom, at which step, whose attempt it belongs to, and
// which occurrence within that, packed into one comparable word. Two
// questions of one run never have the same site.
type Site uint64

// The layout of a Site, from the top: what 4 bits, who 8, peer 8, step 5,
// attempt 28, occurrence 11.
const (
	occurrenceBits = 11
	// MaxOccurrence is the highest occurrence that a site can name.
	MaxOccurrence = 1<<occurrenceBits - 1
)

// NewSite returns the site's first occurrence.
func NewSite(what What, who, peer Process, step impl.Step, of Attempt) Site {
	return Site(what)<<60 | Site(who)<<52 | Site(peer)<<44 | Site(step)<<39 | Site(of)<<occurrenceBits | 1
}

// Base returns the site without its occurrence.
func (s Site) Base() Site { return s &^ MaxOccurrence }

// Occurrence returns the n-th occurrence of the same site.
func (s Site) Nth(n int) Site { return s.Base() | Site(min(n, MaxOccurrence)) }

// What returns the kind of question.
func (s Site) What() What { return What(s >> 60) }

// Who returns the process that it happens to; for messages the sender.
func (s Site) Who() Process { return Process(s >> 52) }

// Peer returns the receiver of a message; otherwise 0.
func (s Site) Peer() Process { return Process(s >> 44) }

// Step returns the protocol step.
func (s Site) Step() impl.Step { return impl.Step(s>>39) & 31 }

// Attempt returns whose attempt it belongs to.
func (s Site) Attempt() Attempt { return Attempt(s>>occurrenceBits) & (1<<28 - 1) }

// Occurrence returns which occurrence it is, from 1.
func (s Site) Occurrence() int { return int(s & MaxOccurrence) }

// String returns the site as plans write it.
func (s Site) String() string {
	var b strings.Builder
	b.WriteString(s.Who().String())
	switch s.What() {
	case WhatMessage:
		b.WriteString("→" + s.Peer().String())
	case WhatBefore:
		b.WriteString(" before")
	case WhatDuring:
		b.WriteString(" during")
	case WhatAfter:
		b.WriteString(" after")
	}
	if s.What() != WhatClock {
		b.WriteString(" " + s.Step().String() + " of " + s.Attempt().String())
	}
	if n := s.Occurrence(); n > 1 {
		b.WriteString(" #" + strconv.Itoa(n))
	}
	return b.String()
}

// parseSite reads a site from the front of the words and returns the rest.
func parseSite(words []string) (Site, []string, error) {
	if len(words) == 0 {
		return 0, nil, fmt.Errorf("a site is missing: want for example %q", exampleSite)
	}
	what, name := WhatServe, words[0]
	var who, peer Process
	var err error
	from, to, message := strings.Cut(strings.ReplaceAll(name, "->", "→"), "→")
	if message {
		what = WhatMessage
		if peer, err = ParseProcess(to); err != nil {
			return 0, nil, err
		}
	}
	if who, err = ParseProcess(from); err != nil {
		return 0, nil, err
	}
	words = words[1:]
	if len(words) > 0 && !message {
		switch words[0] {
		case "before":
			what, words = WhatBefore, words[1:]
		case "during":
			what, words = WhatDuring, words[1:]
		case "after":
			what, words = WhatAfter, words[1:]
		}
	}
	if what == WhatServe && who.Kind() != Registry && who.Kind() != Provider {
		site := NewSite(WhatClock, who, 0, 0, 0)
		return site, words, nil
	}
	if len(words) < 3 || words[1] != "of" {
		return 0, nil, fmt.Errorf("the site at %q is cut short: want STEP of ATTEMPT, for example %q", name, exampleSite)
	}
	step, err := impl.ParseStep(words[0])
	if err != nil {
		return 0, nil, err
	}
	attempt, err := ParseAttempt(words[2])
	if err != nil {
		return 0, nil, err
	}
	site := NewSite(what, who, peer, step, attempt)
	words = words[3:]
	if len(words) > 0 && strings.HasPrefix(words[0], "#") {
		n, err := strconv.Atoi(words[0][1:])
		if err != nil || n < 2 || n > MaxOccurrence || strconv.Itoa(n) != words[0][1:] {
			return 0, nil, fmt.Errorf("%q is no occurrence: want #2 to #%d", words[0], MaxOccurrence)
		}
		site, words = site.Nth(n), words[1:]
	}
	return site, words, nil
}

const exampleSite = "server-2→provider charge of client-1/order-1/try-2"
