package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/search"
)

// traceLine is a line of the trace with -v -json.
type traceLine struct {
	At        int64           `json:"at_ns"` // virtual time
	Mark      string          `json:"mark"`
	Who       string          `json:"who,omitempty"`
	Peer      string          `json:"peer,omitempty"`
	Step      string          `json:"step,omitempty"`
	Attempt   string          `json:"attempt,omitempty"`
	Value     uint64          `json:"value,omitempty"`     // the number of the call, for messages
	Deviation string          `json:"deviation,omitempty"` // of a choice
	Event     json.RawMessage `json:"event,omitempty"`     // of the history, as check reads it
}

// traceLines puts names to the lines of a trace.
func traceLines(r *search.Replay) []traceLine {
	events := eventLines(r)
	all := make([]traceLine, len(r.Lines))
	for i := range r.Lines {
		l := &r.Lines[i]
		t := traceLine{At: l.At, Mark: l.Mark.String(), Value: l.Value}
		if l.Who != 0 {
			t.Who = l.Who.String()
		}
		if l.Peer != 0 {
			t.Peer = l.Peer.String()
		}
		if l.Step != 0 {
			t.Step = l.Step.String()
		}
		if l.Attempt != 0 {
			t.Attempt = l.Attempt.String()
		}
		switch {
		case l.Mark == sim.MarkHistory && l.Value < uint64(len(events)):
			t.Event, t.Value = events[l.Value], 0
		case l.Mark == sim.MarkChoice && l.Value < uint64(len(r.Result.Deviations)):
			t.Deviation, t.Value = r.Result.Deviations[l.Value].String(), 0
		}
		all[i] = t
	}
	return all
}

// eventLines are the events of the history as its format writes them.
func eventLines(r *search.Replay) (all []json.RawMessage) {
	var b bytes.Buffer
	w, err := history.NewWriter(&b, r.Header)
	for i := 0; i < len(r.Events) && err == nil; i++ {
		err = w.Event(&r.Events[i])
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		panic(fmt.Sprintf("chargeonce: the simulator recorded a history that its own format refuses: %v", err))
	}
	_, lines, _ := bytes.Cut(b.Bytes(), []byte("\n")) // without the header
	for line := range bytes.Lines(lines) {
		all = append(all, json.RawMessage(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return all
}

func writeTraceJSON(c *console, r *search.Replay) {
	for _, t := range traceLines(r) {
		c.line(t)
	}
}

// writeTrace writes every line of the trace as a log.
func writeTrace(w io.Writer, r *search.Replay) {
	for _, t := range traceLines(r) {
		fmt.Fprintf(w, "%14s  %s\n", time.Duration(t.At), t.text())
	}
}

func (t *traceLine) text() string {
	if t.Event != nil {
		return fmt.Sprintf("%-8s %s", t.Mark, pairs(t.Event))
	}
	words := []string{fmt.Sprintf("%-8s", t.Mark)}
	add := func(before, word string) {
		if word != "" {
			words = append(words, before+word)
		}
	}
	add("", t.Who)
	switch t.Mark {
	case "deliver", "return", "stray":
		add("from ", t.Peer)
	default:
		add("→ ", t.Peer)
	}
	add("", t.Step)
	add("of ", t.Attempt)
	switch t.Mark {
	case "pause":
		add("until ", time.Duration(t.Value).String())
	case "choice":
		words = []string{fmt.Sprintf("%-8s", t.Mark), t.Deviation}
	case "send", "answer", "deliver", "return", "stray", "lost", "timeout":
		add("#", strconv.FormatUint(t.Value, 10))
	}
	return strings.TrimRight(strings.Join(words, " "), " ")
}

// pairs writes the members of an event as name=value, but for its time, which
// stands in front of the line.
func pairs(event json.RawMessage) string {
	d := jsontext.NewDecoder(bytes.NewReader(event))
	var words []string
	for {
		name, err := d.ReadToken()
		if err != nil {
			return strings.Join(words, " ")
		}
		if name.Kind() != jsontext.KindString {
			continue
		}
		key := name.String()
		value, err := d.ReadToken()
		switch text := value.String(); {
		case err != nil || key == "at_ns":
		case key == "kind":
			words = append(words, fmt.Sprintf("%-10s", text))
		case strings.Contains(text, " "):
			words = append(words, key+"="+strconv.Quote(text))
		default:
			words = append(words, key+"="+text)
		}
	}
}
