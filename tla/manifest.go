package tla

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Kind is what an entry of the manifest is for.
type Kind string

// The kinds, in the order of the table.
const (
	KindProtocol   Kind = "protocol"   // the protocol is right: it must hold
	KindDefect     Kind = "defect"     // one rule is broken: something must fall
	KindAssumption Kind = "assumption" // one assumption is dropped: something must fall
	KindReachable  Kind = "reachable"  // a situation is denied: the denial must fall
	KindLiveness   Kind = "liveness"   // what every fair behaviour must come to
)

// Class says when TLC is asked.
type Class string

// The classes.
const (
	ClassCI      Class = "ci"      // seconds; at every change
	ClassNightly Class = "nightly" // up to some minutes
)

// Entry is one question to a specification, and what must come out.
type Entry struct {
	Config string `json:"config"` // the file in cfg, without .cfg
	Module string `json:"module"`
	Kind   Kind   `json:"kind"`
	Base   string `json:"base,omitempty"` // the entry that it differs from in one constant, or in what is asked
	Shows  string `json:"shows"`          // what happens, in a sentence
	Rule   string `json:"rule,omitempty"` // the rule or assumption that is broken
	Class  Class  `json:"class"`

	Outcome  Outcome `json:"outcome"`
	Property string  `json:"property,omitempty"` // what falls
	// Distinct, Generated and Depth are counts of TLC; only of what holds.
	Distinct  int `json:"distinct,omitempty"`
	Generated int `json:"generated,omitempty"`
	Depth     int `json:"depth,omitempty"`
	// Length is the number of states of the shortest counterexample; not of
	// liveness.
	Length int `json:"length,omitempty"`
	// Falls are all invariants and action properties that fall, each with
	// the length of its own shortest counterexample; of defects and
	// assumptions. The Go twin counts them.
	Falls map[string]int `json:"falls,omitempty"`
}

// ConfigFile is the entry's cfg file, relative to this directory.
func (e Entry) ConfigFile() string { return path.Join("cfg", e.Config+".cfg") }

// Measured returns the entry with what TLC reported instead of what must come
// out; c is what its cfg file says. It returns an error if the report does not
// say what falls.
func (e Entry) Measured(c Config, r Report) (Entry, error) {
	e.Outcome, e.Property = r.Outcome, r.Property
	e.Distinct, e.Generated, e.Depth, e.Length = 0, 0, 0, 0
	switch r.Outcome {
	case Holds:
		e.Distinct, e.Generated, e.Depth = r.Distinct, r.Generated, r.Depth
	case NotLive: // TLC does not name the property: ask one at a time
		if len(c.Properties) != 1 {
			return Entry{}, fmt.Errorf("tla: %s: one of %v falls, and TLC does not say which", e.Config, c.Properties)
		}
		e.Property = c.Properties[0]
	default:
		e.Length = len(r.Trace)
	}
	return e, nil
}

// Expectation is what must come out, in words. Two entries have the same one
// if TLC reports the same of them.
func (e Entry) Expectation() string {
	switch e.Outcome {
	case Holds:
		return fmt.Sprintf("holds, %d distinct of %d generated states, depth %d", e.Distinct, e.Generated, e.Depth)
	case NotLive:
		return e.Property + " falls, a liveness property"
	case StepBreaks:
		return fmt.Sprintf("%s falls by a step, %d states", e.Property, e.Length)
	}
	return fmt.Sprintf("%s falls, %d states", e.Property, e.Length)
}

// Manifest is what manifest.json holds.
type Manifest struct {
	Specifications []Entry `json:"specifications"`
}

// ReadManifest reads manifest.json, of Files or of a copy of them. It refuses
// fields that it does not know.
func ReadManifest(files fs.FS) (Manifest, error) {
	const name = "manifest.json"
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return Manifest{}, fmt.Errorf("tla: %w", err)
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("tla: %s: %w", name, err)
	}
	return m, nil
}

// Entry returns the entry of that name.
func (m Manifest) Entry(config string) (Entry, bool) {
	for _, e := range m.Specifications {
		if e.Config == config {
			return e, true
		}
	}
	return Entry{}, false
}

// Write writes the manifest so that ReadManifest reads it back.
func (m Manifest) Write(path string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return fmt.Errorf("tla: %w", err)
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}
