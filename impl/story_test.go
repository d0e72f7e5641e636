package impl_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/cockroachdb/datadriven"
)

// TestStories tells the protocol as stories, testdata/*.txt: what one run
// does, port call by port call, and what it answers. Run with -rewrite to
// write down what happens now, and read the difference.
//
// The directives:
//
//	new provider=P [wait=D] [window=D] [roll-forward]
//	    a new world, t=0. The providers are the names in profiles.
//	handle key=K [amount=N] [currency=C] [tenant=T] [endpoint=E] [body=JSON] [skew=D] [cancelled]
//	    one attempt, by a process whose clock is ahead by skew
//	reconcile [skew=D]
//	    one sweep
//	advance D
//	    time goes by
//	fault STEP FAULT
//	    the next call of the step goes wrong. Writes: refuse (surely not
//	    applied), drop (never arrives), lose (the answer gets lost), late (it
//	    arrives with land). Charges, too: not-sent, decline=CODE, status=N.
//	    Reads: drop. Look-ups, too: status=N, lag (shows nothing yet). none
//	    lets a call pass.
//	before CALL, after CALL
//	    the directives in its body happen once, right before or after the
//	    next call; a CALL is a step, or wait
//	crash
//	    the process that runs dies here (in a body of before or after)
//	land
//	    what is late arrives
//	record K [tenant=T], bank, observed
//	    what is stored, what was charged, what the observer heard since
//	plant key=K amount=N [currency=C], refund CHARGE, correct CHARGE, forget K
//	    what others do behind the service's back
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no stories (%v)", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { tell(t, path) })
	}
}

func tell(t *testing.T, path string) {
	var w *world
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		a := args{t, d.Cmd, d.CmdArgs}
		if d.Cmd == "new" {
			if w != nil {
				w.t = t
				w.finish()
			}
			var err error
			if w, err = newWorld(config(a)); err != nil {
				t.Fatal(err)
			}
			return ""
		}
		if w == nil {
			t.Fatal("the first directive is new")
		}
		w.t = t
		w.log.Reset()
		if d.Cmd == "before" || d.Cmd == "after" {
			w.hooks[moment{d.Cmd, a.first()}] = strings.Split(d.Input, "\n")
			return ""
		}
		w.do(a)
		return w.log.String()
	})
	if w != nil {
		w.t = t
		w.finish()
	}
}

// finish fails a story that ends before what it announced has happened.
func (w *world) finish() {
	for m := range w.hooks {
		w.t.Errorf("the moment %s %s never came", m.when, m.call)
	}
	for step, left := range w.faults {
		if len(left) > 0 {
			w.t.Errorf("the faults %v of step %v met no call", left, step)
		}
	}
}

var profiles = map[string]impl.Profile{
	"keyed":                           {Keys: true, StoresDeclines: true, Lookup: true},
	"keyed-no-lookup":                 {Keys: true, StoresDeclines: true},
	"keyed-forgets-declines":          {Keys: true, Lookup: true},
	"keyed-bare":                      {Keys: true},
	"keyed-stores-failures":           {Keys: true, StoresDeclines: true, StoresFailures: true, Lookup: true},
	"keyed-stores-failures-no-lookup": {Keys: true, StoresDeclines: true, StoresFailures: true},
	"keyless-lookup":                  {Lookup: true},
	"keyless":                         {},
	// A contradiction, and to be taken for the weaker of its two halves.
	"keyless-stores-declines": {StoresDeclines: true, Lookup: true},
	"keyless-stores-failures": {StoresFailures: true, Lookup: true},
}

// baseConfig has edges that are easy to tell: a lease is over after 600ms,
// nothing is sent from 3.96s on, nothing is taken over from 3.46s on, a record
// is dead after lease + 1.09s, nobody asks after 9.04s.
func baseConfig() impl.Config {
	return impl.Config{
		Lease: 600 * time.Millisecond, HealthyRun: 500 * time.Millisecond,
		MessageLifetime: time.Second, MaxClockSkew: 40 * time.Millisecond,
		ProviderWindow: 5 * time.Second, LookupLag: 50 * time.Millisecond,
		RetryHorizon: 8 * time.Second, Retention: 10500 * time.Millisecond,
		ReconcileInterval: 300 * time.Millisecond, Provider: profiles["keyed"],
	}
}

func config(a args) impl.Config {
	cfg := baseConfig()
	var ok bool
	if cfg.Provider, ok = profiles[a.value("provider", "keyed")]; !ok {
		a.t.Fatalf("no provider is called %q", a.value("provider", ""))
	}
	cfg.InProgressWait = a.duration("wait", 0)
	cfg.ProviderWindow = a.duration("window", cfg.ProviderWindow)
	cfg.RollForward = a.has("roll-forward")
	return cfg
}

// run does one directive of a body.
func (w *world) run(line string) {
	cmd, cmdArgs, err := datadriven.ParseLine(line)
	if err != nil {
		w.t.Fatal(err)
	}
	w.do(args{w.t, cmd, cmdArgs})
}

func (w *world) do(a args) {
	switch a.cmd {
	case "handle":
		w.handle(a)
	case "reconcile":
		w.process(a.duration("skew", 0), func() {
			if err := w.service.Reconcile(context.Background()); err != nil {
				w.printf("error: %v", err)
			}
		})
	case "advance":
		w.now += a.parse(a.first())
		w.printf("t=%v", w.now)
	case "fault":
		step, err := impl.ParseStep(a.first())
		if err != nil || len(a.list) != 2 {
			a.t.Fatalf("fault wants a step and what goes wrong: %v", err)
		}
		f := fault{kind: a.list[1].Key}
		if len(a.list[1].Vals) > 0 {
			f.value = a.list[1].Vals[0]
		}
		w.faults[step] = append(w.faults[step], f)
	case "crash":
		panic(died{})
	case "land":
		late := w.late
		w.late = nil
		for _, arrives := range late {
			arrives()
		}
	case "record":
		w.record(id(a, a.first()))
	case "bank":
		w.printf("%d charges", len(w.bank.charges))
		for i, c := range w.bank.charges {
			w.printf("%s %s", line(c), w.keyName(w.bank.refs[i]))
		}
	case "observed":
		for _, o := range w.observed {
			answer := "as hoped"
			if o.Err != nil {
				answer = o.Err.Error()
			}
			w.printf("%s: %s", strings.TrimSpace(fmt.Sprintf("%v %s", o.Step, o.ID.Key)), answer)
		}
		w.observed = nil
	case "plant":
		rec := w.stored(id(a, a.value("key", "")))
		w.bank.capture(rec.ProviderKey, impl.Amount{Minor: a.amount(), Currency: a.value("currency", "EUR")})
	case "refund":
		w.bank.of(a.first()).Refunded = true
	case "correct":
		w.bank.of(a.first()).Amount = a.amount()
	case "forget":
		rec := w.stored(id(a, a.first()))
		if err := w.registry.Delete(context.Background(), impl.StepCollect, rec.ID, rec.Fence()); err != nil {
			a.t.Fatal(err)
		}
	default:
		a.t.Fatalf("no directive is called %q", a.cmd)
	}
}

const endpoint = "POST /payments"

func id(a args, key string) impl.ID {
	return impl.ID{Scope: impl.Scope(a.value("tenant", "acme"), endpoint), Key: key}
}

func (w *world) handle(a args) {
	of := id(a, a.value("key", ""))
	name := of.Key
	if tenant := a.value("tenant", "acme"); tenant != "acme" {
		name = tenant + "/" + name
	}
	w.alias(of, name)
	body := a.value("body", fmt.Sprintf(`{"amount":%s,"currency":%q}`, a.value("amount", "1200"), a.value("currency", "EUR")))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if a.has("cancelled") {
		cancel()
	}
	w.process(a.duration("skew", 0), func() {
		reply, err := w.service.Handle(ctx, impl.Request{Scope: of.Scope, Endpoint: a.value("endpoint", endpoint), Key: of.Key, Body: []byte(body)})
		switch {
		case err == nil:
			w.printf("%s", replyText(reply))
		case !reply.Equal(&impl.Reply{}) || reply.Replayed:
			w.t.Errorf("a reply %+v together with the error %v", reply, err)
		default:
			w.printf("error: %s", errorText(err))
		}
	})
}

// process runs something that may crash, by a clock of its own.
func (w *world) process(skew time.Duration, f func()) {
	around, depth := w.skew, w.depth
	w.skew = skew
	defer func() {
		w.skew = around
		if p := recover(); p != nil {
			if _, ok := p.(died); !ok {
				panic(p)
			}
			w.depth = depth
			w.printf("crashed")
		}
	}()
	f()
}

// errorText leaves the reason of a refusal out: the JSON library varies its
// words from run to run on purpose.
func errorText(err error) string {
	if refused, ok := errors.AsType[*impl.RefusedError](err); ok {
		return fmt.Sprintf("%v: %s", impl.ErrRefused, refused.Field)
	}
	return err.Error()
}

func replyText(r impl.Reply) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v", r.Status, r.Outcome)
	if r.ChargeID != "" {
		fmt.Fprintf(&b, " %s", r.ChargeID)
	}
	if r.Replayed {
		b.WriteString(" replayed")
	}
	for _, h := range r.Header {
		fmt.Fprintf(&b, "\n  %s: %s", h.Name, h.Value)
	}
	if len(r.Body) > 0 {
		fmt.Fprintf(&b, "\n  %s", r.Body)
	}
	return b.String()
}

func (w *world) stored(of impl.ID) impl.Record {
	rec, ok, err := w.registry.Get(context.Background(), impl.StepReadBack, of)
	if err != nil || !ok {
		w.t.Fatalf("there is no record of %v (%v)", of, err)
	}
	return rec
}

func (w *world) record(of impl.ID) {
	rec, ok, err := w.registry.Get(context.Background(), impl.StepReadBack, of)
	if err != nil || !ok {
		w.printf("none")
		return
	}
	w.printf("%s, window from %s, lease until %s, expires %s", brief(rec), since(rec.WindowFrom), since(rec.LeaseUntil), since(rec.ExpiresAt))
	if rec.Tombstone {
		w.printf("tombstone")
	}
	w.printf("request %q, provider key %s", rec.Request, w.keyName(rec.ProviderKey))
	if rec.State.Terminal() {
		if rec.ChargeID != rec.Reply.ChargeID {
			w.t.Errorf("the record's charge is %q and the reply's %q", rec.ChargeID, rec.Reply.ChargeID)
		}
		w.printf("%s", replyText(rec.Reply))
	}
}

// args are the arguments of a directive.
type args struct {
	t    *testing.T
	cmd  string
	list []datadriven.CmdArg
}

func (a args) first() string {
	if len(a.list) == 0 {
		a.t.Fatalf("%s wants an argument", a.cmd)
	}
	return a.list[0].Key
}

func (a args) has(key string) bool {
	for _, arg := range a.list {
		if arg.Key == key {
			return true
		}
	}
	return false
}

func (a args) value(key, otherwise string) string {
	for _, arg := range a.list {
		if arg.Key == key {
			if len(arg.Vals) != 1 {
				a.t.Fatalf("%s wants one value", key)
			}
			return arg.Vals[0]
		}
	}
	return otherwise
}

func (a args) amount() int64 {
	minor, err := strconv.ParseInt(a.value("amount", "1200"), 10, 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return minor
}

func (a args) duration(key string, otherwise time.Duration) time.Duration {
	if s := a.value(key, ""); s != "" {
		return a.parse(s)
	}
	return otherwise
}

func (a args) parse(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		a.t.Fatal(err)
	}
	return d
}
