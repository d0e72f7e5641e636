package plan_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Every part of a site has its own bits: it comes back as it was put in,
// whatever the other parts are.
func TestSitePacksItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		what := plan.What(rapid.IntRange(1, int(plan.WhatClock)).Draw(t, "what"))
		who, peer := processes().Draw(t, "who"), processes().Draw(t, "peer")
		step, attempt := steps().Draw(t, "step"), attempts().Draw(t, "attempt")
		n := rapid.IntRange(1, plan.MaxOccurrence).Draw(t, "occurrence")
		first := plan.NewSite(what, who, peer, step, attempt)
		s := first.Nth(n)
		if s.What() != what || s.Who() != who || s.Peer() != peer || s.Step() != step || s.Attempt() != attempt || s.Occurrence() != n {
			t.Fatalf("%v %v %v %v %v #%d came back as %v %v %v %v %v #%d", what, who, peer, step, attempt, n,
				s.What(), s.Who(), s.Peer(), s.Step(), s.Attempt(), s.Occurrence())
		}
		if first.Occurrence() != 1 || s.Nth(1) != first || s.Base() != first.Base() || s.Base().Occurrence() != 0 {
			t.Fatalf("%v: occurrences of one site have different bases", s)
		}
	})
}

func TestOccurrencesStayWithinTheirBits(t *testing.T) {
	s := plan.NewSite(plan.WhatAfter, plan.Server|1, 0, impl.StepCharge, plan.NewAttempt(plan.Client|1, 1, 1))
	if far := s.Nth(plan.MaxOccurrence + 5); far.Base() != s.Base() || far.Occurrence() != plan.MaxOccurrence {
		t.Errorf("beyond the last occurrence it is %v", far)
	}
}

func TestAttemptPacksItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		actor := numbered(clocked).Draw(t, "actor")
		order, try := rapid.IntRange(0, plan.MaxOrder).Draw(t, "order"), rapid.IntRange(0, 2*plan.MaxTry).Draw(t, "try")
		a := plan.NewAttempt(actor, order, try)
		if a.Actor() != actor || a.Order() != order || a.Try() != min(try, plan.MaxTry) {
			t.Fatalf("%v/%d/%d came back as %v/%d/%d", actor, order, try, a.Actor(), a.Order(), a.Try())
		}
	})
}

func TestAttemptPrintsAndParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := attempts().Draw(t, "attempt")
		if got, err := plan.ParseAttempt(want.String()); err != nil || got != want {
			t.Fatalf("%q parses to %v, %v", want, got, err)
		}
	})
	for _, bad := range []string{
		"", "client-1", "client-1/order-1", "client-1/order-1/try-1/", "client-1/try-1/order-1", "client-1/sweep-1",
		"reconciler-1/sweep-0", "server-1/order-1/try-1", "registry/order-1/try-1", "client-1/order-01/try-1",
		"client-1/order-+1/try-1", "client-1/order-256/try-1", "client-1/order-1/try-4096", " client-1/order-1/try-1",
	} {
		if a, err := plan.ParseAttempt(bad); err == nil {
			t.Errorf("ParseAttempt(%q) = %v", bad, a)
		}
	}
}

func TestProcessPrintsAndParsesBack(t *testing.T) {
	parsed := map[plan.Process]bool{}
	for n := range 256 {
		p := plan.Process(n)
		got, err := plan.ParseProcess(p.String())
		if err == nil && got != p {
			t.Errorf("%q parses to %v", p, got)
		}
		parsed[p] = err == nil
	}
	for n := range 256 {
		p := plan.Process(n)
		index := p.Index() >= 1 && p.Index() <= plan.MaxIndex
		valid := p == plan.Registry || p == plan.Provider ||
			index && (p.Kind() == plan.Client || p.Kind() == plan.Server || p.Kind() == plan.Reconciler)
		if parsed[p] != valid {
			t.Errorf("%q parses: %v, want %v", p, parsed[p], valid)
		}
	}
	for _, bad := range []string{"", "server", "server-", "server-0", "server-16", "server-1 ", "Server-1", "registry-1", "provider-0", "process(7)"} {
		if p, err := plan.ParseProcess(bad); err == nil {
			t.Errorf("ParseProcess(%q) = %v", bad, p)
		}
	}
}

func TestNumbersOutsideTheVocabularyStillPrint(t *testing.T) {
	for _, v := range []fmt.Stringer{plan.Process(7), plan.Class(200), plan.Bound(200)} {
		if v.String() == "" {
			t.Errorf("%T %#v prints nothing", v, v)
		}
	}
}
