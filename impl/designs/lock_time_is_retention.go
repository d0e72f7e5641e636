package designs

import "github.com/chargeonce/chargeonce/impl"

// lockTimeIsRetention is the reference service with one setting for two
// things.
func lockTimeIsRetention() impl.Design {
	return impl.Design{
		Name:    "lock-time-is-retention",
		Summary: "a claim is held as long as a reply is kept",
		Doc: `It believes that one time-to-live will do for the key. A finished reply must be kept for
longer than clients retry; a claim must end soon after a healthy run would have. With one
number for both, a process that dies with a claim wedges the key until no client asks any
more: nobody may look what became of it. Nothing is charged twice, and nobody is told.`,
		Source:    "pathosDev/actor-ts#984, aws-powertools/powertools-lambda-java#1281 (seconds and milliseconds)",
		Expect:    "Resolves",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment},

		// The defect, and all of it.
		Tune: func(cfg impl.Config) impl.Config {
			cfg.Lease = cfg.Retention
			return cfg
		},
		Client:     oneKey,
		Handler:    serviceHandler,
		Reconciler: serviceReconciler,
	}
}
