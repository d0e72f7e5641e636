// Package checkout is a payment handler that is tested with chargeonce from a
// module of its own: one that is wrong, and its repair.
package checkout

import "github.com/chargeonce/chargeonce/impl"

// Right claims the order before it charges, sends the provider one key for
// it, and looks up what a crash has left open: the reference service.
func Right(cfg impl.Config, ports impl.Ports) *impl.Service {
	service, err := impl.New(cfg, ports)
	if err != nil {
		panic(err) // the configuration breaks an assumption
	}
	return service
}
