package linearizability_test

import (
	"fmt"
	"strings"

	"github.com/chargeonce/chargeonce/linearizability"
	"github.com/chargeonce/chargeonce/model/history"
)

// A time-out at the provider is told as a failure, and the charge comes all
// the same.
const recorded = `{"format":"chargeonce history","version":1}
{"kind":"call","process":"client-1","operation":"order-7","attempt":1,"key":"k7","fingerprint":"f7"}
{"kind":"return","at_ns":30,"process":"client-1","operation":"order-7","attempt":1,"outcome":"failed","status":504}
{"kind":"charge","at_ns":40,"operation":"order-7","amount":1250,"currency":"EUR","charge":"ch_1"}
{"kind":"end","at_ns":50}
`

func ExampleCheck() {
	header, events, err := history.Read(strings.NewReader(recorded))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := history.WellFormed(header, events); err != nil {
		fmt.Println(err)
		return
	}
	result := linearizability.Check(header, events, linearizability.Options{})
	fmt.Println(result.Verdict)
	for _, f := range result.Findings {
		fmt.Println(f)
	}
	// Output:
	// violated
	// violated: order-7, event 2: a charge after the client was told that there is none and will be none (TruthfulReply)
}
