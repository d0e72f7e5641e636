package twophase_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chargeonce/chargeonce/model/explore"
	"github.com/chargeonce/chargeonce/model/explore/twophase"
)

func search(t testing.TB, m explore.Model[twophase.State], o explore.Options) explore.Result[twophase.State] {
	t.Helper()
	r, err := explore.Explore(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCounts has the figures that TLC 2.18 prints for the TLA+ module: distinct
// and generated states, and the depth.
func TestCounts(t *testing.T) {
	for _, want := range []struct {
		managers            int
		distinct, generated uint64
		depth               int
	}{
		{1, 12, 20, 5},
		{2, 56, 154, 8},
		{3, 288, 1_146, 11},
		{4, 1_568, 8_258, 14},
		{5, 8_832, 58_146, 17},
		{6, 50_816, 402_306, 20},
		{7, 296_448, 2_744_706, 23},
		{8, 1_745_408, 18_507_778, 26},
	} {
		if testing.Short() && want.managers > 7 {
			t.Skip("the rest takes longer")
		}
		r := search(t, twophase.Model(want.managers), explore.Options{})
		if r.Verdict != explore.Held || r.Distinct != want.distinct || r.Generated != want.generated || r.Depth != want.depth {
			t.Errorf("%d managers: %v, distinct %d, generated %d, depth %d; want %d, %d, %d",
				want.managers, r.Verdict, r.Distinct, r.Generated, r.Depth, want.distinct, want.generated, want.depth)
		}
	}
}
