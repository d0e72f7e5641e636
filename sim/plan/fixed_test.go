package plan_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// Fixed answers with the plan's choices at the plan's sites, benign elsewhere,
// and knows which of them it was asked for.
func TestFixedAnswersWithThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plans().Draw(t, "plan")
		asked := rapid.SliceOfDistinct(rapid.OneOf(sites(), planned(p)), rapid.ID).Draw(t, "asked")
		var f plan.Fixed
		f.Reset([]plan.Deviation{{Site: 1, Choice: plan.Choice{Class: plan.ClassCrash}}}) // a plan before this one
		f.Choose(1, nil)
		f.Reset(p.Deviations)
		for _, site := range asked {
			want := plan.Choice{}
			for _, d := range p.Deviations {
				if d.Site == site {
					want = d.Choice
				}
			}
			if got := f.Choose(site, nil); got != want {
				t.Fatalf("at %q it answers %+v, want %+v", site, got, want)
			}
		}
		var unmet []plan.Deviation
		for _, d := range p.Deviations {
			if !slices.Contains(asked, d.Site) {
				unmet = append(unmet, d)
			}
		}
		if got := f.Unmet(); !reflect.DeepEqual(got, unmet) {
			t.Fatalf("unmet are %v, want %v", got, unmet)
		}
	})
}

func planned(p *plan.Plan) *rapid.Generator[plan.Site] {
	if len(p.Deviations) == 0 {
		return sites()
	}
	return rapid.Map(rapid.SampledFrom(p.Deviations), func(d plan.Deviation) plan.Site { return d.Site })
}

// Mix is part of what a plan means: weather and random search hash with it.
// The values are those of the published SplitMix64 with seed 0.
func TestMixIsSplitMix64(t *testing.T) {
	const gamma = 0x9e3779b97f4a7c15
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		state := uint64(i)
		if got := plan.Mix(state * gamma); got != want {
			t.Errorf("output %d is %#x, want %#x", i, got, want)
		}
	}
}
