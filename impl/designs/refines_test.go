package designs_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/search"
)

// outside are the designs that the protocol model has nothing to say about,
// with the reason: what they get wrong is none of its actions.
var outside = map[string]string{
	"busy-is-final":          "its server is the reference; the client gives up, and in the model a client need not ask again",
	"no-retry":               "its server is the reference; the client gives up, and in the model a client need not ask again",
	"lease-below-skew":       "the model has no durations: a lease may end at any time, so one that is too short only ends early",
	"lock-time-is-retention": "the model has no durations: a lease may run for as long as it likes, so one that is too long only ends late",
	"replays-as-200":         "the model's answer is an outcome and a charge; a status and headers are told beyond it",
	"async-failover":         "it breaks A3, and runs in which an assumption is broken are not judged",
	"lookup-lag-understated": "it breaks A5, and runs in which an assumption is broken are not judged",
	"retry-past-horizon":     "it breaks A4, and runs in which an assumption is broken are not judged",
	"transport-resends":      "it breaks A6, and runs in which an assumption is broken are not judged",
	"window-overstated":      "it breaks A1, and runs in which an assumption is broken are not judged",
}

// refining makes a design claim that it follows the protocol.
func refining(d impl.Design) impl.Design {
	d.Refines = true
	return d
}

// TestWrongDesignsDivergeFromTheModel holds what the model can tell: each
// wrong design does something that is none of its actions, in its smallest plan
// or soon at random, or stands in the table above with the reason why not. What
// gives back what was charged twice is right, and not the model's protocol.
func TestWrongDesignsDivergeFromTheModel(t *testing.T) {
	for _, d := range designs.All() {
		if d.Refines {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			why := divergence(t, refining(d))
			switch reason, known := outside[d.Name]; {
			case why == "" && !known:
				t.Errorf("it never diverges from the model, and outside has no reason for it")
			case why != "" && known:
				t.Errorf("%s\nand outside says: %s", why, reason)
			}
		})
	}
	for name := range outside {
		if _, err := designs.ByName(name); err != nil {
			t.Error(err)
		}
	}
}

// divergence looks for a run of a design that is none of the model's.
func divergence(t *testing.T, d impl.Design) string {
	if text, err := os.ReadFile(planFile(d)); err == nil {
		p, err := plan.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := search.Run(subjectOf(t, d, p), p, openMemory)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violations {
			if v.Invariant == invariant.Refines {
				return v.Sentence
			}
		}
	}
	v := diverges(t, d)
	if v == nil {
		return ""
	}
	return v.Sentence
}

// diverges looks at random.
func diverges(t *testing.T, d impl.Design) *search.Violation {
	t.Helper()
	r, err := search.Campaign(t.Context(), search.Options{
		Subjects: subjects(t, d, d.Scenarios), Runs: 1000, Seed: 1, Open: openMemory, Target: invariant.Refines, Linearize: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Violation != nil && r.Violation.Invariant == invariant.Refines {
		return r.Violation
	}
	return nil
}

// registryOf is the reference with another registry under its handler.
func registryOf(around func(impl.Registry) impl.Registry) impl.Design {
	d, err := designs.ByName("reference")
	if err != nil {
		panic(err)
	}
	handler := d.Handler
	d.Handler = func(cfg impl.Config, ports impl.Ports) impl.Handler {
		ports.Registry = around(ports.Registry)
		return handler(cfg, ports)
	}
	return d
}

// hopeful takes a claim that was not answered for one that was applied.
type hopeful struct{ impl.Registry }

func (h hopeful) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	stored, mine, err := h.Registry.Insert(ctx, step, rec)
	if errors.Is(err, impl.ErrUnknown) {
		rec.Version = 1
		return rec, true, nil
	}
	return stored, mine, err
}

// unfenced compares with what its process knows best and not with what the
// run has read.
type unfenced struct {
	impl.Registry
	latest map[impl.ID]impl.Fence
}

func (u unfenced) Insert(ctx context.Context, step impl.Step, rec impl.Record) (impl.Record, bool, error) {
	stored, mine, err := u.Registry.Insert(ctx, step, rec)
	if err == nil {
		u.latest[rec.ID] = stored.Fence()
	}
	return stored, mine, err
}

func (u unfenced) Update(ctx context.Context, step impl.Step, was impl.Fence, next impl.Record) error {
	if known := u.latest[next.ID]; known.Version > was.Version {
		was = known
	}
	err := u.Registry.Update(ctx, step, was, next)
	if err == nil {
		u.latest[next.ID] = impl.Fence{Version: was.Version + 1, Owner: next.Owner}
	}
	return err
}

// TestChangesThatMoveNoMoneyDiverge makes four small changes to the
// reference. The provider's keys mask each of them: in the run that is shown no
// money moves, no client hears a wrong answer, and still the model has no such
// step.
func TestChangesThatMoveNoMoneyDiverge(t *testing.T) {
	for name, d := range map[string]impl.Design{
		"sends before the claim is acknowledged": registryOf(func(r impl.Registry) impl.Registry { return hopeful{r} }),
		"skips the guard":                        designs.Unguarded(),
		"skips the guard of the window":          designs.Windowless(),
		"writes unfenced": registryOf(func(r impl.Registry) impl.Registry {
			return unfenced{r, map[impl.ID]impl.Fence{}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			v := diverges(t, refining(d))
			if v == nil {
				t.Fatal("no run diverges")
			}
			money := []string{"SingleCharge", "TruthfulReply", "StableReply", "BoundedRefunds", "FingerprintBound", "Linearizable"}
			if i := slices.IndexFunc(v.Others, func(other string) bool { return slices.Contains(money, other) }); i >= 0 {
				t.Errorf("%s falls too", v.Others[i])
			}
			t.Logf("%s\nfalls by %v and with it %v", v.Sentence, v.Plan.Deviations, v.Others)
		})
	}
}
