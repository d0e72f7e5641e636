package retention

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// least keeps replies for the least that is enough.
var least = Config{Horizon: 1, Life: 1, Skew: 1, Tombstone: 1, Window: 3, Others: true}

// reach returns every reachable state.
func reach(c *Config) []State {
	all := Initial(c)
	seen := make(map[State]bool)
	for _, s := range all {
		seen[s] = true
	}
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
	reused, reaped, unfenced, lost := least, least, least, least
	reused.Others, reused.Reuses, reused.FenceIgnoresOwner = false, true, true
	reaped.CollectUnfinished = true
	unfenced.Others, unfenced.Reuses, unfenced.CollectUnfenced = false, true, true
	lost.BreakA3 = true
	var happens [kindCount]bool
	for _, c := range []Config{reused, reaped, unfenced, lost} {
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
	c := least
	c.Late, c.Unsteady, c.FromClaim = 1, true, true
	for _, s := range reach(&c) {
		if s.Record.Expires < Over || int(s.Record.Expires) > c.Retention()+c.Skew || s.Until < c.FarUntil() || int(s.Until) > c.Horizon+c.Skew || int(s.Key.Age) > c.Window {
			t.Fatalf("%+v", s)
		}
		for w := range senders {
			if s.Requests[w] < Over || int(s.Requests[w]) > c.Life || s.Inserts[w] < Over || int(s.Inserts[w]) > c.Life {
				t.Fatalf("%+v", s)
			}
		}
	}
}

// TestWhatWasToldIsASet: the order of answers is not part of the state, and
// none is taken for another.
func TestWhatWasToldIsASet(t *testing.T) {
	telling := rapid.Custom(func(t *rapid.T) Telling {
		return Telling{
			rapid.SampledFrom([]Sender{P, Q, Again}).Draw(t, "to"),
			Said(rapid.IntRange(1, int(saidCount)-1).Draw(t, "says")),
			rapid.SampledFrom([]Sender{P, Q, Again}).Draw(t, "of"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		tellings := rapid.SliceOfDistinct(telling, rapid.ID[Telling]).Draw(t, "tellings")
		var once, twice State
		for i := range tellings {
			once.tell(tellings[i])
			twice.tell(tellings[len(tellings)-1-i])
			twice.tell(tellings[len(tellings)-1-i])
		}
		if once != twice {
			t.Fatalf("%v and %v", once.Told(), twice.Told())
		}
		told := make(map[Telling]bool)
		for _, telling := range once.Told() {
			told[telling] = true
		}
		for _, telling := range tellings {
			if !told[telling] || len(told) != len(tellings) {
				t.Fatalf("%v are %v", tellings, once.Told())
			}
		}
	})
}

func TestRetention(t *testing.T) {
	for _, tt := range []struct {
		change func(*Config)
		want   int
	}{
		{func(*Config) {}, 4},
		{func(c *Config) { c.Slack = 2 }, 6},
		{func(c *Config) { c.ForgetsHop = true }, 3},
		{func(c *Config) { c.ForgetsHops = true }, 2},
		{func(c *Config) { c.ForgetsSkew = true }, 3},
	} {
		c := least
		tt.change(&c)
		if got := c.Retention(); got != tt.want {
			t.Errorf("%+v keeps for %d, want %d", c, got, tt.want)
		}
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
	err := (&Config{Horizon: -1, Life: 21, Skew: 7, Slack: -1, Tombstone: 21, Late: -1}).Validate()
	if err == nil {
		t.Fatal("it is accepted")
	}
	for _, name := range []string{"Horizon", "Life", "Skew", "Slack", "Tombstone", "Window", "Late"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in %v", name, err)
		}
	}
	if err := least.Validate(); err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		Action{Insert, LateQ, 1}:         "Insert(lateQ, 1)",
		Action{Kind: Arrive}:             "Arrive(p)",
		Action{Kind: DropBody, Error: 1}: "DropBody(1)",
		Action{Kind: Tick}:               "Tick",
		Action{Kind: kindCount}:          "action(14)",
		SaidGoneTooSoon:                  "gone too soon",
		InReview:                         "review",
		RecordState(9):                   "state(9)",
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
