package designs

import "github.com/chargeonce/chargeonce/impl"

// getClassifySet is the reference service with a recovery that reads a row,
// decides that it is stuck, and sets it.
func getClassifySet() impl.Design {
	return impl.Design{
		Name:    "get-classify-set",
		Summary: "recovery reads the row, sees that its owner is gone, and sets it in progress again",
		Doc: `It believes that a row which was stuck when it was read is stuck when it is written. In
between a slow owner may have finished it: the write takes a finished row for an
abandoned one and puts it back in progress. The client that was told the reply has it;
the row does not. Provider keys mask the second charge; TerminalIsFinal and FencedWrites
show the defect.`,
		Source:    "aws-powertools/powertools-lambda-typescript#5714 (found with TLA+)",
		Expect:    "TerminalIsFinal",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client:     oneKey,
		Handler:    recovering,
		Reconciler: serviceReconciler,
	}
}

func recovering(cfg impl.Config, ports impl.Ports) impl.Handler {
	// The defect: a take-over is only a take-over if it compares what was read.
	ports.Registry = &unfenced{ports.Registry, impl.StepTakeOver}
	return service(cfg, ports)
}
