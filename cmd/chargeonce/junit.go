package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/chargeonce/chargeonce/sim/search"
)

// judged is one thing that was judged, as a build server shows it.
type judged struct {
	suite   string // what was done: "search"
	name    string
	verdict search.Verdict
	message string // one line; "" for held
	detail  string // a plan, for example
	file    string // where the plan is, "" for nowhere
}

// failed reports whether the verdict is that of a test that fails.
func (j *judged) failed() bool { return j.verdict != search.Held }

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Failure *junitDetail `xml:"failure"`
	Error   *junitDetail `xml:"error"`
}

type junitDetail struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes what was judged as JUnit XML, in one suite. What broke is
// a failure; what could not be decided is an error.
func writeJUnit(w io.Writer, all []judged) error {
	var s junitSuite
	for i := range all {
		j := &all[i]
		s.Name, s.Tests = "chargeonce "+j.suite, s.Tests+1
		c := junitCase{Class: "chargeonce." + j.suite, Name: j.name}
		detail := &junitDetail{string(j.verdict), j.message, j.detail}
		switch {
		case !j.failed():
		case j.verdict == search.Violated:
			c.Failure = detail
			s.Failures++
		default:
			c.Error = detail
			s.Errors++
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Suites: []junitSuite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// annotate writes a workflow command of GitHub Actions for each thing that
// failed, as docs.github.com describes it under "Workflow commands".
func annotate(w io.Writer, all []judged) {
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range all {
		j := &all[i]
		if !j.failed() {
			continue
		}
		var at string
		if j.file != "" {
			at = "file=" + property.Replace(j.file) + ","
		}
		text := j.message
		if j.detail != "" {
			text += "\n\n" + j.detail
		}
		fmt.Fprintf(w, "::error %stitle=%s::%s\n", at, property.Replace("chargeonce "+j.suite+" "+j.name), message.Replace(text))
	}
}

// builds says where a build server finds what was judged.
type builds struct {
	junit  string // file, "" for none
	github bool
}

// tell writes for the build server. On a standard output that is JSON there
// is nothing else, so annotations go to standard error then.
func (b *builds) tell(c *console, verb string, json bool, all []judged) {
	if b.junit != "" {
		if err := writeFile(b.junit, func(w io.Writer) error { return writeJUnit(w, all) }); err != nil {
			c.warn(verb, fmt.Errorf("%s is not written: %w", b.junit, err))
		}
	}
	switch {
	case !b.github:
	case json:
		annotate(c.err, all)
	default:
		annotate(c.out, all)
	}
}
