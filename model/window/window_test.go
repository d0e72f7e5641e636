package window

import (
	"reflect"
	"strings"
	"testing"
)

// settle has longer lives than the others, so that most of the space is used.
var settle = Config{Runs: 2, Lease: 2, Life: 2, Skew: 1, Lag: 1, Window: 8, Lookups: true, Keys: true, Crashes: true}

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

// TestEveryActionHappens would fail for an action that cannot happen, which no
// invariant would ever miss. A label tells all that differs.
func TestEveryActionHappens(t *testing.T) {
	noLookups, late := settle, settle
	noLookups.Lookups = false
	late.ClockAfterLookUp = true
	var happens [kindCount]bool
	for _, c := range []Config{settle, noLookups, late} {
		for _, s := range reach(&c) {
			Next(&c, s, func(a Action, _ State) {
				happens[a.Kind] = true
				if got := ActionOf(a.Code()); got != a {
					t.Fatalf("%v comes back as %v", a, got)
				}
			})
		}
	}
	for k := range kindCount {
		if !happens[k] {
			t.Errorf("%v never happens", k)
		}
	}
}

// TestInstantsSaturate: however long a behaviour, time keeps within its bounds.
func TestInstantsSaturate(t *testing.T) {
	c := settle
	for _, s := range reach(&c) {
		last := int8(c.Skew + c.Lease)
		if s.Record.From < c.FarFrom() || s.Record.From > int8(c.Skew) || s.Record.Until < c.FarUntil() || s.Record.Until > last || s.Age > c.oldest() {
			t.Fatalf("%+v", s)
		}
		for _, m := range s.Messages() {
			if int(m.Life) > c.Life {
				t.Fatalf("%+v lives on in %+v", m, s)
			}
		}
		for h := range c.Runs {
			if r := s.runs[h]; r.Until < c.FarUntil() || r.Until > last || r.Read < c.FarRead() || r.Read > int8(c.Skew) {
				t.Fatalf("%+v", s)
			}
		}
	}
}

func TestMessagesAreASet(t *testing.T) {
	var s State
	late, early := Message{1, true, 3}, Message{2, true, 0}
	s.add(late)
	s.add(early)
	s.add(late)
	if got := s.Messages(); len(got) != 2 || got[0] != late || got[1] != early || !s.awaited(1) {
		t.Errorf("%+v", got)
	}
	s.unattended(1)
	if got := s.Messages(); got[0] != (Message{1, false, 3}) || s.awaited(1) || !s.awaited(2) {
		t.Errorf("%+v", got)
	}
	s.remove(Message{1, false, 3})
	s.remove(early)
	if !s.Quiet() || s != (State{}) {
		t.Errorf("%+v", s)
	}
}

func TestDefectsAreFields(t *testing.T) {
	fields := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		fields[f.Name] = f.Type.Kind() == reflect.Bool
	}
	for _, d := range Defects {
		if !fields[d.Name] || d.Doc == "" {
			t.Errorf("%+v is no field of Config", d)
		}
	}
}

func TestValidateReportsEveryProblem(t *testing.T) {
	err := (&Config{Runs: 3, Lease: 1, Life: 8, Skew: -1, Window: 31}).Validate()
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, name := range []string{"Runs", "Life", "Skew", "Window"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if err := settle.Validate(); err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for a, want := range map[Action]string{
		{Kind: Claim, Slot: 2, Error: 1}:                                 "Claim(2, 1)",
		{Kind: LookUp, Slot: 1, Way: AtTakeOver}:                         "LookUp(1, nothing, take-over)",
		{Kind: LookUpFirst, Slot: 1, Shows: true}:                        "LookUpFirst(1, a charge)",
		{Kind: ReadClock, Slot: 1, Error: 1, Way: AtSettle, Shows: true}: "ReadClock(1, 1, settle)",
		{Kind: Crash, Slot: 1}:                                           "Crash(1)",
		{Kind: Tick}:                                                     "Tick",
		{Kind: kindCount}:                                                "Kind(15)(0)",
	} {
		if got := a.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Claimed.String() + AtSent.String() + RecordState(9).String() + Place(9).String(); got != "claimedsentstate(9)place(9)" {
		t.Errorf("%q", got)
	}
}
