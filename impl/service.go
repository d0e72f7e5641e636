package impl

import "context"

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

// Handle answers one attempt: the stored reply of the operation, or one of
// ErrInProgress, ErrMismatch, ErrGone, ErrUnavailable and ErrRefused. It goes
// on when the client has gone; give it a context that the client's
// connection does not cancel.
func (s *Service) Handle(ctx context.Context, req Request) (Reply, error) {
	fresh, err := Parse(req)
	if err != nil {
		return Reply{}, err
	}
	r := Begin(ctx, &s.cfg, &s.ports)
	reply, err := r.answer(fresh)
	r.Observe(StepReply, fresh.ID, err)
	return reply, err
}

// answer claims the operation and goes on by whose it is.
func (r *Run) answer(fresh Record) (Reply, error) {
	rec, mine, err := r.Claim(fresh)
	switch {
	case err != nil:
		return Reply{}, err
	case mine:
		return r.charge(rec)
	default:
		return r.follow(rec, fresh.Fingerprint)
	}
}

// follow answers by what somebody else has written. It waits once for a live
// owner.
func (r *Run) follow(rec Record, fingerprint string) (Reply, error) {
	for waited := false; ; waited = true {
		switch {
		case rec.Fingerprint != fingerprint:
			return Reply{}, ErrMismatch
		case rec.State.Terminal():
			return Replay(rec)
		case rec.State == StateReview:
			return r.InProgress()
		case r.LeaseOver(&rec, r.ports.Clock.Now()):
			return r.resolve(rec, wanted)
		case waited || r.cfg.InProgressWait == 0:
			return r.InProgress()
		}
		if r.ports.Clock.Sleep(r.ctx, r.cfg.InProgressWait) != nil {
			return r.InProgress()
		}
		var ok bool
		var err error
		if rec, ok, err = r.ReadBack(rec.ID); err != nil || !ok {
			return r.InProgress()
		}
	}
}

// charge sends the record's request under the record's provider key, once.
// An answer is definite either way: the provider stores declines under the
// key, or no other send can land any more (see resolve).
func (r *Run) charge(rec Record) (Reply, error) {
	if !r.cfg.Provider.Keys && rec.State == StateClaimed {
		next := rec
		next.State = StateSent
		marked, err := r.Write(StepMarkSent, rec, next)
		if err != nil {
			return r.AnswerLost(marked)
		}
		rec = marked
	}
	if !r.MaySend(&rec) {
		return r.InProgress()
	}
	result, err := r.ports.Provider.Charge(r.ctx, StepCharge, r.chargeRequest(&rec))
	r.Observe(StepCharge, rec.ID, err)
	switch {
	case err == nil && result.Approved:
		return r.Complete(rec, StepComplete, PaidReply(&rec, result.ChargeID))
	case err == nil:
		return r.Complete(rec, StepComplete, DeclinedReply(result.Code))
	default: // unknown: whatever it was, it may still become a charge
		return r.InProgress()
	}
}

func (r *Run) chargeRequest(rec *Record) ChargeRequest {
	req := ChargeRequest{Ref: rec.ProviderKey, Body: rec.Request}
	if r.cfg.Provider.Keys {
		req.Key = rec.ProviderKey
	}
	return req
}
