package refine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/linearizability/refine"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

const (
	ms    = time.Millisecond
	lease = 600 * ms
)

// keyed is a provider that stores declines under its keys.
func keyed() refine.Config {
	return refine.Config{
		Model:           protocol.Config{Keys: true, StoresDeclines: true, Declines: true, Lookups: true},
		MessageLifetime: time.Second, MaxClockSkew: 40 * ms, LookupLag: 50 * ms,
		ProviderWindow: 30 * time.Second, RetryHorizon: 8 * time.Second, HealthyRun: 500 * ms,
	}
}

// story writes down what a run of a system did with one operation.
type story struct {
	history.Steps
	now time.Duration
}

func newStory() *story {
	return &story{Steps: history.Steps{Operations: []history.OperationName{{Scope: "acme", Key: "k"}}}}
}

func (s *story) at(t time.Duration) *story {
	s.now = t
	return s
}

func (s *story) step(e history.Step) int32 {
	e.At = s.now
	s.Steps.Steps = append(s.Steps.Steps, e)
	return int32(len(s.Steps.Steps) - 1)
}

// begins is that a handler begins to answer an attempt that is made now.
func (s *story) begins(name string) int32 {
	s.Runs = append(s.Runs, history.Run{Name: name, Order: "order-1", Fingerprint: "f", Asked: s.now})
	run := int32(len(s.Runs) - 1)
	s.step(history.Step{Kind: history.StepBegin, Run: run, Call: history.Nowhere})
	return run
}

func (s *story) sweeps(name string) int32 {
	s.Runs = append(s.Runs, history.Run{Name: name, Reconciler: true})
	run := int32(len(s.Runs) - 1)
	s.step(history.Step{Kind: history.StepBegin, Run: run, Call: history.Nowhere})
	return run
}

func (s *story) calls(run int32, c history.Call) int32 {
	c.Run, c.Applied, c.Answered, c.Left = run, history.Nowhere, history.Nowhere, true
	s.Calls = append(s.Calls, c)
	call := int32(len(s.Calls) - 1)
	s.step(history.Step{Kind: history.StepCall, Run: run, Call: call})
	return call
}

// claims makes the call; the record that it would make is claimed until a
// lease from now.
func (s *story) claims(run int32) int32 {
	return s.calls(run, history.Call{
		Verb: history.VerbInsert, Purpose: "claim", Ref: "pk", Request: 7, State: history.StateClaimed, Fingerprint: "f",
		WindowFrom: s.now, LeaseUntil: s.now + lease,
	})
}

// updates makes the call, of a record that was claimed at an instant.
func (s *story) updates(run int32, purpose string, version uint64, state history.State, claimed time.Duration) int32 {
	c := history.Call{
		Verb: history.VerbUpdate, Purpose: purpose, Ref: "pk", Request: 7, Version: version, State: state, Fingerprint: "f",
		WindowFrom: claimed, LeaseUntil: claimed + lease,
	}
	switch state {
	case history.StateSucceeded:
		c.Outcome, c.Charge = history.OutcomePaid, "ch_1"
	case history.StateDeclined:
		c.Outcome = history.OutcomeDeclined
	}
	if purpose == "take-over" {
		c.LeaseUntil = s.now + lease
	}
	return s.calls(run, c)
}

func (s *story) charges(run int32) int32 {
	return s.calls(run, history.Call{Verb: history.VerbCharge, Purpose: "charge", Operation: history.Nowhere, Ref: "pk", Request: 7})
}

func (s *story) looksUp(run int32) int32 {
	return s.calls(run, history.Call{Verb: history.VerbLookup, Purpose: "look-up", Operation: history.Nowhere, Ref: "pk"})
}

func (s *story) reads(run int32) int32 {
	return s.calls(run, history.Call{Verb: history.VerbGet, Purpose: "read-back"})
}

// served is what became of a call; nobody hears of it.
func (s *story) served(call int32, e history.Step) int32 {
	e.Kind, e.Run, e.Call = history.StepServed, s.Calls[call].Run, call
	at := s.step(e)
	if e.Result == history.ResultApplied {
		s.Calls[call].Applied = at
	}
	return at
}

// heard is what became of a call, and its run hears of it.
func (s *story) heard(call int32, e history.Step) {
	s.Calls[call].Answered = s.served(call, e)
}

func record(result history.Result, version uint64, state history.State) history.Step {
	return history.Step{Result: result, Version: version, State: state}
}

func (s *story) ends(run int32, outcome history.Outcome) {
	e := history.Step{Kind: history.StepEnd, Run: run, Call: history.Nowhere, Outcome: outcome}
	if outcome == history.OutcomePaid {
		e.Charge = "ch_1"
	}
	s.step(e)
}

var captured = history.Step{Result: history.ResultCaptured, Charge: "ch_1"}

// pays is a handler that claims and pays, undisturbed.
func (s *story) pays(run int32) {
	s.heard(s.claims(run), record(history.ResultApplied, 1, history.StateClaimed))
	s.heard(s.charges(run), captured)
	s.heard(s.updates(run, "complete", 1, history.StateSucceeded, s.now), record(history.ResultApplied, 2, history.StateSucceeded))
	s.ends(run, history.OutcomePaid)
}

// follow returns the actions that the steps stand for.
func follow(s *story) (names []string, r refine.Result) {
	c := refine.New(keyed())
	c.Tell(func(t refine.Taken) { names = append(names, t.Action.String()) })
	r = c.Check(&s.Steps)
	return names, r
}

func TestStories(t *testing.T) {
	for _, c := range []struct {
		name string
		tell func(s *story)
		want string
	}{
		{"nothing goes wrong", func(s *story) {
			s.pays(s.begins("a"))
		}, "Claim(1, p); Charge(1); LandApproved of p under key 1 on v1 by run 1; Complete(1); Reply(1)"},
		{"the claim is applied and its answer is lost", func(s *story) {
			a := s.begins("a")
			claim := s.claims(a)
			s.at(10*ms).served(claim, record(history.ResultApplied, 1, history.StateClaimed))
			s.at(150*ms).heard(s.reads(a), record(history.ResultShown, 1, history.StateClaimed))
			s.charges(a)
			s.at(300*ms).ends(a, history.OutcomeInProgress)
		}, "ClaimUnanswered(1, p); LandLate of claim on v0 by run 1; ReadBack(1); Charge(1); TimeOutEarly(1); Reply(1)"},
		{"the claim is doubled, and the answer to the copy is heard", func(s *story) {
			a := s.begins("a")
			claim := s.claims(a)
			s.served(claim, record(history.ResultApplied, 1, history.StateClaimed))
			s.heard(claim, record(history.ResultShown, 1, history.StateClaimed))
			s.at(60*ms).heard(s.reads(a), record(history.ResultShown, 1, history.StateClaimed))
			s.ends(a, history.OutcomeInProgress)
		}, "Claim(1, p); Crash(1); Claim(1, p); Wait(1); Reply(1)"},
		{"a sweep finds the lease over, and its owner's clock is behind", func(s *story) {
			a := s.begins("a")
			s.heard(s.claims(a), record(history.ResultApplied, 1, history.StateClaimed))
			r := s.at(lease).sweeps("r")
			list := s.calls(r, history.Call{Verb: history.VerbUnfinished, Purpose: "sweep", Operation: history.Nowhere})
			s.heard(list, history.Step{Result: history.ResultListed})
			s.step(history.Step{Kind: history.StepListed, Run: r, Call: list, Version: 1, State: history.StateClaimed})
			s.at(lease + 30*ms).charges(a)
			s.heard(s.looksUp(r), history.Step{Result: history.ResultFound})
			s.ends(r, history.OutcomeNone)
		}, "Claim(1, p); LeaseEndsEarly; Sweep; ChargeBehind(1); LookUp(6) to reply; Reply(6)"},
		{"time goes by", func(s *story) {
			a := s.begins("a")
			s.heard(s.claims(a), record(history.ResultApplied, 1, history.StateClaimed))
			s.step(history.Step{Kind: history.StepDied, Run: a, Call: history.Nowhere})
			b := s.at(3 * time.Second).begins("b")
			s.heard(s.claims(b), record(history.ResultShown, 1, history.StateClaimed))
			s.heard(s.looksUp(b), history.Step{Result: history.ResultFound})
			s.heard(s.updates(b, "take-over", 1, history.StateClaimed, 0), record(history.ResultApplied, 2, history.StateClaimed))
		}, "Claim(1, p); Crash(1); LeaseEnds; SendsDie; Claim(1, p); LookUp(1) to take-over; TakeOver(1)"},
		{"an attempt is made in time and claims when nobody can ask any more", func(s *story) {
			s.pays(s.begins("a"))
			b := s.at(8 * time.Second).begins("b")
			s.at(9500*ms).heard(s.claims(b), record(history.ResultShown, 2, history.StateSucceeded))
			s.ends(b, history.OutcomePaid)
		}, "Claim(1, p); Charge(1); LandApproved of p under key 1 on v1 by run 1; Complete(1); Reply(1); ClaimUnanswered(1, p); HorizonEnds; ReadBack(1); Reply(1)"},
	} {
		s := newStory()
		c.tell(s)
		names, r := follow(s)
		if r.Divergence != nil {
			t.Errorf("%s: %s", c.name, r.Divergence.Sentence())
		}
		if got := strings.Join(names, "; "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestDivergences(t *testing.T) {
	for _, c := range []struct {
		name string
		tell func(s *story)
		want string
	}{
		{"a run sends although its lease is over", func(s *story) {
			a := s.begins("a")
			s.heard(s.claims(a), record(history.ResultApplied, 1, history.StateClaimed))
			s.at(lease + 41*ms).charges(a)
		}, "a calls charge for charge: the run sends although by every clock its lease is over; " +
			"the model is at [record claimed v1 of run 1 for p, lease over; run 1 at charge for p on v1, may send] " +
			"and after Charge(1) at [record claimed v1 of run 1 for p, lease over; run 1 at reply for p with in progress]"},
		{"a run settles while a send may land", func(s *story) {
			a := s.begins("a")
			s.heard(s.claims(a), record(history.ResultApplied, 1, history.StateClaimed))
			s.charges(a)
			b := s.at(lease + 100*ms).begins("b")
			s.heard(s.claims(b), record(history.ResultShown, 1, history.StateClaimed))
			s.heard(s.looksUp(b), history.Step{Result: history.ResultFound})
			s.updates(b, "settle", 1, history.StateDeclined, 0)
		}, "b's look-up: found: a run acts as if no send could land any more, and by no clock that is so; " +
			"the model is at [record claimed v1 of run 1 for p, lease over; run 1 at sent for p on v1; run 2 at look-up for p on v1; sent p under key 1 on v1 by run 1], " +
			"where it cannot do SendsDie"},
		{"a second charge moves money", func(s *story) {
			a := s.begins("a")
			s.heard(s.claims(a), record(history.ResultApplied, 1, history.StateClaimed))
			charge := s.charges(a)
			s.step(history.Step{Kind: history.StepCopied, Run: a, Call: charge})
			s.heard(charge, captured)
			s.served(charge, history.Step{Result: history.ResultCaptured, Charge: "ch_2"})
		}, "a's charge: captured, not heard of: the provider's ledger is not the model's; " +
			"the model is at [record claimed v1 of run 1 for p, lease runs; run 1 at complete for p on v1 with paid 1; charge 1 p under key 1]"},
		{"an attempt is made after the horizon", func(s *story) {
			s.pays(s.begins("a"))
			s.at(8041 * ms).begins("b")
		}, "b begins: the attempt was made after the retry horizon; the model is at [record succeeded v2 of a run that is over for p, reply paid 1; charge 1 p under key 1; told p: paid 1]"},
		{"a record is deleted that was not collected", func(s *story) {
			a := s.begins("a")
			s.heard(s.claims(a), record(history.ResultApplied, 1, history.StateClaimed))
			s.heard(s.calls(a, history.Call{Verb: history.VerbDelete, Purpose: "collect", Version: 1}), record(history.ResultApplied, 0, history.StateNone))
		}, "a's collect: applied (delete on version 1): a record is deleted that was not collected; " +
			"the model is at [record claimed v1 of run 1 for p, lease runs; run 1 at charge for p on v1, may send], where it cannot do Collect"},
	} {
		s := newStory()
		c.tell(s)
		_, r := follow(s)
		switch {
		case r.Divergence == nil:
			t.Errorf("%s: nothing diverges", c.name)
		case r.Divergence.Sentence() != c.want:
			t.Errorf("%s:\n%s\nwant\n%s", c.name, r.Divergence.Sentence(), c.want)
		}
	}
}

// An operation that outgrows the model is left alone, and others are judged.
func TestOutOfRoom(t *testing.T) {
	s := newStory()
	for i := range 6 {
		s.heard(s.claims(s.begins(fmt.Sprint("run-", i))), record(history.ResultShown, 1, history.StateClaimed))
		if i == 0 { // the first has claimed
			s.Steps.Steps[len(s.Steps.Steps)-1].Result = history.ResultApplied
			s.Calls[0].Applied = s.Calls[0].Answered
		}
	}
	names, r := follow(s)
	if r.Divergence != nil || r.Unjudged != 1 || len(names) != 5 {
		t.Errorf("%d operations are unjudged after %d actions: %v", r.Unjudged, len(names), r.Divergence)
	}
	s.Operations = append(s.Operations, history.OperationName{Scope: "acme", Key: "l"})
	b := s.begins("b")
	s.Runs[b].Operation, s.Runs[b].Order = 1, "order-2"
	s.ends(b, history.OutcomePaid)
	if _, r := follow(s); r.Divergence == nil || r.Divergence.Operation != "order-2" {
		t.Errorf("the other operation: %v", r.Divergence)
	}
}

// One checker judges run after run, and each as if it were the first.
func TestACheckerForgets(t *testing.T) {
	good, bad := newStory(), newStory()
	good.pays(good.begins("a"))
	bad.charges(bad.begins("a"))
	c := refine.New(keyed())
	for range 3 {
		if d := c.Check(&good.Steps).Divergence; d != nil {
			t.Fatal(d.Sentence())
		}
		if c.Check(&bad.Steps).Divergence == nil {
			t.Fatal("a charge without a claim is none of the model's")
		}
	}
}

// A space counts states that differ only in names once.
func TestSpace(t *testing.T) {
	space := refine.NewSpace(protocol.Config{Handlers: 2, Attempts: 1, Others: 1, Keys: true, StoresDeclines: true, Lookups: true})
	all, reached := space.States()
	if reached != 1 || all < 10 {
		t.Fatalf("%d of %d states are reached by nobody", reached, all)
	}
	in := keyed().Model
	in.Handlers, in.Unbounded = 5, true
	initial := protocol.Initial(&in)
	var taken []string
	for _, slot := range []protocol.Slot{4, 1} {
		for _, p := range []protocol.Parameters{protocol.Q, protocol.P} {
			next, ok := protocol.Take(&in, initial, protocol.Action{Kind: protocol.Claim, Slot: slot, Parameters: p})
			if !ok {
				t.Fatal("nobody may claim")
			}
			space.Visit(&in, refine.Transit{From: initial, Kind: protocol.Claim, To: next})
			taken = append(taken, fmt.Sprint(space.Transitions()[protocol.Claim].Taken))
		}
	}
	if !slices.Equal(taken, []string{"1", "1", "1", "1"}) || space.Elsewhere() != 0 {
		t.Errorf("%v transitions were taken one after the other, %d actions elsewhere", taken, space.Elsewhere())
	}
	if _, reached := space.States(); reached != 2 {
		t.Errorf("%d states are reached, want 2", reached)
	}
	missed := 0
	for kind, n := range space.Transitions() {
		missed += n.All - n.Taken
		if n.All > 0 && protocol.Kind(kind) == protocol.Overwrite {
			t.Error("a defect's action is in the space")
		}
	}
	if len(space.Missed()) != missed {
		t.Errorf("%d transitions are listed, and %d were missed", len(space.Missed()), missed)
	}
}
