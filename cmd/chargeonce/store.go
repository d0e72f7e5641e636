package main

import (
	"context"
	"sync"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/registry/memory"
	"github.com/chargeonce/chargeonce/impl/registry/sqlite"
	"github.com/chargeonce/chargeonce/sim/search"
)

// stores are the registries that a simulation can keep its records in.
var stores = []string{"memory", "sqlite"}

// openStores returns how a worker gets a store, and how to close them all
// when nobody works any more. At most n workers have one at a time.
func openStores(name string, n int) (open search.OpenStore, shut func(), err error) {
	if name == "memory" {
		return openMemory, func() {}, nil
	}
	return openSQLite(n)
}

func openMemory() (impl.Registry, func() error, func() error, error) {
	r := memory.New()
	empty := func() error { r.Reset(); return nil }
	return r, empty, func() error { return nil }, nil
}

// openSQLite opens all databases before the first run: each has a goroutine of
// its own, and one that begins beside a run would be taken for the work of
// the code under test.
func openSQLite(n int) (search.OpenStore, func(), error) {
	var mu sync.Mutex
	var idle, all []*sqlite.Registry
	shut := func() {
		for _, r := range all {
			_ = r.Close() // it was in memory: nothing is lost
		}
	}
	for range n {
		r, err := sqlite.Open(context.Background(), sqlite.Options{InMemory: true})
		if err != nil {
			shut()
			return nil, nil, err
		}
		all = append(all, r)
	}
	idle = append(idle, all...)
	open := func() (impl.Registry, func() error, func() error, error) {
		mu.Lock()
		defer mu.Unlock()
		r := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		empty := func() error { return r.Reset(context.Background()) }
		release := func() error {
			mu.Lock()
			defer mu.Unlock()
			idle = append(idle, r)
			return nil
		}
		return r, empty, release, nil
	}
	return open, shut, nil
}
