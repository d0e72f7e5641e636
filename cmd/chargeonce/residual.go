package main

import (
	"io"
	"strconv"

	"github.com/chargeonce/chargeonce/sim/search"
)

// residual is what a campaign that held leaves open; see chargeonce help sim.
// All but the sets are shares from 0 to 1.
type residual struct {
	ViolationRate float64 `json:"violation_rate_below"`
	Confidence    float64 `json:"confidence"`
	NewSituation  float64 `json:"new_situation"`
	NewSet        float64 `json:"new_set"` // of situations
	Sets          int     `json:"sets"`    // of situations that were met
}

func newResidual(r *search.Risk) *residual {
	if r == nil {
		return nil
	}
	return &residual{r.ViolationRate, search.Confidence, r.NewSituation, r.NewSet, r.Sets}
}

// writeResidual is the line for people, if there is something to say.
func writeResidual(w io.Writer, r *search.Risk) {
	if r == nil {
		return
	}
	labelled(w, "residual", "with %s confidence fewer than %s of runs drawn so violate; one more run meets a new situation with a chance of about %s, and a new set of situations with about %s",
		percent(search.Confidence), percent(r.ViolationRate), percent(r.NewSituation), percent(r.NewSet))
}

// percent shows a share with two digits that count.
func percent(share float64) string {
	if share >= 0.1 {
		return strconv.FormatFloat(100*share, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(100*share, 'g', 2, 64) + " %"
}
