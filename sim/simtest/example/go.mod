module example.com/checkout

go 1.26.0

require github.com/chargeonce/chargeonce v0.0.0

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
)

replace github.com/chargeonce/chargeonce => ../../..
