package kernel

import (
	"iter"
	"runtime"
	"runtime/debug"
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
	}
	c.task = t
	c.ended, c.dead, c.deadCalls, c.panicked, c.stack = false, false, 0, nil, nil
	return c
}

// loop runs one task after the other.
func (c *Coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	for {
		c.run()
		c.ended = true
		if !yield(struct{}{}) {
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

// Status is how a coroutine came back.
type Status uint8

// What Resume reports.
const (
	Parked    Status = iota // it waits in Park
	Ended                   // its task returned, or it was killed and has unwound
	Panicked                // its task panicked while alive; see Panic
	Abandoned               // it was killed and does not end; it is never resumed again
)

// Resume lets the coroutine run until it parks or ends.
func (k *Kernel) Resume(c *Coroutine) Status {
	outer := k.current
	k.current = c
	k.entered, k.goroutines = entered.Load(), runtime.NumGoroutine()
	k.quiet = elsewhere.Load() == 0
	c.next()
	k.count()
	k.current = outer
	switch {
	case !c.ended && c.abandoned:
		return Abandoned
	case !c.ended:
		return Parked
	}
	c.task = nil
	k.idle = append(k.idle, c)
	if c.panicked != nil {
		return Panicked
	}
	return Ended
}

// count finds goroutines that began since the last Resume and that no kernel
// made.
func (k *Kernel) count() {
	if runtime.NumGoroutine() > k.goroutines && k.quiet && entered.Load() == k.entered {
		k.rogue = true
	}
}

// Kill makes a parked coroutine unwind: Park and Enter panic in it from now
// on, and what it returns or panics with is discarded.
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
		for {
			c.yield(struct{}{})
		}
	}
	if c.dead {
		c.die()
	}
	return c.task
}

// Park gives the turn back until the next Resume. Only the running task may
// call it.
func (k *Kernel) Park() {
	c := k.current
	c.yield(struct{}{})
	if c.dead {
		c.die()
	}
}

// MarkDead kills the running task: it unwinds when it next enters or parks.
func (k *Kernel) MarkDead(c *Coroutine) { c.dead = true }

// die unwinds a killed task, or abandons it when it has caught its death too
// often.
func (c *Coroutine) die() {
	c.deadCalls++
	if c.deadCalls > maxDeadCalls {
		c.abandoned = true
		for {
			c.yield(struct{}{})
		}
	}
	panic(death{})
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
