//go:build wrong

package checkout

import (
	"testing"

	"github.com/chargeonce/chargeonce/sim/simtest"
)

func TestWrong(t *testing.T) {
	simtest.Holds(t, simtest.Handler("checkout", Wrong), simtest.Exhaustive(2), simtest.Random(10_000))
}
