package main

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/sim/search"
)

var judgedAll = []judged{
	{suite: "search", name: "right", verdict: search.Held},
	{suite: "search", name: "wrong", verdict: search.Violated, message: `A < B: "twice", 100%`, detail: "plan\nline ]]> 2\n", file: "a,b:c.plan"},
	{suite: "search", name: "long", verdict: search.Undecided, message: "stopped"},
}

func TestJUnit(t *testing.T) {
	var b strings.Builder
	if err := writeJUnit(&b, judgedAll); err != nil {
		t.Fatal(err)
	}
	var back junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	s := back.Suites[0]
	if s.Name != "chargeonce search" || s.Tests != 3 || s.Failures != 1 || s.Errors != 1 || len(s.Cases) != 3 {
		t.Errorf("%+v", s)
	}
	if c := s.Cases[0]; c.Failure != nil || c.Error != nil || c.Name != "right" || c.Class != "chargeonce.search" {
		t.Errorf("%+v", c)
	}
	if c := s.Cases[1]; c.Failure == nil || *c.Failure != (junitDetail{"violated", judgedAll[1].message, judgedAll[1].detail}) {
		t.Errorf("%+v", c.Failure)
	}
	if c := s.Cases[2]; c.Error == nil || c.Error.Type != "undecided" || c.Failure != nil {
		t.Errorf("%+v", c)
	}
}

func TestAnnotations(t *testing.T) {
	var b strings.Builder
	annotate(&b, judgedAll)
	want := `::error file=a%2Cb%3Ac.plan,title=chargeonce search wrong::A < B: "twice", 100%25%0A%0Aplan%0Aline ]]> 2%0A` + "\n" +
		"::error title=chargeonce search long::stopped\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
