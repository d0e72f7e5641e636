package designs

import (
	"context"
	"errors"
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// decisions are the points at which a design may decide otherwise than the
// reference; nil decides as the reference does. Without any, a twin makes the
// same calls in the same order as impl.Service, and a test holds it to that,
// so what a design of this kind gets wrong is what its own file says.
type decisions struct {
	// claim settles what a claim keeps of its request.
	claim func(req *impl.Request, fresh *impl.Record)
	// known asks whether a record answers a request of this fingerprint.
	known func(r *run, rec *impl.Record, fingerprint string) bool
	// replay tells the reply of a terminal record.
	replay func(r *run, rec impl.Record) (impl.Reply, error)
	// busy answers while a live owner works on the record.
	busy func(r *run, rec impl.Record) (impl.Reply, error)
	// leaseOver asks whether nobody is kept off any more.
	leaseOver func(r *run, rec *impl.Record, now time.Time) bool

	// mark runs right before a send is permitted, and returns the record.
	mark func(r *run, rec impl.Record) (impl.Record, error)
	// maySend permits a send.
	maySend func(r *run, rec *impl.Record) bool
	// request is what is sent to the provider.
	request func(r *run, rec *impl.Record) impl.ChargeRequest
	// unsure answers a run that ends without knowing the outcome; err is the
	// charge's, or nil if the run was not permitted to send.
	unsure func(r *run, rec impl.Record, err error) (impl.Reply, error)

	// resolve stands in for all of resolve.
	resolve func(t *twin, r *run, rec impl.Record, by want) (impl.Reply, error)
	// look reads the clock and looks up.
	look func(r *run, rec *impl.Record) (now time.Time, charges []impl.Charge, err error)
	// notFound decides on a record under which no charge is found.
	notFound func(r *run, rec impl.Record) (impl.Reply, error)
	// canSend asks whether the provider's window is open.
	canSend func(r *run, rec *impl.Record, now time.Time) bool
	// dead asks whether no send can still land unseen.
	dead func(r *run, rec *impl.Record, now time.Time) bool
	// resend asks whether a second send may follow the first.
	resend func(r *run, rec *impl.Record) bool
}

func (d decisions) handler(cfg impl.Config, ports impl.Ports) impl.Handler {
	return &twin{cfg, ports, d}
}

func (d decisions) reconciler(cfg impl.Config, ports impl.Ports) impl.Reconciler {
	return &twin{cfg, ports, d}
}

// twin is the reference's handler and reconciler with its decisions taken out.
type twin struct {
	cfg   impl.Config
	ports impl.Ports
	decisions
}

func (t *twin) begin(ctx context.Context) *run {
	return &run{Run: impl.Begin(ctx, &t.cfg, &t.ports), cfg: &t.cfg, ports: &t.ports, ctx: ctx}
}

func (t *twin) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	fresh, err := impl.Parse(req)
	if err != nil {
		return impl.Reply{}, err
	}
	if t.claim != nil {
		t.claim(&req, &fresh)
	}
	r := t.begin(ctx)
	r.body = req.Body
	rec, mine, err := r.Claim(fresh)
	switch {
	case err != nil:
		return impl.Reply{}, err
	case mine:
		return t.charge(r, rec)
	default:
		return t.follow(r, rec, fresh.Fingerprint)
	}
}

func (t *twin) follow(r *run, rec impl.Record, fingerprint string) (impl.Reply, error) {
	for waited := false; ; waited = true {
		switch {
		case !t.answers(r, &rec, fingerprint):
			return impl.Reply{}, impl.ErrMismatch
		case rec.State.Terminal():
			return t.tell(r, rec)
		case rec.State == impl.StateReview:
			return r.InProgress()
		case t.over(r, &rec, t.ports.Clock.Now()):
			return t.settleOrSend(r, rec, true)
		case waited || t.cfg.InProgressWait == 0:
			return t.wait(r, rec)
		}
		if t.ports.Clock.Sleep(r.ctx, t.cfg.InProgressWait) != nil {
			return r.InProgress()
		}
		var ok bool
		var err error
		if rec, ok, err = r.ReadBack(rec.ID); err != nil || !ok {
			return r.InProgress()
		}
	}
}

func (t *twin) answers(r *run, rec *impl.Record, fingerprint string) bool {
	if t.known != nil {
		return t.known(r, rec, fingerprint)
	}
	return rec.Fingerprint == fingerprint
}

func (t *twin) tell(r *run, rec impl.Record) (impl.Reply, error) {
	if t.replay != nil {
		return t.replay(r, rec)
	}
	return impl.Replay(rec)
}

func (t *twin) wait(r *run, rec impl.Record) (impl.Reply, error) {
	if t.busy != nil {
		return t.busy(r, rec)
	}
	return r.InProgress()
}

func (t *twin) over(r *run, rec *impl.Record, now time.Time) bool {
	if t.leaseOver != nil {
		return t.leaseOver(r, rec, now)
	}
	return r.LeaseOver(rec, now)
}

func (t *twin) charge(r *run, rec impl.Record) (impl.Reply, error) {
	if !t.cfg.Provider.Keys && rec.State == impl.StateClaimed {
		next := rec
		next.State = impl.StateSent
		marked, err := r.Write(impl.StepMarkSent, rec, next)
		if err != nil {
			return r.AnswerLost(marked)
		}
		rec = marked
	}
	if t.mark != nil {
		marked, err := t.mark(r, rec)
		if err != nil {
			return r.AnswerLost(marked)
		}
		rec = marked
	}
	if !t.permitted(r, &rec) {
		return t.leave(r, rec, nil)
	}
	result, err := t.ports.Provider.Charge(r.ctx, impl.StepCharge, t.chargeRequest(r, &rec))
	r.Observe(impl.StepCharge, rec.ID, err)
	if err != nil {
		return t.leave(r, rec, err)
	}
	return r.save(rec, result)
}

func (t *twin) permitted(r *run, rec *impl.Record) bool {
	if t.maySend != nil {
		return t.maySend(r, rec)
	}
	return r.MaySend(rec)
}

func (t *twin) chargeRequest(r *run, rec *impl.Record) impl.ChargeRequest {
	if t.request != nil {
		return t.request(r, rec)
	}
	req := impl.ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request}
	if t.cfg.Provider.Keys {
		req.Key = rec.ProviderKey
	}
	return req
}

func (t *twin) leave(r *run, rec impl.Record, err error) (impl.Reply, error) {
	if t.unsure != nil {
		return t.unsure(r, rec, err)
	}
	return r.InProgress()
}

func (t *twin) settleOrSend(r *run, rec impl.Record, by want) (impl.Reply, error) {
	r.Renew()
	if t.resolve != nil {
		return t.resolve(t, r, rec, by)
	}
	now, charges, err := t.lookUp(r, &rec)
	noLookup := errors.Is(err, impl.ErrNoLookup)
	switch {
	case err != nil && !noLookup:
		return r.InProgress()
	case len(charges) > 0:
		return t.found(r, rec, charges)
	case rec.State == impl.StateReview:
		return r.InProgress()
	case t.notFound != nil:
		return t.notFound(r, rec)
	}
	neverSent := !t.cfg.Provider.Keys && rec.State == impl.StateClaimed
	dead := t.isDead(r, &rec, now)
	resend := neverSent || dead && (t.cfg.Provider.Keys || !noLookup) || t.joins(r, &rec)
	windowOpen := t.windowOpen(r, &rec, now.Add(t.cfg.HealthyRun))
	notCharged := dead && (neverSent || !noLookup)
	switch {
	case bool(by) && windowOpen && resend:
		taken, err := r.TakeOver(rec, now)
		if err != nil {
			return r.AnswerLost(taken)
		}
		return t.charge(r, taken)
	case notCharged && (r.Unwanted(&rec, now) || !windowOpen):
		return r.Complete(rec, impl.StepSettle, impl.DeclinedReply("not_charged"))
	case dead && !notCharged && (!t.cfg.Provider.Keys || !windowOpen):
		return r.review(rec)
	default:
		return r.InProgress()
	}
}

func (t *twin) lookUp(r *run, rec *impl.Record) (time.Time, []impl.Charge, error) {
	if t.look != nil {
		return t.look(r, rec)
	}
	now := t.ports.Clock.Now()
	charges, err := r.lookUp(rec)
	return now, charges, err
}

func (t *twin) isDead(r *run, rec *impl.Record, now time.Time) bool {
	if t.dead != nil {
		return t.dead(r, rec, now)
	}
	return r.Dead(rec, now)
}

// joins reports whether a second send is sure to be one with the first.
func (t *twin) joins(r *run, rec *impl.Record) bool {
	if t.resend != nil {
		return t.resend(r, rec)
	}
	return t.cfg.Provider.Keys && t.cfg.Provider.StoresDeclines
}

func (t *twin) windowOpen(r *run, rec *impl.Record, now time.Time) bool {
	if t.canSend != nil {
		return t.canSend(r, rec, now)
	}
	frozen := t.cfg.Provider.Keys && t.cfg.Provider.StoresFailures
	return !frozen && r.CanSend(rec, now)
}

func (t *twin) found(r *run, rec impl.Record, charges []impl.Charge) (impl.Reply, error) {
	switch {
	case len(charges) == 1 && matches(rec, charges[0]):
		return r.Complete(rec, impl.StepComplete, impl.PaidReply(&rec, charges[0].ID))
	case rec.State == impl.StateReview:
		return r.InProgress()
	default:
		return r.review(rec)
	}
}

func (t *twin) Reconcile(ctx context.Context) error {
	now := t.ports.Clock.Now()
	for rec, err := range impl.Begin(ctx, &t.cfg, &t.ports).Sweep(now) {
		if err != nil {
			return err
		}
		_, _ = t.settleOrSend(t.begin(ctx), rec, want(t.cfg.RollForward))
	}
	return t.collect(ctx)
}

func (t *twin) collect(ctx context.Context) error {
	now := t.ports.Clock.Now()
	expired, err := t.ports.Registry.Expired(ctx, impl.StepCollect, now, sweepLimit)
	if err != nil {
		return err
	}
	for _, rec := range expired {
		if rec.Tombstone {
			_ = t.ports.Registry.Delete(ctx, impl.StepCollect, rec.ID, rec.Fence())
			continue
		}
		next := rec
		next.Tombstone = true
		next.Reply = impl.Reply{Outcome: rec.Reply.Outcome, Status: rec.Reply.Status, ChargeID: rec.Reply.ChargeID}
		next.Request = nil
		next.ExpiresAt = now.Add(t.cfg.ProviderWindow)
		next.Owner = t.ports.IDs.Owner()
		_ = t.ports.Registry.Update(ctx, impl.StepCollect, rec.Fence(), next)
	}
	return nil
}
