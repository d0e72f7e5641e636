package checkout

import (
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/sim/simtest"
)

func TestRight(t *testing.T) {
	design := simtest.Handler("checkout", func(cfg impl.Config, p impl.Ports) impl.Handler { return Right(cfg, p) })
	design.Reconciler = func(cfg impl.Config, p impl.Ports) impl.Reconciler { return Right(cfg, p) }
	simtest.Holds(t, design, simtest.Exhaustive(1), simtest.Random(10_000))
}
