package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Process names a simulated process: a kind and a number from 1.
type Process uint8

// Kinds of processes, in the upper half of a Process.
const (
	Client     Process = 1 << 4
	Server     Process = 2 << 4
	Reconciler Process = 3 << 4
	Registry   Process = 4 << 4
	Provider   Process = 5 << 4
)

// MaxIndex is the highest number of a process of one kind.
const MaxIndex = 15

var kindNames = [6]string{"", "client", "server", "reconciler", "registry", "provider"}

// Kind returns the process's kind, one of the constants.
func (p Process) Kind() Process { return p &^ 15 }

// Index returns the process's number.
func (p Process) Index() int { return int(p & 15) }

// String returns "server-2"; the registry and the provider have no number.
func (p Process) String() string { return processNames[p] }

var processNames = func() (names [256]string) {
	for p := range names {
		kind, index := p>>4, p&15
		switch {
		case kind == 0 || kind >= len(kindNames):
			names[p] = fmt.Sprintf("process(%d)", p)
		case kind >= 4 && index == 0:
			names[p] = kindNames[kind]
		default:
			names[p] = kindNames[kind] + "-" + strconv.Itoa(index)
		}
	}
	return
}()

// ParseProcess is the inverse of String.
func ParseProcess(s string) (Process, error) {
	switch s {
	case "registry":
		return Registry, nil
	case "provider":
		return Provider, nil
	}
	kind, number, ok := strings.Cut(s, "-")
	n, err := strconv.Atoi(number)
	if ok && err == nil && n >= 1 && n <= MaxIndex && strconv.Itoa(n) == number {
		for i := 1; i <= 3; i++ {
			if kindNames[i] == kind {
				return Process(i<<4 | n), nil
			}
		}
	}
	return 0, fmt.Errorf("%q is no process: want client-N, server-N, reconciler-N (N from 1 to %d), registry or provider", s, MaxIndex)
}

// Attempt names whose attempt something belongs to: the n-th time that a
// client tries, or the reconciler looks at, an order. Order 0 is none: a
// sweep over all of them.
type Attempt uint32

// The bounds of an attempt's parts.
const (
	MaxOrder = 255
	MaxTry   = 4095
)

// NewAttempt returns the name of the try-th attempt of actor on order.
func NewAttempt(actor Process, order, try int) Attempt {
	return Attempt(actor)<<20 | Attempt(order&MaxOrder)<<12 | Attempt(min(try, MaxTry))
}

// Actor returns who tries.
func (a Attempt) Actor() Process { return Process(a >> 20) }

// Order returns the order's number, 0 for a sweep.
func (a Attempt) Order() int { return int(a>>12) & MaxOrder }

// Try returns which attempt it is, from 1.
func (a Attempt) Try() int { return int(a & MaxTry) }

// String returns "client-1/order-7/try-2" or "reconciler-1/sweep-3".
func (a Attempt) String() string {
	if a.Order() == 0 {
		return a.Actor().String() + "/sweep-" + strconv.Itoa(a.Try())
	}
	return a.Actor().String() + "/order-" + strconv.Itoa(a.Order()) + "/try-" + strconv.Itoa(a.Try())
}

// ParseAttempt is the inverse of String.
func ParseAttempt(s string) (Attempt, error) {
	parts := strings.Split(s, "/")
	bad := fmt.Errorf("%q is no attempt: want client-1/order-1/try-1, reconciler-1/order-1/try-1 or reconciler-1/sweep-1", s)
	actor, err := ParseProcess(parts[0])
	if err != nil || actor.Kind() != Client && actor.Kind() != Reconciler {
		return 0, bad
	}
	number := func(part, prefix string, most int) int {
		digits, ok := strings.CutPrefix(part, prefix)
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 1 || n > most || strconv.Itoa(n) != digits {
			return 0
		}
		return n
	}
	switch len(parts) {
	case 2:
		if n := number(parts[1], "sweep-", MaxTry); n > 0 && actor.Kind() == Reconciler {
			return NewAttempt(actor, 0, n), nil
		}
	case 3:
		order, try := number(parts[1], "order-", MaxOrder), number(parts[2], "try-", MaxTry)
		if order > 0 && try > 0 {
			return NewAttempt(actor, order, try), nil
		}
	}
	return 0, bad
}
