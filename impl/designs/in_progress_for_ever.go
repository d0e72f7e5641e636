package designs

import (
	"time"

	"github.com/chargeonce/chargeonce/impl"
)

// inProgressForEver is the reference without anyone who would take over.
func inProgressForEver() impl.Design {
	d := decisions{leaseOver: never}
	return impl.Design{
		Name:    "in-progress-for-ever",
		Summary: "a claim never ends, and nobody sweeps: a crash leaves \"in progress\" behind",
		Doc: `It believes that a handler which claims an operation also finishes it. One that dies, or
whose provider does not answer, leaves a row that every retry is refused for, and no
process looks for such rows. The customer may have been charged; the only way out is a
person with access to the table.`,
		Source:    "aws-powertools/powertools-lambda-python#1038, ikyriak/IdempotentAPI#37",
		Expect:    "NotWedged",
		Profiles:  []string{keyed},
		Scenarios: []string{onePayment, retryOtherReplica},

		Client: oneKey, Handler: d.handler,
	}
}

// never is the defect: no lease is ever over.
func never(*run, *impl.Record, time.Time) bool { return false }
