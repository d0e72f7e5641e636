package registrytest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
)

const (
	racers = 8
	rounds = 20
	// patience bounds how often a call is repeated that was not applied: a
	// registry is allowed to refuse work, not to refuse it for ever.
	patience = 1 << 20
)

// applied repeats a call until it is answered by something other than
// ErrNotApplied.
func applied(call func() error) error {
	var err error
	for range patience {
		if err = call(); !errors.Is(err, impl.ErrNotApplied) {
			return err
		}
		runtime.Gosched()
	}
	return err
}

// race runs n callers from one start and returns their errors joined.
func race(n int, caller func(i int) error) error {
	var wg sync.WaitGroup
	start := make(chan struct{})
	failures := make([]error, n)
	for i := range n {
		wg.Go(func() {
			<-start
			failures[i] = caller(i)
		})
	}
	close(start)
	wg.Wait()
	return errors.Join(failures...)
}

// claimRace lets racers claim one operation through the registries, each
// through the one of its turn, and returns an error unless exactly one won
// and all agree on it.
func claimRace(w world, key string, registries []impl.Registry) error {
	stored, won := make([]impl.Record, racers), make([]bool, racers)
	err := race(racers, func(i int) error {
		rec := claimed(key)
		rec.Owner = fmt.Sprintf("owner-%d", i)
		return applied(func() (err error) {
			stored[i], won[i], err = registries[i%len(registries)].Insert(w.ctx, impl.StepClaim, rec)
			return err
		})
	})
	if err != nil {
		return err
	}
	winner := slices.Index(won, true)
	for i := range racers {
		switch {
		case winner < 0:
			return errors.New("nobody won the claim")
		case won[i] && i != winner:
			return fmt.Errorf("racers %d and %d both won the claim", winner, i)
		case stored[i].Owner != fmt.Sprintf("owner-%d", winner) || stored[i].Version != 1:
			return fmt.Errorf("racer %d won, racer %d was told version %d of %s", winner, i, stored[i].Version, stored[i].Owner)
		}
	}
	return nil
}

func (s suite) races(t *testing.T) {
	t.Run("one claim wins", func(t *testing.T) {
		w := s.world(t)
		for round := range rounds {
			if err := claimRace(w, fmt.Sprintf("order-%d", round), []impl.Registry{w.Registry}); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("versions never skip and no update is lost", func(t *testing.T) {
		w := s.world(t)
		id := w.insert(claimed("a")).ID
		versions := make([][]uint64, racers)
		err := race(racers, func(i int) error {
			for range rounds {
				version, err := updateOnce(w, id, fmt.Sprintf("owner-%d", i))
				if err != nil {
					return err
				}
				versions[i] = append(versions[i], version)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(slices.Values(slices.Concat(versions...)))
		for i, version := range all {
			if version != uint64(i)+2 {
				t.Fatalf("%d updates were acknowledged with the versions %v", len(all), all)
			}
		}
		if last := w.get(id).Version; last != uint64(len(all))+1 {
			t.Fatalf("the record is at version %d after %d acknowledged updates", last, len(all))
		}
	})
	t.Run("one deletion wins", func(t *testing.T) {
		w := s.world(t)
		for range rounds {
			rec := w.insert(claimed("a"))
			won := make([]bool, racers)
			err := race(racers, func(i int) error {
				err := applied(func() error { return w.Delete(w.ctx, impl.StepCollect, rec.ID, rec.Fence()) })
				won[i] = err == nil
				if errors.Is(err, impl.ErrConflict) {
					return nil
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if first := slices.Index(won, true); first < 0 || slices.Contains(won[first+1:], true) {
				t.Fatalf("of the racers, those deleted the one record: %v", won)
			}
		}
	})
}

// updateOnce reads and updates until one update is acknowledged, and returns
// the version that it wrote.
func updateOnce(w world, id impl.ID, owner string) (uint64, error) {
	for range patience {
		var rec impl.Record
		err := applied(func() (err error) {
			var ok bool
			if rec, ok, err = w.Get(w.ctx, impl.StepReadBack, id); err == nil && !ok {
				return errors.New("the record has gone")
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		was := rec.Fence()
		rec.Owner = owner
		err = applied(func() error { return w.Update(w.ctx, impl.StepComplete, was, rec) })
		if !errors.Is(err, impl.ErrConflict) {
			return was.Version + 1, err
		}
	}
	return 0, errors.New("no update was acknowledged")
}

// RaceClaims lets callers claim operations through several registries that
// are one store: two connections, two processes. It fails unless exactly one
// wins each claim and all agree on who.
func RaceClaims(t *testing.T, registries ...impl.Registry) {
	t.Helper()
	w := world{registries[0], t, context.Background()}
	for round := range rounds {
		if err := claimRace(w, fmt.Sprintf("order-%d", round), registries); err != nil {
			t.Fatal(err)
		}
	}
}
