package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// halfFence is a registry whose updates and deletes compare one half of the
// fence, in the transaction that writes.
type halfFence struct {
	impl.Registry
	same func(now, was impl.Fence) bool
}

func (h *halfFence) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	now, err := h.holds(ctx, step, next.ID, was)
	if err != nil {
		return err
	}
	return h.Registry.Update(ctx, step, now, next)
}

func (h *halfFence) Delete(ctx context.Context, step impl.Step, id impl.ID, was impl.Fence) error {
	now, err := h.holds(ctx, step, id, was)
	if err != nil {
		return err
	}
	return h.Registry.Delete(ctx, step, id, now)
}

// holds returns the fence of the record as it is, if it is the same.
func (h *halfFence) holds(ctx context.Context, step impl.Step, id impl.ID, was impl.Fence) (impl.Fence, error) {
	rec, ok, err := h.Get(ctx, step, id)
	switch {
	case err != nil:
		return impl.Fence{}, err
	case !ok || !h.same(rec.Fence(), was):
		return impl.Fence{}, impl.ErrConflict
	}
	return rec.Fence(), nil
}
