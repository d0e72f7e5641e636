package designs

import "github.com/chargeonce/chargeonce/impl"

// retentionOneHopShort is the reference with a retention that counts one
// message, and a purge that deletes whatever has expired.
func retentionOneHopShort() impl.Design {
	return impl.Design{
		Name:    "retention-one-hop-short",
		Summary: "records are deleted once the last request of a client can have arrived, tombstones included",
		Doc: `It believes that who has asked by then is served. The request of the last permitted attempt may
be on its way for as long as a message lives, and then the claim that it leads to for as long
again. The record is deleted in between: the claim finds none, and begins the operation anew.
Retention has to outlast the horizon by two lifetimes and the skew of the clocks. Masked by a
tombstone, which the claim would find, and by a provider whose window is still open. It drops A4,
which its configuration has to waive.`,
		Source:    "model checking of the protocol; ietf-wg-httpapi/idempotency#49 (how long a key is kept, nobody says)",
		Expect:    "SafeRetention",
		Profiles:  []string{keyedShortWindow},
		Scenarios: []string{retryAtHorizon},

		Tune: func(cfg impl.Config) impl.Config {
			cfg.Retention = cfg.RetryHorizon + cfg.MessageLifetime + cfg.MaxClockSkew // the defect
			return waive(cfg, impl.A4)
		},
		Client:  oneKey,
		Handler: serviceHandler,
		Reconciler: func(cfg impl.Config, ports impl.Ports) impl.Reconciler {
			return &purger{ports, service(cfg, ports)}
		},
	}
}
