package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// localCache is the reference service with a cache in front of the registry,
// to spare it the retries.
func localCache() impl.Design {
	return impl.Design{
		Name:    "local-cache",
		Summary: "each process keeps the records it has seen and asks its memory first",
		Doc: `It believes that what it has read stays true. A finished record does, and to cache those is
sound. One in progress is changed by others: by the other replica, by the reconciler. The
replica that has it in its cache goes on saying "in progress" until it is restarted, although
the operation ended long ago. Nothing is charged twice, for the writes still compare; the
client never hears of it.`,
		Source:    "gofiber/fiber v3, which by default keeps what it knows in the memory of one process",
		Expect:    "NotWedged",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &cache{ports.Registry, map[impl.ID]impl.Record{}}
			return service(cfg, ports)
		},
		Reconciler: serviceReconciler,
	}
}

type cache struct {
	impl.Registry
	seen map[impl.ID]impl.Record
}

func (c *cache) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	if known, ok := c.seen[rec.ID]; ok {
		return known, false, nil // the defect: known.State may be anything but terminal
	}
	stored, inserted, err := c.Registry.Insert(ctx, step, rec)
	if err == nil {
		c.seen[rec.ID] = stored
	}
	return stored, inserted, err
}

func (c *cache) Get(ctx context.Context, step impl.Step, id impl.ID) (impl.Record, bool, error) {
	if known, ok := c.seen[id]; ok {
		return known, true, nil
	}
	return c.Registry.Get(ctx, step, id)
}

func (c *cache) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	err := c.Registry.Update(ctx, step, was, next)
	if err == nil {
		next.Version = was.Version + 1
		c.seen[next.ID] = next
	}
	return err
}
