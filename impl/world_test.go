package impl_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/idemkey"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
)

// epoch is t=0 of every story.
var epoch = time.Unix(1_700_000_000, 0).UTC()

// world is one service between a registry and a bank, with a clock that goes
// only when the story says so. One thing happens at a time. Every port call is
// a line of the log, so that a story shows what was not called, too.
type world struct {
	t        *testing.T // of the directive under way
	cfg      impl.Config
	service  *impl.Service
	registry *memory.Registry
	bank     *bank
	now      time.Duration // since epoch
	skew     time.Duration // of the process that runs
	owners   int
	faults   map[impl.Step][]fault
	hooks    map[moment][]string // directives, a line each
	late     []func()            // what is on its way, in order
	observed []impl.Observation
	keys     map[string]string // provider key → how the log calls it
	log      strings.Builder
	depth    int // of the log: how many calls are around
}

// fault is what goes wrong with one call.
type fault struct {
	kind  string
	value string
}

// moment is right before or right after a call.
type moment struct {
	when string // "before", "after"
	call string // a step's name, or "wait"
}

// died is the panic of a process that is no more.
type died struct{}

func newWorld(cfg impl.Config) (*world, error) {
	w := &world{
		cfg: cfg, registry: memory.New(),
		faults: map[impl.Step][]fault{}, hooks: map[moment][]string{}, keys: map[string]string{},
	}
	w.bank = &bank{world: w, stored: map[string]impl.ChargeResult{}}
	var err error
	w.service, err = impl.New(cfg, impl.Ports{Registry: (*store)(w), Provider: w.bank, Clock: w, IDs: w, Observer: w})
	return w, err
}

func (w *world) printf(format string, args ...any) {
	for line := range strings.Lines(strings.TrimSuffix(fmt.Sprintf(format, args...), "\n")) {
		w.log.WriteString(strings.Repeat("  ", w.depth) + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// fault takes the next fault of the step, if there is one.
func (w *world) fault(step impl.Step) fault {
	if len(w.faults[step]) == 0 {
		return fault{}
	}
	f := w.faults[step][0]
	w.faults[step] = w.faults[step][1:]
	if f.kind == "none" {
		return fault{}
	}
	return f
}

// happens runs what the story wants to happen at a moment, once.
func (w *world) happens(when, call string) {
	m := moment{when, call}
	lines := w.hooks[m]
	if lines == nil {
		return
	}
	delete(w.hooks, m)
	w.depth++
	w.printf("%s %s:", when, call)
	w.depth++
	for _, line := range lines {
		w.printf("> %s", line)
		w.run(line)
	}
	w.depth -= 2
}

func (w *world) Now() time.Time { return epoch.Add(w.now + w.skew) }

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		w.printf("wait %v: %v", d, err)
		return err
	}
	w.call("wait", func() {
		w.now += d
		w.printf("wait %v", d)
	})
	return nil
}

func (w *world) Key() string { panic("a service makes no keys") }

func (w *world) Owner() string {
	w.owners++
	return "owner-" + strconv.Itoa(w.owners)
}

func (w *world) Observe(o impl.Observation) { w.observed = append(w.observed, o) }

// call surrounds a call with what the story wants to happen.
func (w *world) call(name string, answer func()) {
	w.happens("before", name)
	answer()
	w.happens("after", name)
}

// since says an instant as the story tells time.
func since(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.Sub(epoch).String()
}

// alias learns the provider key that an operation must have.
func (w *world) alias(id impl.ID, name string) {
	w.keys[idemkey.Derive(id.Scope, id.Key, "charge", 1)] = "pk(" + name + ")"
}

func (w *world) keyName(providerKey string) string {
	if name, ok := w.keys[providerKey]; ok {
		return name
	}
	return fmt.Sprintf("%q", providerKey)
}

// store is the world's registry: the one in memory, on an unreliable line.
type store world

func brief(rec impl.Record) string {
	if rec.State == impl.StateNone {
		return "none"
	}
	return fmt.Sprintf("%v v%d %s", rec.State, rec.Version, rec.Owner)
}

// write applies a write as the fault has it. apply returns the log's words.
func (s *store) write(step impl.Step, what string, apply func() (string, error)) (err error) {
	w := (*world)(s)
	w.call(step.String(), func() { err = w.applied(step, what, apply) })
	return err
}

func (w *world) applied(step impl.Step, what string, apply func() (string, error)) error {
	switch f := w.fault(step); f.kind {
	case "":
		said, err := apply()
		w.printf("%v %s: %s", step, what, said)
		return err
	case "lose":
		said, _ := apply()
		w.printf("%v %s: %s, and the answer is lost", step, what, said)
		return impl.ErrUnknown
	case "drop":
		w.printf("%v %s: never arrives", step, what)
		return impl.ErrUnknown
	case "late":
		w.printf("%v %s: no answer", step, what)
		w.late = append(w.late, func() {
			said, _ := apply()
			w.printf("%v %s: %s", step, what, said)
		})
		return impl.ErrUnknown
	case "refuse":
		w.printf("%v %s: refused", step, what)
		return impl.ErrNotApplied
	default:
		w.t.Fatalf("a registry has no fault called %q", f.kind)
		return nil
	}
}

func (s *store) Insert(ctx context.Context, step impl.Step, rec impl.Record) (stored impl.Record, inserted bool, err error) {
	err = s.write(step, rec.Key, func() (string, error) {
		stored, inserted, err = s.registry.Insert(ctx, step, rec)
		if inserted {
			return "inserted, " + brief(stored), err
		}
		return "there is " + brief(stored), err
	})
	if err != nil {
		return impl.Record{}, false, err
	}
	return stored, inserted, nil
}

func (s *store) Get(ctx context.Context, step impl.Step, id impl.ID) (rec impl.Record, ok bool, err error) {
	w := (*world)(s)
	w.call(step.String(), func() { rec, ok, err = s.read(ctx, step, id) })
	return rec, ok, err
}

func (s *store) read(ctx context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	w := (*world)(s)
	if f := w.fault(step); f.kind != "" {
		w.printf("%v %s: no answer", step, id.Key)
		return impl.Record{}, false, impl.ErrUnknown
	}
	rec, ok, err := s.registry.Get(ctx, step, id)
	if !ok {
		w.printf("%v %s: none", step, id.Key)
	} else {
		w.printf("%v %s: %s", step, id.Key, brief(rec))
	}
	return rec, ok, err
}

func (s *store) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	return s.write(step, next.Key, func() (string, error) {
		before, _, _ := s.registry.Get(ctx, step, next.ID)
		err := s.registry.Update(ctx, step, was, next)
		if err != nil {
			return fmt.Sprintf("conflict, there is %s", brief(before)), err
		}
		s.judge(before, next)
		next.Version = was.Version + 1
		return brief(next), nil
	})
}

// judge fails the test when a write changes what no write may change.
func (s *store) judge(before, after impl.Record) {
	frozen := func(r impl.Record) string {
		request := string(r.Request)
		if before.State.Terminal() && after.Tombstone {
			request = "" // the one thing that a tombstone gives up
		}
		return fmt.Sprint(r.Fingerprint, request, r.ProviderKey, r.WindowFrom)
	}
	if frozen(before) != frozen(after) {
		s.t.Errorf("a write changed fingerprint, request, provider key or window of %+v to those of %+v", before, after)
	}
	if before.State.Terminal() && (before.State != after.State || before.ChargeID != after.ChargeID || !after.Tombstone) {
		s.t.Errorf("a write changed the terminal record %+v to %+v", before, after)
	}
}

func (s *store) Delete(ctx context.Context, step impl.Step, id impl.ID, was impl.Fence) error {
	return s.write(step, id.Key, func() (string, error) {
		if err := s.registry.Delete(ctx, step, id, was); err != nil {
			return "conflict", err
		}
		return "deleted", nil
	})
}

func (s *store) Unfinished(ctx context.Context, step impl.Step, before time.Time, after impl.Cursor, limit int) ([]impl.Record, error) {
	return s.list(step, before, func() ([]impl.Record, error) { return s.registry.Unfinished(ctx, step, before, after, limit) })
}

func (s *store) Expired(ctx context.Context, step impl.Step, before time.Time, limit int) ([]impl.Record, error) {
	return s.list(step, before, func() ([]impl.Record, error) { return s.registry.Expired(ctx, step, before, limit) })
}

func (s *store) list(step impl.Step, before time.Time, query func() ([]impl.Record, error)) (records []impl.Record, err error) {
	w := (*world)(s)
	w.call(step.String(), func() { records, err = w.listed(step, before, query) })
	return records, err
}

func (w *world) listed(step impl.Step, before time.Time, query func() ([]impl.Record, error)) ([]impl.Record, error) {
	if f := w.fault(step); f.kind != "" {
		w.printf("%v before %s: no answer", step, since(before))
		return nil, impl.ErrUnknown
	}
	records, err := query()
	var names []string
	for _, rec := range records {
		names = append(names, rec.Key)
	}
	w.printf("%v before %s: %s", step, since(before), orNone(names))
	return records, err
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// bank is the world's provider. It keeps what the profile promises.
type bank struct {
	*world
	stored  map[string]impl.ChargeResult // by key
	charges []impl.Charge
	refs    []string // of charges
}

func (b *bank) Charge(_ context.Context, step impl.Step, req impl.ChargeRequest) (result impl.ChargeResult, err error) {
	b.call(step.String(), func() { result, err = b.charge(step, req) })
	return result, err
}

func (b *bank) charge(step impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	what := fmt.Sprintf("%v %s %s", step, b.keyName(req.Key), req.Body)
	switch {
	case req.Key == "":
		what = fmt.Sprintf("%v without a key, reference %s, %s", step, b.keyName(req.Ref), req.Body)
	case req.Ref != req.Key:
		b.t.Errorf("the reference is %q, want the provider key %q", req.Ref, req.Key)
	}
	f := b.fault(step)
	switch f.kind {
	case "":
		result := b.execute(req, "")
		b.printf("%s: %s", what, told(result))
		return result, nil
	case "decline":
		result := b.execute(req, f.value)
		b.printf("%s: %s", what, told(result))
		return result, nil
	case "lose":
		b.printf("%s: %s, and the answer is lost", what, told(b.execute(req, f.value)))
		return impl.ChargeResult{}, impl.ErrUnknown
	case "drop":
		b.printf("%s: never arrives", what)
		return impl.ChargeResult{}, impl.ErrUnknown
	case "late":
		b.printf("%s: no answer", what)
		b.late = append(b.late, func() { b.printf("%s: %s", what, told(b.execute(req, ""))) })
		return impl.ChargeResult{}, impl.ErrUnknown
	case "not-sent":
		b.printf("%s: not sent", what)
		return impl.ChargeResult{}, impl.ErrNotSent
	case "status":
		status, err := strconv.Atoi(f.value)
		if err != nil {
			b.t.Fatalf("status %q: %v", f.value, err)
		}
		b.printf("%s: answer %d", what, status)
		return impl.ChargeResult{}, &impl.ProviderError{Status: status}
	default:
		b.t.Fatalf("a charge has no fault called %q", f.kind)
		return impl.ChargeResult{}, nil
	}
}

func told(r impl.ChargeResult) string {
	if r.Approved {
		return "approved " + r.ChargeID
	}
	return "declined " + r.Code
}

// execute lands a request; code "" approves.
func (b *bank) execute(req impl.ChargeRequest, code string) impl.ChargeResult {
	if result, ok := b.stored[req.Key]; ok && req.Key != "" {
		return result
	}
	amount, err := impl.ParseAmount(req.Body)
	if err != nil {
		b.t.Fatalf("a charge of %q: %v", req.Body, err)
	}
	result := impl.ChargeResult{Code: code}
	if code == "" {
		result = impl.ChargeResult{Approved: true, ChargeID: b.capture(req.Ref, amount)}
	}
	if b.cfg.Provider.Keys && (result.Approved || b.cfg.Provider.StoresDeclines) {
		b.stored[req.Key] = result
	}
	return result
}

func (b *bank) capture(ref string, amount impl.Amount) string {
	id := fmt.Sprintf("ch_%d", len(b.charges)+1)
	b.charges = append(b.charges, impl.Charge{ID: id, Amount: amount.Minor, Currency: amount.Currency})
	b.refs = append(b.refs, ref)
	return id
}

func (b *bank) Lookup(_ context.Context, step impl.Step, ref string) (found []impl.Charge, err error) {
	b.call(step.String(), func() { found, err = b.lookUp(step, ref) })
	return found, err
}

func (b *bank) lookUp(step impl.Step, ref string) ([]impl.Charge, error) {
	if !b.cfg.Provider.Lookup {
		b.printf("%v: the provider has none", step)
		return nil, fmt.Errorf("bank: %w", impl.ErrNoLookup)
	}
	switch f := b.fault(step); f.kind {
	case "":
	case "lag":
		b.printf("%v %s: none yet", step, b.keyName(ref))
		return nil, nil
	case "drop":
		b.printf("%v %s: no answer", step, b.keyName(ref))
		return nil, impl.ErrUnknown
	case "status":
		status, err := strconv.Atoi(f.value)
		if err != nil {
			b.t.Fatalf("status %q: %v", f.value, err)
		}
		b.printf("%v %s: answer %d", step, b.keyName(ref), status)
		return nil, &impl.ProviderError{Status: status}
	default:
		b.t.Fatalf("a look-up has no fault called %q", f.kind)
	}
	var found []impl.Charge
	var names []string
	for i, charge := range b.charges {
		if b.refs[i] == ref {
			found = append(found, charge)
			names = append(names, line(charge))
		}
	}
	b.printf("%v %s: %s", step, b.keyName(ref), orNone(names))
	return found, nil
}

func line(c impl.Charge) string {
	s := fmt.Sprintf("%s %d %s", c.ID, c.Amount, c.Currency)
	if c.Refunded {
		s += " refunded"
	}
	return s
}

func (b *bank) Refund(context.Context, impl.Step, impl.RefundRequest) error {
	panic("the reference never refunds")
}

// of returns a charge to change it, as an employee of the bank does.
func (b *bank) of(id string) *impl.Charge {
	i := slices.IndexFunc(b.charges, func(c impl.Charge) bool { return c.ID == id })
	if i < 0 {
		b.t.Fatalf("there is no charge %q", id)
	}
	return &b.charges[i]
}
