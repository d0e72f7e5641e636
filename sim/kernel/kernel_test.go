package kernel

import (
	"math/rand/v2"
	"slices"
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
