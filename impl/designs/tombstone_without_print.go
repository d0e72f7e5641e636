package designs

import (
	"context"

	"github.com/chargeonce/chargeonce/impl"
)

// tombstoneWithoutPrint is the reference service with a smaller tombstone.
func tombstoneWithoutPrint() impl.Design {
	return impl.Design{
		Name:    "tombstone-without-print",
		Summary: "when the body of a reply is dropped, the fingerprint goes with it",
		Doc: `It believes that a tombstone needs to say only that there was something. A request with
other parameters that comes under the key then cannot be told from a late retry: it hears
"finished, no longer kept" and takes that for its own. TerminalIsFinal shows the defect as
soon as a tombstone is written: what the record is bound to has changed.`,
		Source:    "model checking of the protocol",
		Expect:    "TerminalIsFinal",
		Profiles:  []string{keyed},
		Scenarios: []string{retryAfterRetention},

		Client:  oneKey,
		Handler: serviceHandler,
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			ports.Registry = &smallTombstones{ports.Registry}
			return service(cfg, ports)
		},
	}
}

type smallTombstones struct{ impl.Registry }

func (s *smallTombstones) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	if next.Tombstone {
		next.Fingerprint = "" // the defect
	}
	return s.Registry.Update(ctx, step, was, next)
}
