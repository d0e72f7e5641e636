package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// keyIsRowID is delete-claim-on-error with the provider key that comes
// naturally: the id of the payment's row.
func keyIsRowID() impl.Design {
	d := decisions{unsure: deleteClaim}
	return impl.Design{
		Name:    "key-is-row-id",
		Summary: "the provider key is the id of a row that is deleted when the charge fails",
		Doc: `It believes that the row lives as long as the operation. The key is stable, stored before
the first send and never reused: all that a provider key should be, while the row is
there. An error deletes the row; the next attempt inserts another, with another id, and to
the provider that is another payment. One lost answer breaks it. Refunds go the same way.`,
		Source:    "medusajs/medusa#16292, medusajs/medusa#16681",
		Expect:    "SingleCharge",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		Client: oneKey,
		Handler: func(cfg impl.Config, ports impl.Ports) impl.Handler {
			ports.Registry = &serial{ports.Registry, ports.IDs}
			return d.handler(cfg, ports)
		},
		Reconciler: d.reconciler,
	}
}

// serial gives each row an id of its own, and the id is the provider key.
type serial struct {
	impl.Registry
	ids impl.IDs
}

func (s *serial) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	// The defect: it is not derived from the operation.
	rec.ProviderKey = "row-" + s.ids.Owner()
	return s.Registry.Insert(ctx, step, rec)
}
