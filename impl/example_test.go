package impl_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/impl/system"
)

// toyProvider approves everything and keeps its keys for ever.
type toyProvider struct {
	byKey map[string]impl.Charge
}

func (p *toyProvider) Charge(_ context.Context, _ impl.Step, req impl.ChargeRequest) (impl.ChargeResult, error) {
	charge, ok := p.byKey[req.Key]
	if !ok {
		amount, err := impl.ParseAmount(req.Body)
		if err != nil {
			return impl.ChargeResult{}, &impl.ProviderError{Status: 400}
		}
		charge = impl.Charge{ID: fmt.Sprintf("ch_%d", len(p.byKey)+1), Amount: amount.Minor, Currency: amount.Currency}
		p.byKey[req.Key] = charge
	}
	return impl.ChargeResult{Approved: true, ChargeID: charge.ID}, nil
}

func (p *toyProvider) Lookup(_ context.Context, _ impl.Step, ref string) ([]impl.Charge, error) {
	if charge, ok := p.byKey[ref]; ok {
		return []impl.Charge{charge}, nil
	}
	return nil, nil
}

func (p *toyProvider) Refund(context.Context, impl.Step, impl.RefundRequest) error {
	return &impl.ProviderError{Status: 501}
}

// deployment states what this deployment can promise. The durations depend on
// one another; Validate says which.
func deployment() impl.Config {
	return impl.Config{
		Lease:             30 * time.Second,
		HealthyRun:        20 * time.Second,
		MessageLifetime:   2 * time.Minute,
		MaxClockSkew:      time.Second,
		ProviderWindow:    24 * time.Hour,
		LookupLag:         10 * time.Second,
		RetryHorizon:      12 * time.Hour,
		Retention:         48 * time.Hour,
		ReconcileInterval: time.Minute,
		InProgressWait:    2 * time.Second,
		Provider:          impl.Profile{Keys: true, StoresDeclines: true, Lookup: true},
	}
}

// A payment, its retry, and another payment under the same key.
func Example() {
	service, err := impl.New(deployment(), impl.Ports{
		Registry: memory.New(), // one that keeps its records, for real money
		Provider: &toyProvider{byKey: map[string]impl.Charge{}},
		Clock:    system.Clock{},
		IDs:      system.RandomIDs{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pay := func(body string) {
		reply, err := service.Handle(context.Background(), impl.Request{
			Scope:    impl.Scope("acme", "POST /payments"),
			Endpoint: "POST /payments",
			Key:      "order-4711",
			Body:     []byte(body),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %s, replayed: %v\n", reply.Status, reply.Body, reply.Replayed)
	}
	pay(`{"amount": 1200, "currency": "EUR"}`)
	pay(`{"currency": "EUR", "amount": 1200}`)
	pay(`{"amount": 1300, "currency": "EUR"}`)
	// Output:
	// 201 {"status":"paid","charge":"ch_1","amount":1200,"currency":"EUR"}, replayed: false
	// 201 {"status":"paid","charge":"ch_1","amount":1200,"currency":"EUR"}, replayed: true
	// impl: the idempotency key was used with other parameters
}

// Validate names every assumption that the numbers break.
func ExampleConfig_Validate() {
	cfg := deployment()
	cfg.Retention = 12 * time.Hour
	cfg.ProviderWindow = 3 * time.Minute
	fmt.Println(cfg.Validate())
	// Output:
	// impl: config: A4: Retention is 12h0m0s: want more than RetryHorizon + 2·MessageLifetime + MaxClockSkew = 12h4m1s, or a retry finds its record forgotten
	// impl: config: A1: ProviderWindow is 3m0s: want more than Lease + ReconcileInterval + HealthyRun + MessageLifetime + 2·MaxClockSkew = 3m52s, or no second send fits into it
}

// What is not final says when to ask again.
func ExampleInProgressError() {
	err := error(&impl.InProgressError{RetryAfter: 5 * time.Second})
	if hint, ok := errors.AsType[*impl.InProgressError](err); ok {
		fmt.Println(errors.Is(err, impl.ErrInProgress), hint.RetryAfter)
	}
	// Output: true 5s
}
