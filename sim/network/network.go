// Package network is what stands between two processes: base delays, and the
// links and nodes that are cut or stalled for a time.
//
// It decides nothing: which message is dropped, held or begins a partition is
// a choice of the plan. The rule it keeps: a delay is a function of the
// weather and the message's site alone.
package network

import "github.com/chargeonce/chargeonce/sim/plan"

// Config is the network's shape; nanoseconds.
type Config struct {
	Hop  int64 // delay of a message with weather 0
	Low  int64 // lowest delay with weather
	High int64 // delays with weather are below it
}

// barrier is a link or a node that passes nothing until an instant.
type barrier struct {
	from, to plan.Process // to is 0 for a node: everything from and to from
	until    int64
	stall    bool
}

// Network is the state of all links.
type Network struct {
	cfg      Config
	weather  uint64
	barriers []barrier
}

// Reset makes all links whole and sets the weather.
func (n *Network) Reset(cfg Config, weather uint64) {
	n.cfg, n.weather, n.barriers = cfg, weather, n.barriers[:0]
}

// Delay returns the base delay of the message of a site, in nanoseconds.
func (n *Network) Delay(site plan.Site) int64 {
	if n.weather == 0 {
		return n.cfg.Hop
	}
	h := plan.Mix(n.weather ^ plan.Mix(uint64(site)))
	return n.cfg.Low + int64(h%uint64(n.cfg.High-n.cfg.Low))
}

// Block closes the link from → to, or all links of from if to is 0, until an
// instant: what is sent meanwhile is lost, or kept until then (stall).
func (n *Network) Block(from, to plan.Process, until int64, kind Kind) {
	n.barriers = append(n.barriers, barrier{from: from, to: to, until: until, stall: kind == Stall})
}

// Kind says what becomes of what meets a barrier.
type Kind bool

// Cut loses, Stall keeps.
const (
	Cut   Kind = false
	Stall Kind = true
)

// Heal makes all links whole.
func (n *Network) Heal() { n.barriers = n.barriers[:0] }

// Passage is how a message fares on its link.
type Passage struct {
	Lost  bool
	Until int64 // not before this instant; 0 if nothing holds it
}

// Pass asks what becomes of a message that is sent now.
func (n *Network) Pass(now int64, from, to plan.Process) (p Passage) {
	for i := range n.barriers {
		b := &n.barriers[i]
		if b.until <= now || !b.stops(from, to) {
			continue
		}
		if !b.stall {
			p.Lost = true
		} else if b.until > p.Until {
			p.Until = b.until
		}
	}
	return p
}

func (b *barrier) stops(from, to plan.Process) bool {
	if b.to == 0 {
		return b.from == from || b.from == to
	}
	return b.from == from && b.to == to
}
