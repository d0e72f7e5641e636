package protocol

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// small is a world in which most things happen, and few enough to visit all.
func small() Config {
	return Config{
		Handlers: 1, Attempts: 1, Others: 1, Faults: 2, Reconciles: true,
		Keys: true, StoresDeclines: true, Declines: true, Lookups: true, Ages: true, GivesUp: true, Collects: true,
	}
}

// reach returns every reachable state.
func reach(c *Config) []State {
	all := []State{Initial(c)}
	seen := map[State]bool{all[0]: true}
	for i := 0; i < len(all); i++ {
		Next(c, all[i], func(_ Action, s State) {
			if !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		})
	}
	return all
}

func TestEncodingTellsStatesApart(t *testing.T) {
	c := small()
	states := reach(&c)
	encodings, texts := make(map[string]bool), make(map[string]bool)
	for _, s := range states {
		encodings[string(s.Encode(nil))] = true
		texts[s.String()] = true
	}
	if len(encodings) != len(states) {
		t.Errorf("%d states have %d encodings", len(states), len(encodings))
	}
	if len(texts) != len(states) {
		t.Errorf("%d states have %d texts", len(states), len(texts))
	}
}

func TestNextIsAFunctionOfTheState(t *testing.T) {
	c := small()
	type step struct {
		a Action
		s State
	}
	steps := func(s State) (all []step) {
		Next(&c, s, func(a Action, next State) { all = append(all, step{a, next}) })
		return all
	}
	for _, s := range reach(&c) {
		first, second := steps(s), steps(s)
		if len(first) != len(second) {
			t.Fatalf("%d steps, then %d, from %v", len(first), len(second), s)
		}
		for i := range first {
			if first[i] != second[i] {
				t.Fatalf("%v, then %v, from %v", first[i], second[i], s)
			}
		}
	}
}

// everyAction is each action that there might be in a state: any kind and run,
// with every message, write and parameters that the state or another one has.
func everyAction(messages []Message, writes []Write) (all []Action) {
	for k := range KindCount {
		for h := Slot(0); h <= maxSlots; h++ {
			for p := NoParameters; p <= ForeignParameters; p++ {
				all = append(all, Action{Kind: k, Slot: h, Parameters: p})
			}
			for to := range AtInsert {
				all = append(all, Action{Kind: k, Slot: h, To: to})
			}
		}
		for _, m := range messages {
			all = append(all, Action{Kind: k, Message: m})
		}
		for _, w := range writes {
			all = append(all, Action{Kind: k, Write: w})
		}
	}
	return all
}

// TestTakeIsNext holds the two against each other in each state of a small
// world: what Next tells of can be taken, with the same outcome, and nothing
// else can, whatever is asked for.
func TestTakeIsNext(t *testing.T) {
	c := small()
	states := reach(&c)
	messages, writes := []Message{{}}, []Write{{}}
	for _, s := range states {
		for _, m := range s.Messages() {
			if !slices.Contains(messages, m) {
				messages = append(messages, m)
			}
		}
		for _, w := range s.Late() {
			if !slices.Contains(writes, w) {
				writes = append(writes, w)
			}
		}
	}
	all := everyAction(messages, writes)
	for i, s := range states {
		told := make(map[Action]State)
		Next(&c, s, func(a Action, next State) {
			if was, twice := told[a]; twice {
				t.Fatalf("%v leads to %v and to %v from %v", a, was, next, s)
			}
			told[a] = next
			if got, ok := Take(&c, s, a); !ok || got != next {
				t.Fatalf("Next: %v leads to %v; Take: %v, %v; from %v", a, next, got, ok, s)
			}
		})
		if i%50 != 0 { // all actions take long, and one state is much like the next
			continue
		}
		for _, a := range all {
			got, ok := Take(&c, s, a)
			if _, is := told[named(a)]; ok != is || ok && told[named(a)] != got {
				t.Fatalf("%v can be taken to %v: %v, and Next says %v; from %v", a, got, ok, is, s)
			}
		}
	}
}

// named drops from an action what its kind does not look at.
func named(a Action) Action {
	n := Action{Kind: a.Kind, Slot: a.Slot}
	switch a.Kind {
	case Claim, ClaimUnanswered, ClaimBehind:
		n.Parameters = a.Parameters
	case LookUp, LookUpLags, LookUpBehind:
		n.To = a.To
	case LandApproved, LandDeclined, Lose, Duplicate:
		n.Message = a.Message
	case LandLate:
		n.Write = a.Write
	}
	return n
}

// TestUnboundedCountsNothing follows a client that asks more often, and dies
// more often, than any bound of the other world allows.
func TestUnboundedCountsNothing(t *testing.T) {
	c := small()
	c.Unbounded, c.Attempts, c.Faults = true, 0, 0
	s := Initial(&c)
	for i := range 20 {
		for _, k := range []Kind{Claim, Crash} {
			next, ok := Take(&c, s, Action{Kind: k, Slot: 1, Parameters: P})
			if !ok {
				t.Fatalf("%v is refused the time %d in %v", k, i+1, s)
			}
			s = next
		}
	}
	if s.Tries(P) != 0 || s.Budget() != 0 {
		t.Errorf("something is counted: %v", s)
	}
}

// TestEveryActionHappens would fail for an action that cannot happen, which no
// invariant would ever miss.
func TestEveryActionHappens(t *testing.T) {
	one := small() // at a time; what takes two faults takes two attempts
	one.Attempts = 2
	two := one
	two.Handlers, two.Faults = 2, 1
	keyless := two
	keyless.Keys, keyless.StoresDeclines, keyless.Others = false, false, 0
	noLookups := two
	noLookups.Lookups = false
	early, overwriting, lossy := small(), small(), small()
	early.Defects = early.Defects.With(ReplyBeforeSave)
	overwriting.Defects = overwriting.Defects.With(CheckThenInsert)
	lossy.Defects = lossy.Defects.With(BreakA3)
	var happens [KindCount]bool
	for _, c := range []Config{one, two, keyless, noLookups, early, overwriting, lossy} {
		for _, s := range reach(&c) {
			Next(&c, s, func(a Action, _ State) { happens[a.Kind] = true })
		}
	}
	for k := range KindCount {
		if !happens[k] {
			t.Errorf("%v never happens", k)
		}
	}
}

func TestPartsFitIntoAState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(name string, most int) uint8 { return uint8(rapid.IntRange(0, most).Draw(t, name)) }
		answer := func() Answer { return Answer{Said(small("says", 4)), small("charge", 6)} }
		parameters := func() Parameters { return Parameters(small("parameters", 3)) }
		slot := func() Slot { return Slot(small("slot", maxSlots)) }
		version := func() uint8 { return small("version", maxVersion) }
		flag := func() bool { return rapid.Bool().Draw(t, "flag") }

		var s State
		rec := Record{RecordState(small("state", 5)), version(), slot(), Lease(small("lease", 3)), Window(small("window", 3)), parameters(), answer()}
		s.setRecord(rec)
		if got := s.Record(); got != rec {
			t.Errorf("record %v comes out as %v", rec, got)
		}
		for h := Slot(1); h <= maxSlots; h++ {
			r := Run{Place(small("at", 12)), Step(small("step", 7)), parameters(), version(), answer(), flag()}
			s.setRun(h, r)
			if got := s.Run(h); got != r {
				t.Errorf("run %v comes out as %v", r, got)
			}
		}
		saved := rapid.SampledFrom([]Answer{{}, declined, {Paid, 1}, {Paid, maxCharges}}).Draw(t, "saved")
		w := Write{Step(small("step", 6) + 1), version(), slot(), parameters(), saved}
		s.addLate(w)
		if got := s.Late(); len(got) != 1 || got[0] != w {
			t.Errorf("write %v comes out as %v", w, got)
		}
		m := Message{slot(), version(), version(), flag(), Parameters(small("parameters", 1) + 1)}
		s.addMessage(m)
		if got := s.Messages(); len(got) != 1 || got[0] != m {
			t.Errorf("message %v comes out as %v", m, got)
		}
		c := Charge{version(), Parameters(small("parameters", 2) + 1), flag()}
		s.setCharge(1, c)
		if got, ok := s.Charge(1); !ok || got != c {
			t.Errorf("charge %v comes out as %v", c, got)
		}
	})
}

// TestSetsHaveOneForm: the order in which messages are sent is not part of
// the state.
func TestSetsHaveOneForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		versions := rapid.SliceOfNDistinct(rapid.IntRange(1, maxVersion), 1, maxMsgs, rapid.ID[int]).Draw(t, "versions")
		shuffled := rapid.Permutation(versions).Draw(t, "shuffled")
		send := func(versions []int) State {
			var s State
			for _, v := range versions {
				s.addMessage(Message{Version: uint8(v), Key: 1, Parameters: P})
				s.addMessage(Message{Version: uint8(v), Key: 1, Parameters: P})
			}
			return s
		}
		a, b := send(versions), send(shuffled)
		if a != b {
			t.Fatalf("%v and %v", a, b)
		}
		for _, v := range versions {
			removeFrom(b.msgs[:], Message{Version: uint8(v), Key: 1, Parameters: P}.pack())
		}
		if b != (State{}) {
			t.Fatalf("all messages were taken away, and there is %v", b)
		}
	})
}

func TestNoRoomPanics(t *testing.T) {
	defer func() {
		if out, ok := recover().(OutOfRoom); !ok || out.Of != "messages" {
			t.Errorf("panic %v", out)
		}
	}()
	var s State
	for v := range uint8(maxMsgs + 1) {
		s.addMessage(Message{Version: v + 1, Key: 1, Parameters: P})
	}
}

func TestNamesComeBack(t *testing.T) {
	for k := range KindCount {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%v comes back as %v, %v", k, got, err)
		}
		for h := Slot(0); h <= maxSlots; h++ {
			a := Action{Kind: k, Slot: h, Parameters: Q}
			if got := ActionOf(a.Code()); got != a {
				t.Errorf("%v comes back as %v", a, got)
			}
		}
	}
	for d := range DefectCount {
		if got, err := ParseDefect(d.String()); got != d || err != nil || d.Doc() == "" {
			t.Errorf("%v comes back as %v, %v", d, got, err)
		}
	}
	if _, err := ParseKind("Charg"); err == nil || !strings.Contains(err.Error(), "TakeOver") {
		t.Errorf("an unknown action: %v", err)
	}
	if _, err := ParseDefect("NoFense"); err == nil || !strings.Contains(err.Error(), "NoFence") {
		t.Errorf("an unknown defect: %v", err)
	}
	if got := Defects(0).With(NoFence).With(NoGuard).Without(NoGuard).String(); got != "NoFence" {
		t.Errorf("the set is %q", got)
	}
}

func TestSetRefusesWhatIsNoConstant(t *testing.T) {
	var c Config
	for _, line := range [][2]string{{"Handlers", "many"}, {"Keys", "yes"}, {"NoFense", "TRUE"}} {
		if err := c.Set(line[0], line[1]); err == nil {
			t.Errorf("%v is accepted", line)
		}
	}
	if err := c.Set("NoFence", "TRUE"); err != nil || !c.Defects.Has(NoFence) {
		t.Errorf("NoFence: %v, %v", c.Defects, err)
	}
	if err := c.Set("NoFence", "FALSE"); err != nil || c.Defects != 0 {
		t.Errorf("NoFence: %v, %v", c.Defects, err)
	}
}

func TestValidateReportsEveryProblem(t *testing.T) {
	c := Config{Handlers: 6, Attempts: 99, Faults: -1, Reconciles: true}
	err := c.Validate()
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, name := range []string{"Handlers", "Attempts", "Faults"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if c := small(); c.Validate() != nil {
		t.Error(c.Validate())
	}
}

func BenchmarkNext(b *testing.B) {
	c := small()
	states := reach(&c)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Next(&c, states[i%len(states)], func(Action, State) {})
	}
}

func BenchmarkTake(b *testing.B) {
	c := small()
	type step struct {
		s State
		a Action
	}
	var steps []step
	for _, s := range reach(&c) {
		Next(&c, s, func(a Action, _ State) { steps = append(steps, step{s, a}) })
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok := Take(&c, steps[i%len(steps)].s, steps[i%len(steps)].a); !ok {
			b.Fatal("refused")
		}
	}
}
