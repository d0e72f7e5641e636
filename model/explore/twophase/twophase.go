// Package twophase is two-phase commit as a model for package explore: that of
// Gray and Lamport, "Consensus on Transaction Commit", as their TLA+ module
// TwoPhase writes it, action by action. It shows how a model is written, and
// its counts of states are known from elsewhere.
//
// A transaction manager and some resource managers agree on commit or abort.
// Messages are a set that only grows: one that was sent may be received at any
// later time, again and again, or never. Nobody crashes.
//
// The rule it keeps: what the specification enumerates is enumerated, steps
// that change nothing included, or the counts would differ.
package twophase

import (
	"fmt"
	"strings"

	"github.com/chargeonce/chargeonce/model/explore"
)

// MaxManagers is how many resource managers fit into a State.
const MaxManagers = 15

// State is everything in one word: 4 bits of the transaction manager, then 4
// bits of each resource manager, those of the first lowest.
type State uint64

// The bits of the transaction manager. Commit and Abort are sent by its
// decision and by nothing else, so their bits are also those of the messages.
const (
	commitSent State = 1 << 0
	abortSent  State = 1 << 1
)

// The bits of a resource manager. Working is none of the first two, committed
// is both.
const (
	prepared     State = 1
	aborted      State = 2
	committed    State = 3
	status       State = 3      // the mask of the above
	preparedSent State = 1 << 2 // it sent Prepared
	preparedSeen State = 1 << 3 // the transaction manager received that
)

func shift(rm int) int { return 4 + 4*rm }

// of returns the bits of one resource manager.
func (s State) of(rm int) State { return s >> shift(rm) & 15 }

// with returns s with another status of one resource manager.
func (s State) with(rm int, to State) State {
	return s&^(status<<shift(rm)) | to<<shift(rm)
}

// each returns the given bits in each of n resource managers.
func each(n int, set State) State {
	var s State
	for rm := range n {
		s |= set << shift(rm)
	}
	return s
}

// The actions. Those that concern a resource manager are the constant plus its
// number, which is below 16.
const (
	commit explore.Action = 16 * iota
	abort
	receivePrepared
	prepare
	chooseToAbort
	receiveCommit
	receiveAbort
)

var actionNames = [...]string{"TMCommit", "TMAbort", "TMRcvPrepared", "RMPrepare", "RMChooseToAbort", "RMRcvCommitMsg", "RMRcvAbortMsg"}

func actionName(a explore.Action) string {
	name := actionNames[a/16]
	if a < receivePrepared {
		return name
	}
	return fmt.Sprintf("%s(r%d)", name, a%16+1)
}

// Model returns the model with n resource managers, from 1 to MaxManagers,
// without fairness: Consistent, and both outcomes as Sometimes. It panics if n
// is outside.
func Model(n int) explore.Model[State] {
	if n < 1 || n > MaxManagers {
		panic(fmt.Sprintf("twophase: %d resource managers, from 1 to %d are possible", n, MaxManagers))
	}
	low, high := each(n, 1), each(n, 2)
	return explore.Model[State]{
		Initial:    func() []State { return []State{0} },
		Next:       func(steps []explore.Step[State], s State) []explore.Step[State] { return next(n, steps, s) },
		ActionName: actionName,
		Canonical:  func(s State) State { return sorted(n, s) },
		Properties: []explore.Property[State]{
			explore.Always("Consistent", func(s State) bool {
				oneCommitted := s&low&(s&high>>1) != 0
				oneAborted := s&high&^(s&low<<1) != 0
				return !oneCommitted || !oneAborted
			}),
			explore.Sometimes("AllCommit", func(s State) bool { return s&(low|high) == low|high }),
			explore.Sometimes("AllAbort", func(s State) bool { return s&(low|high) == high }),
		},
	}
}

// AllDecide is the liveness property that in the end every resource manager has
// committed or aborted. It holds under Fairness and not without.
func AllDecide(n int) explore.Property[State] {
	high := each(n, 2)
	return explore.Eventually("AllDecide", func(s State) bool { return s&high == high })
}

// Fairness is that the transaction manager does not wait for ever and that
// each resource manager receives what was decided, all weakly fair.
func Fairness(n int) []explore.Fairness {
	fair := []explore.Fairness{{Actions: []explore.Action{abort}}}
	for rm := range n {
		r := explore.Action(rm)
		fair = append(fair,
			explore.Fairness{Actions: []explore.Action{receiveCommit + r}},
			explore.Fairness{Actions: []explore.Action{receiveAbort + r}})
	}
	return fair
}

// next appends the steps from s.
func next(n int, steps []explore.Step[State], s State) []explore.Step[State] {
	add := func(a explore.Action, to State) { steps = append(steps, explore.Step[State]{Action: a, Next: to}) }
	undecided := s&(commitSent|abortSent) == 0
	if seen := each(n, preparedSeen); undecided && s&seen == seen {
		add(commit, s|commitSent)
	}
	if undecided {
		add(abort, s|abortSent)
	}
	for rm := range n {
		r := explore.Action(rm)
		if undecided && s.of(rm)&preparedSent != 0 {
			add(receivePrepared+r, s|preparedSeen<<shift(rm))
		}
		if s.of(rm)&status == 0 {
			add(prepare+r, s.with(rm, prepared)|preparedSent<<shift(rm))
			add(chooseToAbort+r, s.with(rm, aborted))
		}
		if s&commitSent != 0 {
			add(receiveCommit+r, s.with(rm, committed))
		}
		if s&abortSent != 0 {
			add(receiveAbort+r, s.with(rm, aborted))
		}
	}
	return steps
}

// sorted puts the resource managers, which are alike, in the order of their
// bits.
func sorted(n int, s State) State {
	var count [16]int
	for rm := range n {
		count[s.of(rm)]++
	}
	out, rm := s&15, 0
	for bits, c := range count {
		for range c {
			out |= State(bits) << shift(rm)
			rm++
		}
	}
	return out
}

// String shows a state as one line: the decision, then the status of each
// resource manager up to the last that is not as it was at the start, with "!"
// if its Prepared was sent and "!!" if it was received.
func (s State) String() string {
	var b strings.Builder
	b.WriteString([...]string{"undecided", "commit", "abort"}[s&3])
	for rest := s >> 4; rest != 0; rest >>= 4 {
		b.WriteString([...]string{" working", " prepared", " aborted", " committed"}[rest&status])
		switch {
		case rest&preparedSeen != 0:
			b.WriteString("!!")
		case rest&preparedSent != 0:
			b.WriteString("!")
		}
	}
	return b.String()
}
