package explore

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// parallel calls f for each job, 0 to jobs-1, and returns when all are done.
// Which worker does which job is left to chance, so f must write only what
// belongs to the job. Few states are done alone.
func (x *search[S]) parallel(jobs, states int, f func(job int)) {
	workers := min(x.options.workers(), jobs)
	if states < aloneBelow || workers == 1 {
		for i := range jobs {
			f(i)
		}
		return
	}
	var (
		next    atomic.Int64
		wait    sync.WaitGroup
		failure atomic.Pointer[modelPanic]
	)
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				failure.CompareAndSwap(nil, &modelPanic{v, debug.Stack()})
			}
		}()
		for i := int(next.Add(1)) - 1; i < jobs; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	for range workers - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	if p := failure.Load(); p != nil {
		panic(p)
	}
}

// modelPanic carries a panic out of a worker, so that the caller of Explore
// can recover it.
type modelPanic struct {
	value any
	stack []byte
}

func (p *modelPanic) Error() string {
	return fmt.Sprintf("explore: a worker panicked: %v\n\n%s", p.value, p.stack)
}
