package behaviour

import (
	"slices"

	"github.com/chargeonce/chargeonce/model/protocol"
)

// saying is what a clock has to say: which bounds are behind, which are ahead.
type saying struct{ behind, ahead []bound }

// whatever is what a clock says on which nothing depends.
var whatever saying

func past(b ...bound) saying { return saying{behind: b} }
func not(b ...bound) saying  { return saying{ahead: b} }

func (s saying) and(o saying) saying {
	return saying{append(s.behind[:len(s.behind):len(s.behind)], o.behind...), append(s.ahead[:len(s.ahead):len(s.ahead)], o.ahead...)}
}

// facts are the actions that are that a fact comes true: the first clock says
// so.
var facts = map[protocol.Kind]bound{
	protocol.LeaseEnds: leaseEnd, protocol.LeaseEndsEarly: leaseEnd, protocol.SendsDie: death,
	protocol.WindowCloses: roomEnd, protocol.HorizonEnds: horizonEnd,
}

// agrees reports whether a clock may say that by the model's facts. What the
// model calls true some clock has said. One that is behind may still say
// otherwise, but that is another action. Of a record that has changed since
// the run has read it there are no facts.
func agrees(s *step, says saying) bool {
	if s.stale() {
		return true
	}
	rec := s.from.Record()
	over, closed := rec.Lease != protocol.LeaseRuns, rec.Window != protocol.WindowOpen
	come := [boundCount]bool{
		leaseEnd: over, sendEnd: over, death: rec.Lease == protocol.LeaseDead,
		roomEnd: closed, guardEnd: closed, horizonEnd: !s.from.Asking(),
	}
	isTrue := func(b bound) bool { return come[b] }
	isNot := func(b bound) bool { return !come[b] }
	return !slices.ContainsFunc(says.behind, isNot) && (fallsBehind(s.Kind) || !slices.ContainsFunc(says.ahead, isTrue))
}

// leads are the sayings of a clock that lead from a look-up to where the model
// goes; none if the record, as the run has read it, leads elsewhere whatever
// the clock says. Of a run whose record has changed since, the model does not
// know what it has read.
func (c *schedule) leads(s *step) []saying {
	m, read := &c.world.Model, c.runs[s.run].rec.state
	wanted := c.world.handles(s.slot) || m.RollForward
	neverSent := !m.Keys && read == protocol.Claimed
	joins := m.Keys && m.StoresDeclines || neverSent // a second send joins the first, or is none
	provable := m.Lookups || neverSent               // that there was no charge
	found := m.Lookups && !hides(s.Kind) && len(s.from.Ledger()) > 0
	review := read == protocol.InReview
	switch to := s.after().At; {
	case to == protocol.AtComplete,
		found && (to == protocol.AtReview) != review,
		!found && review && to == protocol.AtReply:
		return []saying{whatever}
	case found || review:
		return nil
	case to == protocol.AtTakeOver && joins:
		return []saying{not(roomEnd)}
	case to == protocol.AtTakeOver && (m.Keys || m.Lookups):
		return []saying{not(roomEnd).and(past(death))}
	case to == protocol.AtSettle && provable && wanted:
		return []saying{past(death, roomEnd)}
	case to == protocol.AtSettle && provable:
		return []saying{past(death, horizonEnd), past(death, roomEnd)}
	case to == protocol.AtReview && !provable && m.Keys:
		return []saying{past(death, roomEnd)}
	case to == protocol.AtReview && !provable:
		return []saying{past(death)}
	case to != protocol.AtReply:
		return nil
	case wanted && joins:
		return []saying{not(death).and(past(roomEnd))}
	case wanted || !provable && !m.Keys:
		return []saying{not(death)}
	case provable:
		return []saying{not(death), not(roomEnd, horizonEnd)}
	default:
		return []saying{not(death), not(roomEnd)}
	}
}

// fallsBehind reports whether a clock that is behind is read in an action.
func fallsBehind(k protocol.Kind) bool {
	switch k {
	case protocol.ClaimBehind, protocol.WaitBehind, protocol.ReadBackBehind, protocol.ChargeBehind, protocol.LookUpBehind:
		return true
	default:
		return false
	}
}

// hides reports whether a look-up shows nothing of what there is.
func hides(k protocol.Kind) bool { return k == protocol.LookUpLags || k == protocol.LookUpBehind }
