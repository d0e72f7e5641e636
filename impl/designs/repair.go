package designs

import "github.com/chargeonce/chargeonce/impl"

// Repair is a design in which one thing is put right and all else is as it
// was.
type Repair struct {
	What   string // a decision of the twin, or a part of the design
	Rule   string // how the reference has it
	Size   Size
	Design impl.Design
}

// Size is how much of a design is put right.
type Size int

// The sizes, the smallest first.
const (
	OneDecision Size = iota
	AllDecisions
	OnePart
	TwoParts
)

const allDecisions = "all decisions"

// rules are the decisions that a twin may take otherwise than the reference,
// and what the reference does.
var rules = []struct {
	name, rule string
	put        func(*twin, impl.Config, impl.Ports)
}{
	{"claim", "a claim keeps what follows from its request, and nothing else", func(t *twin, _ impl.Config, _ impl.Ports) { t.claim = nil }},
	{"known", "a record answers requests of its own fingerprint only", func(t *twin, _ impl.Config, _ impl.Ports) { t.known = nil }},
	{"replay", "a finished record is told as it is stored", func(t *twin, _ impl.Config, _ impl.Ports) { t.replay = nil }},
	{"busy", "while an owner works, others hear \"in progress\" and write nothing", func(t *twin, _ impl.Config, _ impl.Ports) { t.busy = nil }},
	{"lease-over", "a lease keeps others off until it is over, and no longer", func(t *twin, _ impl.Config, _ impl.Ports) { t.leaseOver = nil }},
	{"mark", "nothing that the claim settled is written again before a send", func(t *twin, _ impl.Config, _ impl.Ports) { t.mark = nil }},
	{"may-send", "each send, the first too, is permitted by the sender's lease and the provider's window", func(t *twin, _ impl.Config, _ impl.Ports) { t.maySend = nil }},
	{"request", "every send has the bytes and the key that the claim stored", func(t *twin, _ impl.Config, _ impl.Ports) { t.request = nil }},
	{"unsure", "an unknown outcome writes nothing, and the client hears \"in progress\"", func(t *twin, _ impl.Config, _ impl.Ports) { t.unsure = nil }},
	{"resolve", "who finds a lease over looks up first, and then writes once", func(t *twin, _ impl.Config, _ impl.Ports) { t.resolve = nil }},
	{"look", "the clock is read before the look-up", func(t *twin, _ impl.Config, _ impl.Ports) { t.look = nil }},
	{"not-found", "that no charge is found decides nothing until no send can land any more", func(t *twin, _ impl.Config, _ impl.Ports) { t.notFound = nil }},
	{"can-send", "the window runs from the claim, less a message's lifetime and the clocks' skew", func(t *twin, _ impl.Config, _ impl.Ports) { t.canSend = nil }},
	{"dead", "a send is dead when lease, message lifetime, look-up lag and skew are over", func(t *twin, _ impl.Config, _ impl.Ports) { t.dead = nil }},
	{"resend", "a second send may follow at once only where the provider collapses declines too", func(t *twin, _ impl.Config, _ impl.Ports) { t.resend = nil }},
	{allDecisions, "each of them as the reference takes it", func(t *twin, _ impl.Config, _ impl.Ports) { t.decisions = decisions{} }},
	{"ports", "the registry and the provider are used as they are", func(t *twin, _ impl.Config, given impl.Ports) { t.ports = given }},
	{"configuration", "the configuration is what Validate has seen", func(t *twin, given impl.Config, _ impl.Ports) { t.cfg = given }},
}

// Repairs puts right one thing after the other: each decision, if the design's
// handler or reconciler is a twin of the reference, and then each part of the
// design. The reference of a design that compensates is the one that does.
// What a design has right already is put right too, to no effect.
func Repairs(d impl.Design) (all []Repair) {
	for _, r := range rules {
		of := d
		of.Handler = func(cfg impl.Config, ports impl.Ports) impl.Handler {
			h := d.Handler(cfg, ports)
			if t, ok := h.(*twin); ok {
				r.put(t, cfg, ports)
			}
			return h
		}
		if d.Reconciler != nil {
			of.Reconciler = func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
				sweeper := d.Reconciler(cfg, ports)
				if t, ok := sweeper.(*twin); ok {
					r.put(t, cfg, ports)
				}
				return sweeper
			}
		}
		size := OneDecision
		if r.name == allDecisions {
			size = AllDecisions
		}
		all = append(all, Repair{What: r.name, Rule: r.rule, Size: size, Design: of})
	}
	right := reference()
	if d.Compensates {
		right = journalAndCompensate()
	}
	for _, p := range []struct {
		what, rule string
		size       Size
		put        func(*impl.Design)
	}{
		{"client", "the client of " + right.Name + ": one key for each payment, journaled, and sent until an answer is final", OnePart, func(of *impl.Design) { of.Client = right.Client }},
		{"handler", "the handler of " + right.Name, OnePart, func(of *impl.Design) { of.Handler = right.Handler }},
		{"reconciler", "the reconciler of " + right.Name, OnePart, func(of *impl.Design) { of.Reconciler = right.Reconciler }},
		{"configuration", "the configuration of " + right.Name, OnePart, func(of *impl.Design) { of.Tune = right.Tune }},
		{"statements", "the registry's statements as they are", OnePart, func(of *impl.Design) { of.Registry = right.Registry }},
		{"handler and reconciler", "those of " + right.Name, TwoParts, func(of *impl.Design) { of.Handler, of.Reconciler = right.Handler, right.Reconciler }},
	} {
		of := d
		p.put(&of)
		all = append(all, Repair{What: p.what, Rule: p.rule, Size: p.size, Design: of})
	}
	return all
}
