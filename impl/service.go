package impl

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/chargeonce/chargeonce/impl/fingerprint"
	"github.com/chargeonce/chargeonce/impl/idemkey"
)

// Service is the reference handler and reconciler. It holds no state of its
// own: everything that must survive a crash is in the registry.
type Service struct {
	cfg   Config
	ports Ports
}

// New returns a service. It returns Validate's error when the configuration
// breaks an assumption.
func New(cfg Config, ports Ports) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Service{cfg, ports}, nil
}

// run is one run of the handler, or of the reconciler on one record. Its
// owner token is its own: two runs of one process are two owners.
type run struct {
	cfg   *Config
	ports *Ports
	ctx   context.Context
	owner string
}

func (s *Service) begin(ctx context.Context) *run {
	return &run{&s.cfg, &s.ports, ctx, s.ports.IDs.Owner()}
}

// Handle answers one attempt: the stored reply of the operation, or one of
// ErrInProgress, ErrMismatch, ErrGone, ErrUnavailable and ErrRefused. It goes
// on when the client has gone; give it a context that the client's
// connection does not cancel.
func (s *Service) Handle(ctx context.Context, req Request) (Reply, error) {
	fresh, err := s.parse(req)
	if err != nil {
		return Reply{}, err
	}
	r := s.begin(ctx)
	rec, mine, err := r.claim(fresh)
	switch {
	case err != nil:
		return Reply{}, err
	case mine:
		return r.charge(rec, firstSender)
	default:
		return r.follow(rec, fresh.Fingerprint)
	}
}

// parse bounds the key, computes the fingerprint, and derives everything of
// the record that does not depend on time.
func (s *Service) parse(req Request) (Record, error) {
	key, err := idemkey.Parse(req.Key)
	if err != nil {
		return Record{}, &RefusedError{"key", err}
	}
	print, err := fingerprint.Of(req.Endpoint, req.Body)
	if err != nil {
		return Record{}, &RefusedError{"body", err}
	}
	if _, err := ParseAmount(print.Canonical); err != nil {
		return Record{}, &RefusedError{"body", err}
	}
	return Record{
		ID:          ID{req.Scope, key},
		Fingerprint: print.Digest,
		Request:     print.Canonical,
		ProviderKey: idemkey.Derive(req.Scope, key, "charge", 1),
		State:       StateClaimed,
	}, nil
}

// claim inserts the record if the operation has none. It returns what is
// there, and whether this run owns it.
func (r *run) claim(fresh Record) (Record, bool, error) {
	now := r.ports.Clock.Now()
	fresh.WindowFrom = now
	fresh.LeaseUntil = now.Add(r.cfg.Lease)
	fresh.Owner = r.owner
	stored, inserted, err := r.ports.Registry.Insert(r.ctx, StepClaim, fresh)
	r.observe(StepClaim, fresh.ID, err)
	if err == nil {
		return stored, inserted, nil
	}
	stored, ok, err := r.readBack(fresh.ID)
	if err != nil || !ok {
		return Record{}, false, ErrUnavailable
	}
	return stored, stored.Owner == r.owner && stored.State == StateClaimed, nil
}

// follow answers by what somebody else has written. It waits once for a live
// owner.
func (r *run) follow(rec Record, fingerprint string) (Reply, error) {
	for waited := false; ; waited = true {
		switch {
		case rec.Fingerprint != fingerprint:
			return Reply{}, ErrMismatch
		case rec.State.Terminal():
			return replay(rec)
		case rec.State == StateReview:
			return r.inProgress()
		case r.leaseOver(&rec, r.ports.Clock.Now()):
			return r.resolve(rec, wanted)
		case waited || r.cfg.InProgressWait == 0:
			return r.inProgress()
		}
		if r.ports.Clock.Sleep(r.ctx, r.cfg.InProgressWait) != nil {
			return r.inProgress()
		}
		var ok bool
		var err error
		if rec, ok, err = r.readBack(rec.ID); err != nil || !ok {
			return r.inProgress()
		}
	}
}

// replay tells the stored reply again. It reads and never writes.
func replay(rec Record) (Reply, error) {
	if rec.Tombstone {
		return Reply{}, ErrGone
	}
	reply := rec.Reply
	reply.Replayed = true
	return reply, nil
}

// sender says whether this run made the claim.
type sender bool

const (
	firstSender sender = true
	laterSender sender = false
)

// charge sends the record's request under the record's provider key, once.
func (r *run) charge(rec Record, who sender) (Reply, error) {
	if !r.cfg.Provider.Keys && rec.State == StateClaimed {
		next := rec
		next.State = StateSent
		marked, err := r.write(StepMarkSent, rec, next)
		if err != nil {
			return r.answerLost(marked)
		}
		rec = marked
	}
	if now := r.ports.Clock.Now(); !now.Before(rec.LeaseUntil) || !r.canSend(&rec, now) {
		return r.inProgress()
	}
	result, err := r.ports.Provider.Charge(r.ctx, StepCharge, r.chargeRequest(&rec))
	r.observe(StepCharge, rec.ID, err)
	switch {
	case err == nil && result.Approved:
		return r.complete(rec, StepComplete, PaidReply(&rec, result.ChargeID))
	case err == nil && (r.cfg.Provider.StoresDeclines || who == firstSender):
		return r.complete(rec, StepComplete, DeclinedReply(result.Code))
	default: // unknown: whatever it was, it may still become a charge
		return r.inProgress()
	}
}

func (r *run) chargeRequest(rec *Record) ChargeRequest {
	req := ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request}
	if r.cfg.Provider.Keys {
		req.Key = rec.ProviderKey
	}
	return req
}

// complete saves the reply and tells it. Whoever loses the race tells the
// winner's.
func (r *run) complete(rec Record, step Step, reply Reply) (Reply, error) {
	next := rec
	next.State = StateSucceeded
	if reply.Outcome == OutcomeDeclined {
		next.State = StateDeclined
	}
	next.Reply = reply
	next.ChargeID = reply.ChargeID
	next.ExpiresAt = r.ports.Clock.Now().Add(r.cfg.Retention)
	saved, err := r.write(step, rec, next)
	if err != nil {
		return r.answerLost(saved)
	}
	return saved.Reply, nil
}

// answerLost answers a run whose write was not applied: by what was read
// instead, which is the zero Record if that failed too.
func (r *run) answerLost(rec Record) (Reply, error) {
	if rec.State.Terminal() {
		return replay(rec)
	}
	return r.inProgress()
}

// errLost says that a write was not applied, as far as this run may assume.
var errLost = errors.New("impl: lost the record")

// write replaces rec, as it was read, by next under this run's owner token.
// A write that is not acknowledged is followed by a read: it counts as applied
// only if the record shows this run's token in the state that was written.
// It returns the record as it is now.
func (r *run) write(step Step, rec, next Record) (Record, error) {
	next.Owner = r.owner
	err := r.ports.Registry.Update(r.ctx, step, rec.Fence(), next)
	r.observe(step, rec.ID, err)
	if err == nil {
		next.Version = rec.Version + 1
		return next, nil
	}
	now, ok, err := r.readBack(rec.ID)
	switch {
	case err != nil || !ok:
		return Record{}, errLost
	case now.Owner == r.owner && now.State == next.State:
		return now, nil
	default:
		return now, errLost
	}
}

func (r *run) readBack(id ID) (Record, bool, error) {
	rec, ok, err := r.ports.Registry.Get(r.ctx, StepReadBack, id)
	r.observe(StepReadBack, id, err)
	return rec, ok, err
}

func (r *run) observe(step Step, id ID, err error) {
	if r.ports.Observer != nil {
		r.ports.Observer.Observe(Observation{step, id, err})
	}
}

func (r *run) inProgress() (Reply, error) {
	return Reply{}, &InProgressError{RetryAfter: r.cfg.Lease / 4}
}

// leaseOver reports whether nobody is kept off any more. A lease further
// ahead than anyone could have written it counts as over.
func (r *run) leaseOver(rec *Record, now time.Time) bool {
	return now.After(rec.LeaseUntil) || rec.LeaseUntil.Sub(now) > r.cfg.Lease+r.cfg.MaxClockSkew
}

// canSend reports whether the provider still collapses whatever is sent on
// the strength of this clock reading: every landing of the key then lies
// within ProviderWindow of the claim, whatever the clocks say.
func (r *run) canSend(rec *Record, now time.Time) bool {
	return now.Add(r.cfg.MessageLifetime + r.cfg.MaxClockSkew).Before(rec.WindowFrom.Add(r.cfg.ProviderWindow))
}

// dead reports whether no send that anyone was permitted can still land
// unseen by a look-up that starts after this clock reading.
func (r *run) dead(rec *Record, now time.Time) bool {
	return now.After(rec.LeaseUntil.Add(r.cfg.MessageLifetime + r.cfg.LookupLag + r.cfg.MaxClockSkew))
}

// unwanted reports whether no attempt of the operation can still arrive.
func (r *run) unwanted(rec *Record, now time.Time) bool {
	return now.After(rec.WindowFrom.Add(r.cfg.RetryHorizon + r.cfg.MessageLifetime + r.cfg.MaxClockSkew))
}

// PaidReply is the reply to a charge of the record.
func PaidReply(rec *Record, chargeID string) Reply {
	amount, _ := ParseAmount(rec.Request) // checked before the claim
	b := make([]byte, 0, 96)
	b = append(b, `{"status":"paid","charge":`...)
	b = strconv.AppendQuote(b, chargeID)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, amount.Minor, 10)
	b = append(b, `,"currency":"`...)
	b = append(b, amount.Currency...)
	b = append(b, `"}`...)
	return Reply{Outcome: OutcomePaid, Status: 201, Header: jsonHeader, Body: b, ChargeID: chargeID}
}

// DeclinedReply is the reply when there is no charge and will be none.
func DeclinedReply(code string) Reply {
	b := make([]byte, 0, 64)
	b = append(b, `{"status":"declined","code":`...)
	b = strconv.AppendQuote(b, code)
	b = append(b, '}')
	return Reply{Outcome: OutcomeDeclined, Status: 402, Header: jsonHeader, Body: b}
}

var jsonHeader = []HeaderField{{"Content-Type", "application/json"}}

// Equal reports whether two replies are the same to the client, the replay
// marker aside.
func (r *Reply) Equal(o *Reply) bool {
	if r.Outcome != o.Outcome || r.Status != o.Status || r.ChargeID != o.ChargeID || len(r.Header) != len(o.Header) {
		return false
	}
	for i := range r.Header {
		if r.Header[i] != o.Header[i] {
			return false
		}
	}
	return bytes.Equal(r.Body, o.Body)
}
