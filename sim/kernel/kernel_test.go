package kernel

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

type taskFunc func()

func (f taskFunc) Run() { f() }

func TestEventsFireByTimeThenByInsertion(t *testing.T) {
	var k Kernel
	r := rand.New(rand.NewPCG(1, 2))
	type due struct {
		at int64
		n  int32
	}
	var want []due
	for n := range int32(1000) {
		at := r.Int64N(50)
		want = append(want, due{at, n})
		k.Schedule(at, 0, n, 0)
	}
	slices.SortStableFunc(want, func(a, b due) int { return int(a.at - b.at) })
	for i, w := range want {
		e, ok := k.Next()
		if !ok || e.At != w.at || e.A != w.n || k.Now() != w.at {
			t.Fatalf("event %d is (%d, %d) at %d, want %v", i, e.At, e.A, k.Now(), w)
		}
	}
	if _, ok := k.Next(); ok {
		t.Fatal("an event is left over")
	}
}

// What is taken in between does not change the order of the rest.
func TestLanesAndQueueAreOneOrder(t *testing.T) {
	var k Kernel
	r := rand.New(rand.NewPCG(3, 4))
	type due struct {
		at int64
		n  int32
	}
	var open []due
	for n := range int32(5000) {
		at := k.Now() + r.Int64N(40)
		switch r.IntN(3) {
		case 0:
			at = k.Now() + 30
			k.ScheduleLane(0, at, 0, n, 0)
		case 1:
			k.ScheduleLane(1, at, 0, n, 0)
		default:
			k.Schedule(at, 0, n, 0)
		}
		open = append(open, due{at, n})
		if r.IntN(3) == 0 {
			continue
		}
		slices.SortStableFunc(open, func(a, b due) int { return int(a.at - b.at) })
		if e, ok := k.Next(); !ok || e.At != open[0].at || e.A != open[0].n {
			t.Fatalf("event %d at %d, want %v", e.A, e.At, open[0])
		}
		open = open[1:]
	}
}

func TestWhatIsPastIsDueNow(t *testing.T) {
	var k Kernel
	k.Schedule(10, 0, 1, 0)
	k.Next()
	k.Schedule(3, 0, 2, 0)
	if e, _ := k.Next(); e.At != 10 || e.A != 2 {
		t.Fatalf("got %+v, want event 2 at 10", e)
	}
}

func TestCoroutineParksAndGoesOn(t *testing.T) {
	var k Kernel
	var log []string
	c := k.Spawn(taskFunc(func() {
		log = append(log, "a")
		k.Park()
		log = append(log, "b")
	}))
	log = append(log, "before")
	if s := k.Resume(c); s != Parked {
		t.Fatalf("status %d, want Parked", s)
	}
	log = append(log, "between")
	if s := k.Resume(c); s != Ended {
		t.Fatalf("status %d, want Ended", s)
	}
	if want := []string{"before", "a", "between", "b"}; !slices.Equal(log, want) {
		t.Fatalf("order %v, want %v", log, want)
	}
	if again := k.Spawn(taskFunc(func() {})); again != c {
		t.Error("an ended coroutine was not used again")
	}
}

func TestKilledTaskUnwindsThroughItsDefers(t *testing.T) {
	var k Kernel
	entered := 0
	c := k.Spawn(taskFunc(func() {
		defer func() { k.Enter(); entered++ }()
		k.Park()
		entered++
	}))
	k.Resume(c)
	if s := k.Kill(c); s != Ended {
		t.Fatalf("status %d, want Ended", s)
	}
	if entered != 0 {
		t.Errorf("a dead task went on %d times", entered)
	}
}

func TestRecoveredDeathIsDiscarded(t *testing.T) {
	var k Kernel
	c := k.Spawn(taskFunc(func() {
		defer func() { _ = recover(); panic("after death") }()
		k.Park()
	}))
	k.Resume(c)
	if s := k.Kill(c); s != Ended {
		t.Fatalf("status %d, want Ended: what a dead task panics with is discarded", s)
	}
}

func TestTaskThatWillNotDieIsAbandoned(t *testing.T) {
	var k Kernel
	calls := 0
	c := k.Spawn(taskFunc(func() {
		for {
			func() {
				defer func() { _ = recover() }()
				calls++
				k.Enter()
				k.Park()
			}()
		}
	}))
	k.Resume(c)
	if s := k.Kill(c); s != Abandoned {
		t.Fatalf("status %d, want Abandoned", s)
	}
	if calls < maxDeadCalls || calls > maxDeadCalls+2 {
		t.Errorf("%d calls before it was abandoned, want about %d", calls, maxDeadCalls)
	}
}

func TestPanicOfALiveTaskIsReported(t *testing.T) {
	var k Kernel
	c := k.Spawn(taskFunc(func() { panic("boom") }))
	if s := k.Resume(c); s != Panicked {
		t.Fatalf("status %d, want Panicked", s)
	}
	if v, stack := c.Panic(); v != "boom" || len(stack) == 0 {
		t.Errorf("panic %v with a stack of %d bytes", v, len(stack))
	}
}

func TestGoroutineOfATaskIsFound(t *testing.T) {
	var k Kernel
	stop := make(chan struct{})
	defer close(stop)
	c := k.Spawn(taskFunc(func() { go func() { <-stop }() }))
	k.Resume(c)
	if !k.Rogue() {
		t.Fatal("a goroutine that a task started was not found")
	}
}

func TestGoroutineIsFoundAtTheNextPort(t *testing.T) {
	var k Kernel
	stop := make(chan struct{})
	defer close(stop)
	passed := false
	c := k.Spawn(taskFunc(func() {
		go func() { <-stop }()
		k.Enter()
		passed = true
	}))
	if s := k.Resume(c); s != Parked || !k.Rogue() || passed {
		t.Fatalf("status %d, rogue %v, passed the port %v", s, k.Rogue(), passed)
	}
}

// script is a scheduler that lets tasks run in a given order.
type script struct {
	next  func() *Coroutine
	ended []Task
}

func (s *script) Next() *Coroutine        { return s.next() }
func (s *script) Ended(t Task, st Status) { s.ended = append(s.ended, t) }

// Whatever the order is, each turn is had by the one whose it is, whether it
// resumes, yields to the one that resumed it, or goes on at once; and new
// tasks may begin on coroutines that others wait for.
func TestTurnsAreHadAsTheSchedulerSays(t *testing.T) {
	for seed := range uint64(300) {
		var k Kernel
		r := rand.New(rand.NewPCG(seed, 1))
		var want, got []int
		live, began, ended := map[int]*Coroutine{}, 0, 0
		s := &script{}
		s.next = func() *Coroutine {
			if len(want) == 200 {
				return nil
			}
			n := r.IntN(6)
			if live[n] == nil {
				began++
				live[n] = k.Spawn(taskFunc(func() {
					for {
						got = append(got, n)
						k.Enter()
						if r.IntN(4) == 0 {
							live[n] = nil
							ended++
							return
						}
						k.Park()
					}
				}))
			}
			want = append(want, n)
			return live[n]
		}
		k.Run(s)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: the turns were had by %v, want %v", seed, got, want)
		}
		if len(s.ended) != ended || began-ended > 6 {
			t.Fatalf("seed %d: of %d tasks %d ended, and the scheduler was told of %d", seed, began, ended, len(s.ended))
		}
		for _, c := range live {
			if c != nil && k.Kill(c) != Ended {
				t.Fatalf("seed %d: a parked task does not end", seed)
			}
		}
		k.Close()
	}
}

// What goes wrong in the scheduler goes wrong in Run. The task on whose stack
// it was called does not see it, and cannot recover from it.
func TestAPanicOfTheSchedulerIsOneOfRun(t *testing.T) {
	for name, task := range map[string]func(k *Kernel){
		"parks": func(k *Kernel) { k.Park() },
		"ends":  func(*Kernel) {},
	} {
		var k Kernel
		saw, calls := any(nil), 0
		c := k.Spawn(taskFunc(func() {
			defer func() { saw = recover() }()
			task(&k)
		}))
		s := &script{next: func() *Coroutine {
			if calls++; calls > 1 {
				panic("no next one")
			}
			return c
		}}
		panicked := func() (v any) {
			defer func() { v = recover() }()
			k.Run(s)
			return nil
		}()
		if text, _ := panicked.(string); !strings.HasPrefix(text, "no next one\n") {
			t.Errorf("a task that %s: Run panics with %v", name, panicked)
		}
		if saw != nil {
			t.Errorf("a task that %s recovered %v", name, saw)
		}
		k.Close()
	}
}

// A test that fails in a scheduler ends by an exit of its goroutine.
func TestAnExitOfTheSchedulerIsOneOfRun(t *testing.T) {
	var k Kernel
	calls, returned := 0, false
	c := k.Spawn(taskFunc(func() {}))
	done := make(chan struct{})
	Elsewhere(func() {
		go func() {
			defer close(done)
			k.Run(&script{next: func() *Coroutine {
				if calls++; calls > 1 {
					runtime.Goexit()
				}
				return c
			}})
			returned = true
		}()
	})
	<-done
	if returned || calls != 2 {
		t.Errorf("Run returned: %v, after %d calls of the scheduler", returned, calls)
	}
	k.Close()
}

func BenchmarkResume(b *testing.B) {
	var k Kernel
	c := k.Spawn(taskFunc(func() {
		for {
			k.Park()
		}
	}))
	b.ReportAllocs()
	for b.Loop() {
		k.Resume(c)
	}
}

func BenchmarkScheduleNext(b *testing.B) {
	var k Kernel
	for i := range int32(20) {
		k.Schedule(int64(i*7%20), 0, i, 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, _ := k.Next()
		k.Schedule(e.At+int64(e.A%13)+1, 0, e.A, 0)
	}
}
