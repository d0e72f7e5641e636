package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Part is a part of a scenario: a client or a server, or else an order, from
// 1. What a plan leaves out of its scenario it names so, and the names of all
// other parts stay what they are.
type Part struct {
	Process Process // a client or a server; 0 for an order
	Order   int     // 0 for a process
}

// String returns "client-2", "server-1" or "order-3".
func (p Part) String() string {
	if p.Process != 0 {
		return p.Process.String()
	}
	return "order-" + strconv.Itoa(p.Order)
}

// ParsePart is the inverse of String.
func ParsePart(s string) (Part, error) {
	if number, ok := strings.CutPrefix(s, "order-"); ok {
		n, err := strconv.Atoi(number)
		if err == nil && n >= 1 && n <= MaxOrder && strconv.Itoa(n) == number {
			return Part{Order: n}, nil
		}
	} else if p, err := ParseProcess(s); err == nil && (p.Kind() == Client || p.Kind() == Server) {
		return Part{Process: p}, nil
	}
	return Part{}, fmt.Errorf("%q is no part of a scenario: want client-N, server-N (N from 1 to %d) or order-N (to %d)", clip(s), MaxIndex, MaxOrder)
}

func (p Part) compare(q Part) int {
	return cmp.Or(cmp.Compare(p.Order, q.Order), cmp.Compare(p.Process, q.Process))
}

// NamedBy reports whether a deviation cannot be without the part: it names it
// in its site or in its choice.
func (p Part) NamedBy(d Deviation) bool {
	attempt := d.Site.Attempt()
	if p.Process == 0 {
		return attempt.Order() == p.Order
	}
	return p.Process == d.Site.Who() || p.Process == d.Site.Peer() || p.Process == attempt.Actor() || p.Process == d.Choice.Who
}
