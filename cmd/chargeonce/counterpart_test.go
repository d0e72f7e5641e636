package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/model/retention"
	"github.com/chargeonce/chargeonce/model/window"
	"github.com/chargeonce/chargeonce/tla"
)

// fallsElsewhere says, by design, what falls in its counterpart where that is
// not what the design is known to break.
var fallsElsewhere = map[string]string{
	"lock-time-is-retention": "NotWedged",     // a client that gives up does not hear, one that goes on does not either
	"owner-is-process":       "SingleOwner",   // the checkers count it as FencedWrites
	"takeover-before-lookup": "Resolves",      // the specification's client does not give up
	"version-restarts":       "TruthfulReply", // the specification has another operation in the new record
}

// Every design of the gallery has a counterpart that falls by the same
// invariant, or a reason why there is none. A new design needs a line in
// counterparts or in unspecified.
func TestEveryDesignHasACounterpart(t *testing.T) {
	known := make(map[string]bool)
	for _, d := range designs.All() {
		known[d.Name] = true
		_, none := unspecified[d.Name]
		if _, ok := counterparts[d.Name]; ok == none {
			t.Errorf("%s: has a counterpart: %v; has a reason why not: %v", d.Name, ok, none)
			continue
		}
		text, err := specified(d.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if none {
			continue
		}
		e, err := counterpartOf(d.Name)
		if err != nil {
			t.Fatal(err)
		}
		want, elsewhere := fallsElsewhere[d.Name]
		if !elsewhere {
			want = d.Expect
		}
		if _, falls := e.Falls[want]; !falls && e.Property != want && (d.Expect != held || e.Outcome != tla.Holds) {
			t.Errorf("%s breaks %s, and in %s falls %s of %v", d.Name, d.Expect, e.Config, e.Property, e.Falls)
		}
		if elsewhere && (want == d.Expect || e.Falls[d.Expect] > 0) {
			t.Errorf("%s: %s falls in %s, too", d.Name, d.Expect, e.Config)
		}
		if _, command, ok := strings.Cut(text, ": chargeonce "); !ok || strings.Contains(command, ":") {
			t.Errorf("%s: no command in %q", d.Name, text)
		}
	}
	for _, names := range []map[string]string{counterparts, unspecified, fallsElsewhere} {
		for name := range names {
			if !known[name] {
				t.Errorf("there is no design %s", name)
			}
		}
	}
}

// The service asks the two questions of the model, for every reading of a clock.
func TestQuestionsAreThoseOfTheModel(t *testing.T) {
	const tick = time.Second
	ticks := func(n int) time.Duration { return time.Duration(n) * tick }
	for _, m := range []window.Config{
		{Life: 1, Skew: 1, Lag: 1, Window: 6}, {Life: 2, Skew: 1, Lag: 3, Window: 8}, {Life: 1, Skew: 2, Lag: 0, Window: 9}, {Life: 3, Skew: 0, Lag: 2, Window: 7},
	} {
		cfg := impl.Config{MessageLifetime: ticks(m.Life), MaxClockSkew: ticks(m.Skew), LookupLag: ticks(m.Lag), ProviderWindow: ticks(m.Window)}
		run := impl.Begin(context.Background(), &cfg, &impl.Ports{})
		for at := range 2*m.Window + 1 {
			from := time.Unix(0, 0)
			rec := impl.Record{WindowFrom: from, LeaseUntil: from}
			now := from.Add(ticks(at))
			if got, want := run.CanSend(&rec, now), m.CanSend(0, int8(at)); got != want {
				t.Errorf("%+v: %d ticks after the claim the service may send: %v; the model: %v", m, at, got, want)
			}
			if got, want := run.Dead(&rec, now), m.Dead(0, int8(at)); got != want {
				t.Errorf("%+v: %d ticks after the lease all is dead to the service: %v; to the model: %v", m, at, got, want)
			}
		}
	}
}

// The least retention that the service accepts is the least that the model
// needs, and the tick that the model shows it could spare.
func TestRetentionIsThatOfTheModel(t *testing.T) {
	const tick = time.Second
	for horizon := 1; horizon <= 3; horizon++ {
		for life := 1; life <= 3; life++ {
			for skew := 0; skew <= 3; skew++ {
				model := retention.Config{Horizon: horizon, Life: life, Skew: skew, Window: 1}
				cfg := impl.Config{
					Lease: time.Minute, HealthyRun: tick, MessageLifetime: time.Duration(life) * tick, MaxClockSkew: time.Duration(skew) * tick,
					ProviderWindow: time.Hour, RetryHorizon: time.Duration(horizon) * tick, ReconcileInterval: tick,
					Provider: impl.Profile{Keys: true, StoresDeclines: true, Lookup: true},
				}
				for cfg.Retention = tick; cfg.Validate() != nil && cfg.Retention < time.Minute; cfg.Retention += tick {
				}
				if got, want := int(cfg.Retention/tick), model.Retention()+1; got != want {
					t.Errorf("horizon %d, life %d, skew %d: the service keeps replies for %d ticks at least, want %d", horizon, life, skew, got, want)
				}
			}
		}
	}
}

// What designs say of the specification can be typed in as it stands.
func TestCounterpartsCanBeExplored(t *testing.T) {
	for _, design := range []string{"version-restarts", "takeover-before-lookup", "journal-and-wait"} {
		text, err := specified(design)
		if err != nil {
			t.Fatal(err)
		}
		_, command, _ := strings.Cut(text, ": chargeonce ")
		want := map[bool]exitCode{true: exitHeld, false: exitSafety}[design == "journal-and-wait"]
		if design == "takeover-before-lookup" {
			want = exitLiveness
		}
		if r := call(t, "", strings.Fields(command)...); r.code != want {
			t.Errorf("%s: %s: exit code %d, want %d\n%s", design, command, r.code, want, r.errors)
		}
	}
	if text, err := specified("one-scope"); err != nil || !strings.Contains(text, "one operation") {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := specified("refrence"); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
