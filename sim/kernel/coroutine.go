package kernel

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
)

// Task is what runs on a coroutine.
type Task interface{ Run() }

// Coroutine is one task on its way. It is the kernel's; keep it only until
// Resume reports that it ended.
type Coroutine struct {
	kernel *Kernel
	task   Task
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool

	waits     bool // it has resumed another coroutine, which has not come back
	ended     bool
	dead      bool
	abandoned bool
	deadCalls int
	panicked  any
	stack     []byte
}

// maxDeadCalls is how often a killed task may catch its own death before it
// is abandoned.
const maxDeadCalls = 100

// death is the panic that unwinds a killed task.
type death struct{}

func (death) Error() string { return "kernel: the process is dead" }

// Goroutines that begin elsewhere in the program, in all kernels: how many
// such places are being passed now, and how often one was entered. A higher
// number of goroutines says nothing while either tells of one.
var elsewhere, entered atomic.Int64

// Elsewhere runs f, which may start goroutines, beside kernels that run on
// other goroutines at the same time: it keeps them from taking f's for their
// own code's.
func Elsewhere(f func()) {
	elsewhere.Add(1)
	entered.Add(1)
	defer elsewhere.Add(-1)
	f()
}

// Spawn prepares a coroutine for the task. Nothing runs before Resume.
func (k *Kernel) Spawn(t Task) *Coroutine {
	var c *Coroutine
	if n := len(k.idle); n > 0 {
		c = k.idle[n-1]
		k.idle = k.idle[:n-1]
	} else {
		c = &Coroutine{kernel: k}
		Elsewhere(func() { c.next, c.stop = iter.Pull(c.loop) })
		k.recount()
	}
	c.task = t
	c.ended, c.dead, c.deadCalls, c.panicked, c.stack = false, false, 0, nil, nil
	return c
}

// loop runs one task after the other.
func (c *Coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	c.kernel.current = c
	for {
		c.run()
		c.kernel.end(c)
		if !c.park() {
			return
		}
	}
}

func (c *Coroutine) run() {
	defer func() {
		if v := recover(); v != nil && !c.dead {
			c.panicked, c.stack = v, debug.Stack()
		}
	}()
	c.task.Run()
}

// Scheduler says which coroutine runs next. It is called whenever the one
// that ran has parked or ended.
type Scheduler interface {
	// Next lets events happen until one of them lets a coroutine go on, and
	// returns that coroutine; nil ends the run.
	Next() *Coroutine
	// Ended is told that a task has ended: its status is Ended or Panicked.
	Ended(t Task, s Status)
}

// Run lets coroutines run, one after the other, until the scheduler has no
// next one.
//
// A switch between two stacks costs as much as a few events, and every call
// that is open on either of them then returns to where the processor does not
// expect it. So the scheduler is called on the stack of the coroutine that
// has just parked: nothing is switched where that one is the next again, and
// otherwise only once.
func (k *Kernel) Run(s Scheduler) {
	k.scheduler = s
	k.lead(s.Next())
	k.scheduler = nil
	if f := k.failure; f != nil {
		k.failure = nil
		f()
	}
}

// decide makes it the turn of the scheduler's next coroutine. If the
// scheduler panics or exits, that happens in Run: the task on whose stack it
// is called must not see it.
func (k *Kernel) decide(c *Coroutine) {
	returned := false
	defer func() {
		if returned {
			return
		}
		k.failure = runtime.Goexit
		if v := recover(); v != nil {
			stack := debug.Stack()
			k.failure = func() { panic(fmt.Sprintf("%v\n\n%s", v, stack)) }
		}
		k.idle = slices.DeleteFunc(k.idle, func(i *Coroutine) bool { return i == c }) // it is on its way out
		c.never()
	}()
	k.turn = k.scheduler.Next()
	returned = true
}

// lead lets coroutines run, from c on, until there is no next one.
func (k *Kernel) lead(c *Coroutine) {
	k.recount()
	for k.turn = c; k.turn != nil; {
		k.turn.next()
	}
}

// park asks the scheduler who is next and gives the turn away until it is c's
// again. It reports false when the kernel closes.
//
// Only who resumed a coroutine can be yielded to, so those that have resumed
// another one and wait for it form a chain from Run to the one that runs. A
// coroutine of the chain gets its turn by yielding down to it.
func (c *Coroutine) park() bool {
	k := c.kernel
	k.current, k.turn = nil, nil
	if k.scheduler != nil && !k.rogue {
		k.decide(c)
	}
	for k.turn != c {
		if t := k.turn; t != nil && !t.waits {
			c.waits = true
			t.next()
			c.waits = false
		} else if !c.yield(struct{}{}) {
			return false
		}
	}
	k.current = c
	if c.dead {
		c.die()
	}
	return true
}

// end notes that c's task has ended.
func (k *Kernel) end(c *Coroutine) {
	k.count()
	t := c.task
	c.ended, c.task = true, nil
	k.idle = append(k.idle, c)
	if k.scheduler == nil || k.rogue {
		return
	}
	s := Ended
	if c.panicked != nil {
		s = Panicked
	}
	k.current = nil
	k.scheduler.Ended(t, s)
}

// Status is how a coroutine came back.
type Status uint8

// What Resume reports.
const (
	Parked    Status = iota // it waits in Park
	Ended                   // its task returned, or it was killed and has unwound
	Panicked                // its task panicked while alive; see Panic
	Abandoned               // it was killed and does not end; it is never resumed again
)

// Resume lets one coroutine run until it parks or ends. It is not for use
// inside Run.
func (k *Kernel) Resume(c *Coroutine) Status {
	k.lead(c)
	switch {
	case !c.ended && c.abandoned:
		return Abandoned
	case !c.ended:
		return Parked
	case c.panicked != nil:
		return Panicked
	}
	return Ended
}

// count finds goroutines that began since it was called last and that no
// kernel made.
func (k *Kernel) count() {
	switch n := runtime.NumGoroutine(); {
	case n <= k.goroutines:
		k.goroutines = n
	case k.quiet && entered.Load() == k.entered:
		k.rogue = true
	default:
		k.recount()
	}
}

// recount takes the number of goroutines for what it should be.
func (k *Kernel) recount() {
	k.entered, k.goroutines = entered.Load(), runtime.NumGoroutine()
	k.quiet = elsewhere.Load() == 0
}

// Kill makes a parked coroutine unwind: Park and Enter panic in it from now
// on, and what it returns or panics with is discarded. It is not for use
// inside Run.
func (k *Kernel) Kill(c *Coroutine) Status {
	c.dead = true
	return k.Resume(c)
}

// Enter returns the task that runs now: every port begins with it. It panics
// in a task that was killed, and never returns once the code under test has
// started a goroutine, since there is no telling which of the two calls.
func (k *Kernel) Enter() Task {
	c := k.current
	if c == nil {
		select {} // a goroutine of the code under test, after the run was given up
	}
	if k.count(); k.rogue {
		c.never()
	}
	if c.dead {
		c.die()
	}
	return c.task
}

// Park gives the turn back until the scheduler, or Resume, lets the task go
// on. Only the running task may call it, after Enter.
func (k *Kernel) Park() { k.current.park() }

// die unwinds a killed task, or abandons it when it has caught its death too
// often.
func (c *Coroutine) die() {
	c.deadCalls++
	if c.deadCalls > maxDeadCalls {
		c.abandoned = true
		c.never()
	}
	panic(death{})
}

// never gives the turn back for good, and ends the run.
func (c *Coroutine) never() {
	for {
		c.kernel.current, c.kernel.turn = nil, nil
		c.yield(struct{}{})
	}
}

// Panic returns what the task panicked with, and where.
func (c *Coroutine) Panic() (value any, stack []byte) { return c.panicked, c.stack }

// Close ends the idle coroutines. The kernel may be used again.
func (k *Kernel) Close() {
	for _, c := range k.idle {
		c.stop()
	}
	k.idle = nil
}

// Rogue reports whether code on a coroutine has started a goroutine. The
// kernel must then not be used again. Another part of the program that starts
// goroutines at the same time can cause it too; a second run tells.
func (k *Kernel) Rogue() bool { return k.rogue }
