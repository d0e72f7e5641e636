package impl_test

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/chargeonce/chargeonce/impl"
	"pgregory.net/rapid"
)

// problem is the assumption and the field that a line of Validate begins with.
var problem = regexp.MustCompile(`^impl: config: (A\d: )?(\w+)`)

func problems(err error) []string {
	if err == nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(err.Error()) {
		m := problem.FindStringSubmatch(line)
		if m == nil {
			return []string{"a line without assumption and field: " + line}
		}
		names = append(names, m[1]+m[2])
	}
	return names
}

const ns = time.Nanosecond

// Each line of the configuration, a nanosecond inside and outside its bound.
func TestValidateEdges(t *testing.T) {
	for _, tt := range []struct {
		name    string
		inside  func(*impl.Config)
		outside func(*impl.Config)
		want    []string
	}{
		{
			"Lease",
			func(c *impl.Config) { c.Lease = 540*time.Millisecond + ns },
			func(c *impl.Config) { c.Lease = 540 * time.Millisecond },
			[]string{"Lease"},
		}, {
			"Lease for the skew",
			func(c *impl.Config) { c.MaxClockSkew = 100*time.Millisecond - ns },
			func(c *impl.Config) { c.MaxClockSkew = 100 * time.Millisecond },
			[]string{"Lease"},
		}, {
			"Lease for the run",
			func(c *impl.Config) { c.HealthyRun = 560*time.Millisecond - ns },
			func(c *impl.Config) { c.HealthyRun = 560 * time.Millisecond },
			[]string{"Lease"},
		}, {
			"Retention",
			func(c *impl.Config) { c.Retention = 10040*time.Millisecond + ns },
			func(c *impl.Config) { c.Retention = 10040 * time.Millisecond },
			[]string{"A4: Retention"},
		}, {
			"Retention for the horizon",
			func(c *impl.Config) { c.RetryHorizon = 8460*time.Millisecond - ns },
			func(c *impl.Config) { c.RetryHorizon = 8460 * time.Millisecond },
			[]string{"A4: Retention"},
		}, {
			"Retention for two lifetimes",
			func(c *impl.Config) { c.MessageLifetime = 1230*time.Millisecond - ns },
			func(c *impl.Config) { c.MessageLifetime = 1230 * time.Millisecond },
			[]string{"A4: Retention"},
		}, {
			"Retention for one skew",
			func(c *impl.Config) {
				c.Retention = 10090*time.Millisecond + ns
				c.MaxClockSkew = 90 * time.Millisecond
			},
			func(c *impl.Config) { c.Retention = 10090 * time.Millisecond; c.MaxClockSkew = 90 * time.Millisecond },
			[]string{"A4: Retention"},
		}, {
			"window, keyed",
			func(c *impl.Config) { c.ProviderWindow = 2480*time.Millisecond + ns },
			func(c *impl.Config) { c.ProviderWindow = 1980 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyed, for the interval",
			func(c *impl.Config) { c.ReconcileInterval = 2820*time.Millisecond - ns },
			func(c *impl.Config) { c.ReconcileInterval = 3320 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyed, for the lease",
			func(c *impl.Config) { c.Lease = 3120*time.Millisecond - ns },
			func(c *impl.Config) { c.Lease = 3620 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyed, for the run",
			func(c *impl.Config) { c.Lease = 2 * time.Second; c.HealthyRun = 1620*time.Millisecond - ns },
			func(c *impl.Config) { c.Lease = 2 * time.Second; c.HealthyRun = 1620 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyed, without the lag",
			func(c *impl.Config) { c.LookupLag = time.Hour },
			func(c *impl.Config) { c.LookupLag = time.Hour; c.ProviderWindow = 1980 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, declines not stored",
			func(c *impl.Config) {
				c.Provider.StoresDeclines = false
				c.ProviderWindow = 3530*time.Millisecond + ns
			},
			func(c *impl.Config) {
				c.Provider.StoresDeclines = false
				c.ProviderWindow = 3030 * time.Millisecond
			},
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyless",
			func(c *impl.Config) { c.Provider = impl.Profile{}; c.ProviderWindow = 3530*time.Millisecond + ns },
			func(c *impl.Config) { c.Provider = impl.Profile{}; c.ProviderWindow = 3030 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyless, for the lag",
			func(c *impl.Config) { c.Provider = impl.Profile{}; c.LookupLag = 1520*time.Millisecond - ns },
			func(c *impl.Config) { c.Provider = impl.Profile{}; c.LookupLag = 2020 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"window, keyless, for the run",
			func(c *impl.Config) {
				c.Provider = impl.Profile{}
				c.Lease, c.HealthyRun = 1400*time.Millisecond, 1170*time.Millisecond-ns
			},
			func(c *impl.Config) {
				c.Provider = impl.Profile{}
				c.Lease, c.HealthyRun = 1400*time.Millisecond, 1170*time.Millisecond
			},
			[]string{"A1: ProviderWindow"},
		}, {
			"window, a profile that stores declines under no key",
			func(c *impl.Config) { c.Provider.Keys = false; c.ProviderWindow = 3530*time.Millisecond + ns },
			func(c *impl.Config) { c.Provider.Keys = false; c.ProviderWindow = 3030 * time.Millisecond },
			[]string{"A1: ProviderWindow"},
		}, {
			"transport, declines stored or not",
			func(c *impl.Config) { c.TransportResends = true },
			func(c *impl.Config) { c.TransportResends = true; c.Provider.StoresDeclines = false },
			[]string{"A6: TransportResends"},
		}, {
			"HealthyRun",
			func(c *impl.Config) { c.HealthyRun = ns },
			func(c *impl.Config) { c.HealthyRun = 0 },
			[]string{"HealthyRun"},
		}, {
			"MessageLifetime",
			func(c *impl.Config) { c.MessageLifetime = ns },
			func(c *impl.Config) { c.MessageLifetime = 0 },
			[]string{"MessageLifetime"},
		}, {
			"MaxClockSkew",
			func(c *impl.Config) { c.MaxClockSkew = 0 },
			func(c *impl.Config) { c.MaxClockSkew = -ns },
			[]string{"MaxClockSkew"},
		}, {
			"LookupLag",
			func(c *impl.Config) { c.LookupLag = 0 },
			func(c *impl.Config) { c.LookupLag = -ns },
			[]string{"LookupLag"},
		}, {
			"RetryHorizon",
			func(c *impl.Config) { c.RetryHorizon = ns },
			func(c *impl.Config) { c.RetryHorizon = 0 },
			[]string{"RetryHorizon"},
		}, {
			"ReconcileInterval",
			func(c *impl.Config) { c.ReconcileInterval = ns },
			func(c *impl.Config) { c.ReconcileInterval = 0 },
			[]string{"ReconcileInterval"},
		}, {
			"InProgressWait",
			func(c *impl.Config) { c.InProgressWait = 0 },
			func(c *impl.Config) { c.InProgressWait = -ns },
			[]string{"InProgressWait"},
		}, {
			"what another line needs, too, is 0",
			func(*impl.Config) {},
			func(c *impl.Config) { c.Lease = 0; c.ProviderWindow = 0; c.Retention = 0 },
			[]string{"Lease", "ProviderWindow", "Retention", "Lease", "A4: Retention", "A1: ProviderWindow"},
		}, {
			"everything at once",
			func(*impl.Config) {},
			func(c *impl.Config) {
				*c = impl.Config{MaxClockSkew: -ns, LookupLag: -ns, InProgressWait: -ns, HealthyRun: -time.Hour,
					RetryHorizon: -ns, ReconcileInterval: -time.Hour, TransportResends: true}
			},
			[]string{"Lease", "HealthyRun", "MessageLifetime", "MaxClockSkew", "ProviderWindow", "LookupLag", "RetryHorizon",
				"Retention", "ReconcileInterval", "InProgressWait", "A6: TransportResends"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, side := range []struct {
				name string
				set  func(*impl.Config)
				want []string
			}{{"inside", tt.inside, nil}, {"outside", tt.outside, tt.want}} {
				cfg := baseConfig()
				side.set(&cfg)
				if got := problems(cfg.Validate()); !slices.Equal(got, side.want) {
					t.Errorf("%s: %+v\nhas the problems %q, want %q", side.name, cfg, got, side.want)
				}
				if _, err := impl.New(cfg, impl.Ports{}); (err == nil) != (len(side.want) == 0) {
					t.Errorf("%s: New returned %v", side.name, err)
				}
			}
		})
	}
}

const longest = 10 * 366 * 24 * time.Hour

// Sums of what is too long wrap around, and a sum that has wrapped around is
// less than anything: "for ever" would pass as next to nothing.
func TestValidateBounds(t *testing.T) {
	bounded := func(cfg impl.Config, name string) bool {
		err := cfg.Validate()
		return err != nil && strings.Contains(err.Error(), "impl: config: "+name+" is ") && strings.Contains(err.Error(), ": want at most")
	}
	durations := 0
	for field := range reflect.TypeFor[impl.Config]().Fields() {
		if field.Type != reflect.TypeFor[time.Duration]() {
			continue
		}
		durations++
		for _, tt := range []struct {
			d    time.Duration
			want bool
		}{{longest, false}, {longest + ns, true}, {math.MaxInt64, true}} {
			cfg := baseConfig()
			reflect.ValueOf(&cfg).Elem().FieldByIndex(field.Index).SetInt(int64(tt.d))
			if got := bounded(cfg, field.Name); got != tt.want {
				t.Errorf("%s is %v: too long %v, want %v (%v)", field.Name, tt.d, got, tt.want, cfg.Validate())
			}
		}
	}
	if durations == 0 {
		t.Error("there are no durations")
	}
}

// What Validate accepts has room for a second send: also for a reconciler
// that has just slept when the first run's lease, or its last message, ends.
func TestAcceptedWindowHasRoom(t *testing.T) {
	for name, late := range map[string]bool{
		"keyed": false, "keyed-no-lookup": false, "keyed-forgets-declines": true, "keyed-bare": true, "keyless-lookup": true,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := baseConfig()
			cfg.Provider, cfg.RollForward = profiles[name], true
			cfg.ProviderWindow = time.Duration(1 + sort.Search(int(cfg.ProviderWindow), func(i int) bool {
				smaller := cfg
				smaller.ProviderWindow = time.Duration(1 + i)
				return smaller.Validate() == nil
			}))
			w := open(t, cfg)
			w.run("fault charge drop")
			w.run("handle key=k1")
			w.now = cfg.Lease + cfg.ReconcileInterval
			if late {
				w.now += cfg.MessageLifetime + cfg.LookupLag + cfg.MaxClockSkew
			}
			w.run("reconcile")
			if len(w.bank.charges) != 1 {
				t.Errorf("a window of %v is accepted, and at %v nothing is sent:\n%s", cfg.ProviderWindow, w.now, w.log.String())
			}
		})
	}
}

// Waiving silences the lines of what is waived, and nothing else.
func TestWaive(t *testing.T) {
	broken := baseConfig()
	broken.Lease, broken.Retention, broken.ProviderWindow = 540*time.Millisecond, ns, ns
	broken.Provider.StoresDeclines, broken.TransportResends = false, true
	for _, tt := range []struct {
		waive []impl.Assumption
		want  []string
	}{
		{nil, []string{"Lease", "A4: Retention", "A1: ProviderWindow", "A6: TransportResends"}},
		{[]impl.Assumption{impl.A1}, []string{"Lease", "A4: Retention", "A6: TransportResends"}},
		{[]impl.Assumption{impl.A4}, []string{"Lease", "A1: ProviderWindow", "A6: TransportResends"}},
		{[]impl.Assumption{impl.A6}, []string{"Lease", "A4: Retention", "A1: ProviderWindow"}},
		{[]impl.Assumption{impl.A2, impl.A3, impl.A5, impl.AS}, []string{"Lease", "A4: Retention", "A1: ProviderWindow", "A6: TransportResends"}},
		{[]impl.Assumption{""}, []string{"Lease", "A4: Retention", "A1: ProviderWindow", "A6: TransportResends"}},
		{impl.Assumptions, []string{"Lease"}},
	} {
		cfg := broken
		cfg.Waive = tt.waive
		if got := problems(cfg.Validate()); !slices.Equal(got, tt.want) {
			t.Errorf("waiving %q leaves %q, want %q", tt.waive, got, tt.want)
		}
	}
}

// accepted is Validate once more, from the text of the assumptions.
func accepted(c *impl.Config) bool {
	for _, d := range []time.Duration{c.Lease, c.HealthyRun, c.MessageLifetime, c.ProviderWindow, c.RetryHorizon, c.Retention, c.ReconcileInterval} {
		if d <= 0 || d > longest {
			return false
		}
	}
	for _, d := range []time.Duration{c.MaxClockSkew, c.LookupLag, c.InProgressWait} {
		if d < 0 || d > longest {
			return false
		}
	}
	waived := func(a impl.Assumption) bool { return slices.Contains(c.Waive, a) }
	// A healthy run ends within its lease, read by the slowest clock.
	if c.Lease-c.MaxClockSkew <= c.HealthyRun {
		return false
	}
	// The last attempt leaves at the horizon, takes a life to arrive and its
	// insert another, and the record is still there.
	if !waived(impl.A4) && c.Retention-c.MaxClockSkew-c.MessageLifetime-c.MessageLifetime <= c.RetryHorizon {
		return false
	}
	// After a crash the lease runs out, the reconciler wakes up, and the guard
	// is still open for as long as a run takes; where a second send waits for the
	// first to be dead, that too.
	left := c.ProviderWindow - c.Lease - c.ReconcileInterval - c.HealthyRun - c.MessageLifetime - c.MaxClockSkew - c.MaxClockSkew
	if !c.Provider.Keys || !c.Provider.StoresDeclines {
		left -= c.MessageLifetime + c.LookupLag
	}
	if !waived(impl.A1) && left <= 0 {
		return false
	}
	return waived(impl.A6) || !c.TransportResends || c.Provider.StoresDeclines
}

func TestValidateAcceptsWhatHolds(t *testing.T) {
	var yes, no int
	rapid.Check(t, func(t *rapid.T) {
		d := func(name string, from, to int64) time.Duration {
			return time.Duration(rapid.Int64Range(from, to).Draw(t, name))
		}
		cfg := impl.Config{
			HealthyRun: d("HealthyRun", 1, 6), MessageLifetime: d("MessageLifetime", 1, 6), MaxClockSkew: d("MaxClockSkew", 0, 3),
			LookupLag: d("LookupLag", 0, 4), RetryHorizon: d("RetryHorizon", 1, 10), ReconcileInterval: d("ReconcileInterval", 1, 6),
			InProgressWait: d("InProgressWait", 0, 3), RollForward: rapid.Bool().Draw(t, "RollForward"),
			Provider: impl.Profile{
				Keys: rapid.Bool().Draw(t, "Keys"), StoresDeclines: rapid.Bool().Draw(t, "StoresDeclines"), Lookup: rapid.Bool().Draw(t, "Lookup"),
				StoresFailures: rapid.Bool().Draw(t, "StoresFailures"),
			},
			TransportResends: rapid.IntRange(0, 3).Draw(t, "TransportResends") == 0,
			Waive:            rapid.SliceOfN(rapid.SampledFrom(impl.Assumptions), 0, 2).Draw(t, "Waive"),
		}
		// What depends on others is drawn around its bound, so that configurations
		// fall on both sides of each line and often right onto it.
		L, S := cfg.MessageLifetime, cfg.MaxClockSkew
		near := rapid.SampledFrom([]time.Duration{0, 1, 1, 1, 2, 3})
		cfg.Lease = S + cfg.HealthyRun + near.Draw(t, "Lease")
		cfg.Retention = cfg.RetryHorizon + 2*L + S + near.Draw(t, "Retention")
		cfg.ProviderWindow = cfg.Lease + cfg.ReconcileInterval + cfg.HealthyRun + L + 2*S + near.Draw(t, "ProviderWindow")
		if rapid.Bool().Draw(t, "window for a dead first send") {
			cfg.ProviderWindow += L + cfg.LookupLag
		}
		fields := []*time.Duration{
			&cfg.Lease, &cfg.HealthyRun, &cfg.MessageLifetime, &cfg.MaxClockSkew, &cfg.ProviderWindow,
			&cfg.LookupLag, &cfg.RetryHorizon, &cfg.Retention, &cfg.ReconcileInterval, &cfg.InProgressWait,
		}
		if rapid.SampledFrom([]string{"sound", "sound", "sound", "spoilt"}).Draw(t, "soundness") == "spoilt" {
			*rapid.SampledFrom(fields).Draw(t, "spoilt") = rapid.SampledFrom([]time.Duration{-1, 0, longest, longest + 1, math.MaxInt64}).Draw(t, "spoilt by")
		}
		before := cfg
		before.Waive = slices.Clone(cfg.Waive)
		err := cfg.Validate()
		if (err == nil) != accepted(&cfg) {
			t.Fatalf("Validate returned %v of %+v", err, cfg)
		}
		if !reflect.DeepEqual(before, cfg) {
			t.Fatalf("Validate changed %+v to %+v", before, cfg)
		}
		if err == nil {
			yes++
		} else {
			no++
		}
	})
	if yes == 0 || no == 0 {
		t.Errorf("%d configurations were accepted and %d refused: nothing was compared", yes, no)
	}
}
