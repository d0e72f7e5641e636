package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Scenario is what clients want, as data.
type Scenario struct {
	Name    string
	Doc     string // one line
	Servers int    // replicas of the service
	Orders  []Order
	Clients [][]Pay // what each client does, one after the other
	// Calm is how long nothing goes wrong yet, but for clocks.
	Calm time.Duration
	// Chaos is until when faults may happen; after it everything heals.
	Chaos time.Duration
	// Impatience is how long a client waits for the answer to its first
	// attempt; 0 is as long as for all others.
	Impatience time.Duration
	// Collect keeps the world running until every record was forgotten.
	Collect bool
	// Absent are parts that are left out; see [Scenario.Without].
	Absent []plan.Part
}

// Order is something that a client wants to pay once.
type Order struct {
	Tenant   string
	Endpoint string // method and route; "" is "POST /payments"
	Amount   int64  // minor units
	Currency string
	Source   string // the card; "card_declined" is always declined
	// Key is the idempotency key that several clients share (two tabs of one
	// page); "" lets the client make it.
	Key string
}

// Pay is one call of a client's Pay for an order.
type Pay struct {
	Order int           // from 1
	At    time.Duration // not before this instant
}

const chaos = 2 * time.Second

func twelve(key string) Order {
	return Order{Tenant: "acme", Amount: 1200, Currency: "EUR", Source: "card_1", Key: key}
}

// Scenarios lists them, the simplest first.
var Scenarios = []Scenario{
	{
		Name: "one-payment", Doc: "one client pays one order; two replicas stand by for its retries",
		Servers: 2, Chaos: chaos,
		Orders:  []Order{twelve("")},
		Clients: [][]Pay{{{Order: 1}}},
	},
	{
		Name: "retry-other-replica", Doc: "an impatient client: it hangs up on its first attempt, and its retry goes to the other replica",
		Servers: 2, Chaos: chaos, Impatience: 25 * time.Millisecond,
		Orders:  []Order{twelve("")},
		Clients: [][]Pay{{{Order: 1}}},
	},
	{
		Name: "two-replicas-one-key", Doc: "two clients (two tabs of one page) send one key at once to two replicas",
		Servers: 2, Chaos: chaos,
		Orders:  []Order{twelve("page-7f3a")},
		Clients: [][]Pay{{{Order: 1}}, {{Order: 1}}},
	},
	{
		Name: "other-amount", Doc: "two clients use one key for two amounts: one of them must hear that it does not match",
		Servers: 2, Chaos: chaos,
		Orders: []Order{
			twelve("page-7f3a"),
			{Tenant: "acme", Amount: 9900, Currency: "EUR", Source: "card_1", Key: "page-7f3a"},
		},
		Clients: [][]Pay{{{Order: 1}}, {{Order: 2}}},
	},
	{
		Name: "retry-after-retention", Doc: "a job is delivered again, with the same key, long after it was done but within the retry horizon",
		Servers: 2, Chaos: 3800 * time.Millisecond, Collect: true,
		Orders:  []Order{twelve("")},
		Clients: [][]Pay{{{Order: 1}, {Order: 1, At: 3600 * time.Millisecond}}},
	},
	{
		Name: "decline", Doc: "a card is declined, and the client asks again",
		Servers: 2, Chaos: chaos,
		Orders:  []Order{{Tenant: "acme", Amount: 1200, Currency: "EUR", Source: "card_declined"}},
		Clients: [][]Pay{{{Order: 1}, {Order: 1, At: 300 * time.Millisecond}}},
	},
	{
		Name: "mixed", Doc: "three clients of two tenants, four orders, shared and equal keys, a decline, two replicas",
		Servers: 2, Chaos: chaos,
		Orders: []Order{
			twelve("page-7f3a"),
			{Tenant: "acme", Amount: 4550, Currency: "USD", Source: "card_2", Key: "page-91bc"},
			{Tenant: "globex", Amount: 1200, Currency: "EUR", Source: "card_3", Key: "page-7f3a"},
			{Tenant: "globex", Amount: 700, Currency: "EUR", Source: "card_declined"},
		},
		Clients: [][]Pay{
			{{Order: 1}, {Order: 2}},
			{{Order: 1}, {Order: 2, At: 400 * time.Millisecond}},
			{{Order: 3}, {Order: 4}},
		},
	},
	{
		Name: "amounts-equal-as-floats", Doc: "two clients use one key for two amounts that are one number in floating point: one of them must hear that it does not match",
		Servers: 2, Chaos: chaos,
		Orders: []Order{
			{Tenant: "acme", Amount: 1<<53 + 1, Currency: "IDR", Source: "card_1", Key: "page-7f3a"},
			{Tenant: "acme", Amount: 1 << 53, Currency: "IDR", Source: "card_1", Key: "page-7f3a"},
		},
		Clients: [][]Pay{{{Order: 1}}, {{Order: 2}}},
	},
	{
		Name: "one-key-everywhere", Doc: "one key and one body for a payment, for a tip, and for the payment of another tenant: three operations",
		Servers: 2, Chaos: chaos,
		Orders: []Order{
			twelve("order-7"),
			{Tenant: "acme", Endpoint: "POST /tips", Amount: 1200, Currency: "EUR", Source: "card_1", Key: "order-7"},
			{Tenant: "globex", Amount: 1200, Currency: "EUR", Source: "card_1", Key: "order-7"},
		},
		Clients: [][]Pay{{{Order: 1}, {Order: 2}}, {{Order: 3}}},
	},
	{
		Name: "long-trouble", Doc: "one client pays one order, and faults may happen for longer than some providers keep a key",
		Servers: 2, Chaos: 5 * time.Second,
		Orders:  []Order{twelve("")},
		Clients: [][]Pay{{{Order: 1}}},
	},
	{
		Name: "one-replica", Doc: "a job is delivered twice to a service that has one process and no other",
		Servers: 1, Chaos: chaos,
		Orders:  []Order{twelve("")},
		Clients: [][]Pay{{{Order: 1}, {Order: 1, At: 300 * time.Millisecond}}},
	},
	{
		Name: "retry-at-horizon", Doc: "a job is done, and is delivered again, with the same key, at the last instant at which its client may retry",
		Servers: 2, Calm: 7500 * time.Millisecond, Chaos: 9200 * time.Millisecond, Collect: true,
		Orders:  []Order{twelve("")},
		Clients: [][]Pay{{{Order: 1}, {Order: 1, At: 8 * time.Second}}},
	},
}

// ScenarioByName returns a scenario; the error lists the names.
func ScenarioByName(name string) (Scenario, error) {
	var names []string
	for _, s := range Scenarios {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("no scenario is called %q; the scenarios are %s", name, strings.Join(names, ", "))
}

// Without returns the scenario without these parts, and without all that were
// left out before. The others keep their names and their times: nobody pays
// an order that is left out, a client that is left out or has nothing to pay
// is not started, and attempts go round among the servers that are left. An
// order that only absent clients would pay need not be named. The error says
// which part the scenario does not have, or what it needs.
func (s Scenario) Without(parts ...plan.Part) (Scenario, error) {
	s.Absent = append(slices.Clip(s.Absent), parts...)
	if err := s.validate(); err != nil {
		return s, err
	}
	s.Absent = slices.DeleteFunc(s.Absent, func(p plan.Part) bool { return p.Process == 0 && !s.wanted(p.Order) })
	return s, nil
}

// wanted reports whether a client that is there has an order in its program,
// even if that order is left out.
func (s *Scenario) wanted(order int) bool {
	for i, program := range s.Clients {
		if slices.Contains(s.Absent, plan.Part{Process: plan.Client | plan.Process(i+1)}) {
			continue
		}
		if slices.ContainsFunc(program, func(p Pay) bool { return p.Order == order }) {
			return true
		}
	}
	return false
}

// Parts lists what can be left out, one at a time: the clients, the orders
// that somebody pays, and the servers, of each the last one first.
func (s *Scenario) Parts() (parts []plan.Part) {
	var orders [plan.MaxOrder + 1]bool
	for i := len(s.Clients); i >= 1; i-- {
		for _, p := range s.program(i) {
			orders[p.Order] = true
		}
		if len(s.program(i)) > 0 {
			parts = append(parts, plan.Part{Process: plan.Client | plan.Process(i)})
		}
	}
	for i := len(s.Orders); i >= 1; i-- {
		if orders[i] {
			parts = append(parts, plan.Part{Order: i})
		}
	}
	for _, server := range slices.Backward(s.servers()) {
		parts = append(parts, plan.Part{Process: server})
	}
	return parts
}

// program is what the i-th client does, from 1; nothing if it is left out.
func (s *Scenario) program(i int) []Pay {
	all := s.Clients[i-1]
	if len(s.Absent) == 0 {
		return all
	}
	if slices.Contains(s.Absent, plan.Part{Process: plan.Client | plan.Process(i)}) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(p Pay) bool { return slices.Contains(s.Absent, plan.Part{Order: p.Order}) })
}

// servers are the replicas that are there.
func (s *Scenario) servers() (all []plan.Process) {
	for i := range s.Servers {
		if id := plan.Server | plan.Process(i+1); !slices.Contains(s.Absent, plan.Part{Process: id}) {
			all = append(all, id)
		}
	}
	return all
}

func (s *Scenario) validate() error {
	if s.Servers < 1 || s.Servers > plan.MaxIndex || len(s.Clients) < 1 || len(s.Clients) > plan.MaxIndex ||
		len(s.Orders) < 1 || len(s.Orders) > plan.MaxOrder || s.Chaos <= s.Calm || s.Calm < 0 {
		return fmt.Errorf("sim: scenario %q: want 1 to %d servers and clients, 1 to %d orders and some time for faults", s.Name, plan.MaxIndex, plan.MaxOrder)
	}
	for _, program := range s.Clients {
		for _, p := range program {
			if p.Order < 1 || p.Order > len(s.Orders) {
				return fmt.Errorf("sim: scenario %q: there is no order %d", s.Name, p.Order)
			}
		}
	}
	return s.validateAbsent()
}

func (s *Scenario) validateAbsent() error {
	for _, p := range s.Absent {
		has := p.Process == 0 && p.Order <= len(s.Orders) ||
			p.Process.Kind() == plan.Client && p.Process.Index() <= len(s.Clients) ||
			p.Process.Kind() == plan.Server && p.Process.Index() <= s.Servers
		if !has {
			return fmt.Errorf("sim: scenario %q: there is no %s to leave out", s.Name, p)
		}
	}
	working := false
	for i := range s.Clients {
		working = working || len(s.program(i+1)) > 0
	}
	switch {
	case !working:
		return fmt.Errorf("sim: scenario %q: no client is left that pays something", s.Name)
	case len(s.servers()) == 0:
		return fmt.Errorf("sim: scenario %q: no server is left", s.Name)
	}
	return nil
}
