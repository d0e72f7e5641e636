package invariant

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/chargeonce/chargeonce/model/history"
)

// A story is a history in a short form, one event a line:
//
//	call client-1 order-1 try=2 key=k1 fp=f1 amount=1200
//	return client-1 order-1 paid 201 try=2 charge=ch_1 amount=1200 body=b1
//	unanswered client-1 order-1 try=2
//	giveup client-1 order-1
//	charge order-1 pk=p1 charge=ch_1 amount=1200     (absorbed, refusal, refund too)
//	send server-1/1 order-1 pk=p1 request=r1
//	write server-1/1 key=k1 insert owner=o1 state=claimed fp=f1 pk=p1 request=r1
//	forget key=k1
//	heal, end
//
// A line is one second later than the one before unless it says at=. What is
// not said: try=1, scope=shop on calls, writes and forgets, EUR with an
// amount. An update takes what it does not say from the write before, and
// its version is one more. The operation _ is none,
// and so are a body and a request called none.
type storyteller struct {
	now     time.Duration
	records map[identityName]history.Event
}

func parseStory(t testing.TB, text string) []history.Event {
	t.Helper()
	s := storyteller{records: map[identityName]history.Event{}}
	var events []history.Event
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		e, err := s.event(words)
		if err != nil {
			t.Fatalf("%s: %v", strings.TrimSpace(line), err)
		}
		events = append(events, e)
	}
	return events
}

var storyKinds = map[string]struct {
	kind  history.Kind
	names string // of the words that stand before the fields
}{
	"call": {history.KindCall, "po"}, "return": {history.KindReturn, "poxs"}, "unanswered": {history.KindUnanswered, "po"},
	"giveup": {history.KindGiveUp, "po"}, "charge": {history.KindCharge, "o"}, "absorbed": {history.KindAbsorbed, "o"},
	"refusal": {history.KindRefusal, "o"}, "refund": {history.KindRefund, "o"}, "crash": {history.KindCrash, "p"},
	"send": {history.KindSend, "ro"}, "write": {history.KindWrite, "r"}, "forget": {history.KindForget, ""},
	"heal": {history.KindHeal, ""}, "end": {history.KindEnd, ""},
}

var storyOutcomes = map[string]history.Outcome{
	"paid": history.OutcomePaid, "declined": history.OutcomeDeclined, "failed": history.OutcomeFailed, "mismatch": history.OutcomeMismatch,
	"gone": history.OutcomeGone, "refused": history.OutcomeRefused, "in-progress": history.OutcomeInProgress, "unavailable": history.OutcomeUnavailable,
}

var storyStates = map[string]history.State{
	"claimed": history.StateClaimed, "sent": history.StateSent, "succeeded": history.StateSucceeded,
	"declined": history.StateDeclined, "review": history.StateReview,
}

func (s *storyteller) event(words []string) (history.Event, error) {
	shape, ok := storyKinds[words[0]]
	if !ok {
		return history.Event{}, fmt.Errorf("no event is called %q", words[0])
	}
	s.now += time.Second
	e := history.Event{Kind: shape.kind}
	words = words[1:]
	if len(words) < len(shape.names) {
		return e, fmt.Errorf("want %d words before the fields", len(shape.names))
	}
	for i, name := range shape.names {
		if err := setField(&e, string(name), words[i]); err != nil {
			return e, err
		}
	}
	fields := map[string]string{}
	for _, word := range words[len(shape.names):] {
		name, value, _ := strings.Cut(word, "=")
		fields[name] = value
	}
	if err := s.defaults(&e, fields); err != nil {
		return e, err
	}
	for name, value := range fields {
		if err := setField(&e, name, value); err != nil {
			return e, err
		}
	}
	if e.At != 0 {
		s.now = e.At
	}
	e.At = s.now
	if e.Kind == history.KindWrite {
		s.records[identityName{e.Scope, e.Key}] = e
	}
	return e, nil
}

func (s *storyteller) defaults(e *history.Event, fields map[string]string) error {
	scope, ok := fields["scope"]
	if !ok {
		scope = "shop"
	}
	scope = strings.ReplaceAll(scope, "_", " ")
	switch e.Kind {
	case history.KindCall, history.KindReturn, history.KindUnanswered:
		e.Attempt = 1
	}
	switch e.Kind {
	case history.KindCall:
		e.Scope = scope
	case history.KindWrite, history.KindForget:
		was, exists := s.records[identityName{scope, fields["key"]}]
		_, insert := fields["insert"]
		_, tombstone := fields["tombstone"]
		e.Version = was.Version
		if e.Kind == history.KindWrite {
			run := e.Run
			if exists && !insert {
				*e = was
			}
			e.At, e.Run, e.Insert = 0, run, false
			e.Version++
			if insert {
				e.Version = 1
			}
		}
		if tombstone {
			e.Body, e.Request = 0, 0
		}
		e.Scope = scope
	}
	if _, ok := fields["amount"]; ok {
		e.Currency = "EUR"
	}
	return nil
}

func digestOf(s string) uint64 {
	if s == "none" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func setField(e *history.Event, name, value string) (err error) {
	ok := true
	switch name {
	case "p":
		e.Process = value
	case "o":
		if value != "_" {
			e.Operation = value
		}
	case "r":
		e.Run = value
	case "x", "outcome":
		e.Outcome, ok = storyOutcomes[value]
	case "s", "status":
		e.Status, err = strconv.Atoi(value)
	case "at":
		e.At, err = time.ParseDuration(value)
	case "try":
		e.Attempt, err = strconv.Atoi(value)
	case "scope":
		e.Scope = strings.ReplaceAll(value, "_", " ")
	case "key":
		e.Key = value
	case "fp":
		e.Fingerprint = value
	case "amount":
		e.Amount, err = strconv.ParseInt(value, 10, 64)
	case "currency":
		e.Currency = value
	case "body":
		e.Body = digestOf(value)
	case "charge":
		e.Charge = value
	case "pk":
		e.ProviderKey = value
	case "request":
		e.Request = digestOf(value)
	case "state":
		e.State, ok = storyStates[value]
	case "version":
		e.Version, err = strconv.ParseUint(value, 10, 64)
	case "owner":
		e.Owner = value
	case "window":
		e.WindowFrom, err = time.ParseDuration(value)
	case "insert":
		e.Insert = true
	case "tombstone":
		e.Tombstone = true
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%q is not understood", name+"="+value)
	}
	return err
}

// storyHeader reads what a story promises.
func storyHeader(t testing.TB, args []datadriven.CmdArg) history.Header {
	t.Helper()
	var h history.Header
	for _, arg := range args {
		var err error
		switch arg.Key {
		case "complete":
			h.Complete = true
		case "keyless":
			h.Keyless = true
		case "once":
			h.Once = true
		case "compensates":
			h.Compensates = true
		case "window":
			h.ProviderWindow, err = time.ParseDuration(arg.Vals[0])
		case "horizon":
			h.RetryHorizon, err = time.ParseDuration(arg.Vals[0])
		case "settled":
			h.Settled, err = time.ParseDuration(arg.Vals[0])
		default:
			err = fmt.Errorf("no promise is called %q", arg.Key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func judge(c *Checker, events []history.Event) string {
	for i := range events {
		c.Event(&events[i])
	}
	return verdict(c)
}

func verdict(c *Checker) string {
	var b strings.Builder
	for _, v := range c.Violations() {
		fmt.Fprintf(&b, "%s by event %d, %s: %s\n", v.Invariant, v.Index, or(v.Operation, "nobody's"), v.Sentence)
	}
	if b.Len() == 0 {
		b.WriteString("held\n")
	}
	if n := c.HandedOver(); n > 0 {
		fmt.Fprintf(&b, "handed over: %d\n", n)
	}
	return b.String()
}

// TestStories tells each story to a fresh checker and to one that has judged
// all stories before: they must agree.
func TestStories(t *testing.T) {
	used := New(history.Header{})
	tell := func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "check" {
			t.Fatalf("no command is called %q", d.Cmd)
		}
		header, events := storyHeader(t, d.CmdArgs), parseStory(t, d.Input)
		fresh := judge(New(header), events)
		used.Reset(header)
		if again := judge(used, events); again != fresh {
			t.Errorf("%s: a used checker finds\n%sa fresh one\n%s", d.Pos, again, fresh)
		}
		return fresh
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { datadriven.RunTest(t, file, tell) })
	}
}
