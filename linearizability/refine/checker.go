package refine

import (
	"math"
	"time"

	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/model/protocol"
)

// Checker judges the steps of one run of the system after the other and keeps
// its memory. It is not safe for concurrent use.
type Checker struct {
	cfg   Config
	model protocol.Config
	told  func(Taken)

	steps      *history.Steps
	next       []int32 // of each step: the next one in which its run calls, ends or dies
	operations []operation
	runs       []run
	sends      []send
	at         int   // the step that is judged now
	about      int32 // the operation that it is about
	found      *Divergence
}

// Taken is an action of the model that a step stands for.
type Taken struct {
	Operation int32 // an index of the steps' operations
	Step      int32 // an index of the steps
	Action    protocol.Action
	State     protocol.State // after it
}

// Result is what a check came to.
type Result struct {
	// Divergence is the first step that is none of the model's, nil if there is
	// none.
	Divergence *Divergence
	// Unjudged is how many operations outgrew the room of the model's state;
	// of them nothing is said from there on.
	Unjudged int
}

// operation is the model's state of one operation, and what is to be known
// beyond it.
type operation struct {
	state       protocol.State
	order       string              // the intent that its key names
	asked       time.Duration       // when that was first asked for
	parameters  [2]string           // the fingerprints that are P and Q
	fingerprint string              // as claimed
	request     uint64              // digest of the provider request, as claimed
	providerKey string              // as claimed
	windowFrom  time.Duration       // as claimed
	leaseUntil  time.Duration       // of the record as it is
	charges     []string            // the provider's names of the charges, in the model's order
	slots       [handlers + 2]int32 // the run in each slot, history.Nowhere if there is none
	next        time.Duration       // no fact comes true by itself before this instant
	collected   bool
	unjudged    bool
}

// run is what is to be known of a run beyond its place in the model.
type run struct {
	slot      protocol.Slot // 0: it has not claimed yet
	call      int32         // its last call, history.Nowhere before the first
	called    time.Duration // when it made that
	done      bool          // what became of that call, as the run knows it, is in the model
	blind     bool          // its last read had no answer
	absent    bool          // its last read found no record
	waived    bool          // its claim was unanswered before it was made, see expire
	over      bool
	operation int32
	listed    time.Duration // the reconciler's: when it got its list
	listing   int32         // the reconciler's: the step of its last list
	lease     time.Duration // as it last wrote it
}

// send is a charge request, or an update that was not acknowledged.
type send struct {
	message  protocol.Message
	write    protocol.Write
	original bool // on its way
	copied   bool // and so is a copy
	late     bool // write may still be applied
}

// New returns a checker for runs of systems of this configuration.
func New(cfg Config) *Checker {
	return &Checker{cfg: cfg, model: cfg.model()}
}

// Model returns the configuration of the model that runs are held against.
func (c *Checker) Model() protocol.Config { return c.model }

// Tell makes the checker tell each action that it takes; nil tells none.
func (c *Checker) Tell(told func(Taken)) { c.told = told }

// Check judges the steps of one run of the system.
func (c *Checker) Check(steps *history.Steps) Result {
	c.begin(steps)
	for c.at < len(steps.Steps) && c.found == nil {
		c.judge()
	}
	r := Result{Divergence: c.found}
	for i := range c.operations {
		if c.operations[i].unjudged {
			r.Unjudged++
		}
	}
	return r
}

func (c *Checker) begin(steps *history.Steps) {
	c.steps, c.at, c.found = steps, 0, nil
	c.operations = resized(c.operations, len(steps.Operations))
	initial := protocol.Initial(&c.model)
	for i := range c.operations {
		o := &c.operations[i]
		*o = operation{state: initial, charges: o.charges[:0], next: math.MaxInt64}
		for h := range o.slots {
			o.slots[h] = history.Nowhere
		}
	}
	c.runs = resized(c.runs, len(steps.Runs))
	for i := range c.runs {
		c.runs[i] = run{call: history.Nowhere, operation: history.Nowhere, listing: history.Nowhere}
	}
	c.sends = resized(c.sends, len(steps.Calls))
	clear(c.sends)
	c.lookAhead()
}

func resized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// lookAhead finds for each step what its run does next. It uses the runs'
// memory for what it has come by last, going backwards.
func (c *Checker) lookAhead() {
	steps := c.steps.Steps
	c.next = resized(c.next, len(steps))
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		r := &c.runs[s.Run]
		c.next[i] = r.call
		if s.Kind == history.StepCall || s.Kind == history.StepEnd || s.Kind == history.StepDied {
			r.call = int32(i)
		}
	}
	for i := range c.runs {
		c.runs[i].call = history.Nowhere
	}
}

// judge judges steps to the end, or until an operation is out of room.
func (c *Checker) judge() {
	defer func() {
		if v := recover(); v != nil {
			if _, full := v.(protocol.OutOfRoom); !full {
				panic(v)
			}
			c.operations[c.about].unjudged = true
			c.at++
		}
	}()
	for ; c.at < len(c.steps.Steps); c.at++ {
		if !c.step(&c.steps.Steps[c.at]) {
			return
		}
	}
}

// step judges one step. It returns false if the run diverges.
func (c *Checker) step(s *history.Step) bool {
	r := &c.runs[s.Run]
	if !c.ages(s.At) {
		return false
	}
	switch s.Kind {
	case history.StepBegin:
		return c.begins(s, r)
	case history.StepCall:
		return c.calls(s, r)
	case history.StepServed:
		return c.served(s, r)
	case history.StepListed:
		return c.listed(s, r)
	case history.StepCopied:
		return c.copied(s)
	case history.StepLost:
		return c.lost(s)
	case history.StepEnd:
		return c.ends(s, r)
	default:
		return c.dies(s, r)
	}
}

// take lets the model take an action; false is a divergence.
func (c *Checker) take(o *operation, a protocol.Action) bool {
	next, ok := protocol.Take(&c.model, o.state, a)
	if !ok {
		return c.diverge(o, a, "the model cannot do that here")
	}
	return c.accept(o, a, next)
}

func (c *Checker) accept(o *operation, a protocol.Action, next protocol.State) bool {
	o.state = next
	if c.told != nil {
		c.told(Taken{c.about, int32(c.at), a, next})
	}
	return true
}

// begins notes whose attempt a handler answers.
func (c *Checker) begins(s *history.Step, r *run) bool {
	told := &c.steps.Runs[s.Run]
	if told.Reconciler {
		return true
	}
	r.operation = told.Operation
	o := c.operation(told.Operation)
	for i := range c.operations {
		other := &c.operations[i]
		if other != o && other.order == told.Order && other.order != "" {
			return c.diverge(o, protocol.Action{}, told.Order+" is asked for under a second key, and in the model an operation has one")
		}
	}
	if o.order == "" {
		o.order, o.asked = told.Order, told.Asked
	}
	if told.Asked > o.asked+c.cfg.RetryHorizon+c.cfg.MaxClockSkew {
		return c.diverge(o, protocol.Action{Kind: protocol.Claim}, "the attempt was made after the retry horizon")
	}
	return true
}

// operation returns an operation, and remembers that it is the one that the
// step is about.
func (c *Checker) operation(number int32) *operation {
	c.about = number
	return &c.operations[number]
}

// parametersOf says which of the model's parameters a fingerprint stands for:
// the first that comes is P.
func (o *operation) parametersOf(fingerprint string) protocol.Parameters {
	for i := range o.parameters {
		if o.parameters[i] == "" {
			o.parameters[i] = fingerprint
		}
		if o.parameters[i] == fingerprint {
			return protocol.P + protocol.Parameters(i)
		}
	}
	panic(protocol.OutOfRoom{Of: "parameters"})
}

// enter gives a handler's run a slot of its own.
func (c *Checker) enter(o *operation, number int32) {
	for h := protocol.Slot(1); h < reconciler; h++ {
		if o.slots[h] == history.Nowhere {
			o.slots[h] = number
			c.runs[number].slot = h
			return
		}
	}
	panic(protocol.OutOfRoom{Of: "runs"})
}

// leave frees the slot of a run.
func (c *Checker) leave(o *operation, h protocol.Slot) { o.slots[h] = history.Nowhere }

// concerns returns the operation that a call is about, nil for one about
// none.
func (c *Checker) concerns(number int32) *operation {
	call := &c.steps.Calls[number]
	switch call.Verb {
	case history.VerbUnfinished, history.VerbExpired, history.VerbRefund:
		return nil
	case history.VerbCharge, history.VerbLookup:
		if own := c.runs[call.Run].operation; own != history.Nowhere && !c.steps.Runs[call.Run].Reconciler {
			return c.operation(own)
		}
		for i := range c.operations {
			if c.operations[i].providerKey == call.Ref {
				return c.operation(int32(i))
			}
		}
		return nil
	default:
		return c.operation(call.Operation)
	}
}

// slotOf is where a run is in an operation.
func (c *Checker) slotOf(number int32) protocol.Slot {
	if c.steps.Runs[number].Reconciler {
		return reconciler
	}
	return c.runs[number].slot
}
