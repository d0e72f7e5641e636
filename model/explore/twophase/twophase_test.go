package twophase_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/explore/twophase"
)

func TestQuick(t *testing.T) {
	for n := 1; n <= 6; n++ {
		r, err := explore.Explore(context.Background(), twophase.Model(n), explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(n, r.Verdict, r.Distinct, r.Generated, r.Depth, len(r.Witnesses), r.BytesPerState)
	}
}

func BenchmarkTwoPhase(b *testing.B) {
	for _, n := range []int{8} {
		for w := 1; w <= 2; w++ {
			b.Run(fmt.Sprintf("managers=%d/workers=%d", n, w), func(b *testing.B) {
				var distinct uint64
				for b.Loop() {
					r, err := explore.Explore(context.Background(), twophase.Model(n), explore.Options{Workers: w})
					if err != nil || r.Verdict != explore.Held {
						b.Fatal(r.Verdict, err)
					}
					distinct += r.Distinct
				}
				b.ReportMetric(float64(distinct)/b.Elapsed().Seconds(), "distinct/s")
			})
		}
	}
}
