package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/sim/plan"
)

// savedPlan makes the plan of a design that falls, in a new directory.
func savedPlan(t *testing.T) (hash string) {
	t.Helper()
	inNewDirectory(t)
	r := call(t, "", "sim", "-json", "-design", saver)
	if r.code != exitSafety {
		t.Fatalf("exit code %d, %s", r.code, r.errors)
	}
	return last(t, r.out)["hash"].(string)
}

func TestReplay(t *testing.T) {
	hash := savedPlan(t)
	r := call(t, "", "replay", savers)
	if r.code != exitSafety || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	for _, want := range []string{
		"order-1 was charged twice", "◀ here the invariant falls", hash + ", as the plan says",
		"SingleCharge, as the plan says", "\nverdict     violated: SingleCharge\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the report does not say %q:\n%s", want, r.out)
		}
	}
	if again := call(t, "", "replay", savers); again != r {
		t.Error("two replays differ")
	}
	if piped := call(t, read(t, savers), "replay", "-"); piped != r {
		t.Error("the plan from standard input is told otherwise")
	}
	if real := call(t, "", "replay", "-registry", "sqlite", savers); !strings.Contains(real.out, hash+", as the plan says") {
		t.Errorf("with SQLite:\n%s", real.out)
	}
}

func TestReplayJSON(t *testing.T) {
	hash := savedPlan(t)
	r := call(t, "", "replay", "-json", savers)
	all := objects(t, r.out)
	o := all[0]
	if r.code != exitSafety || len(all) != 1 {
		t.Fatalf("exit code %d, %d lines", r.code, len(all))
	}
	if o["hash"] != hash || o["hash_met"] != true || o["expect_met"] != true || o["verdict"] != "violated" || o["plan"] != read(t, savers) {
		t.Errorf("%v", o)
	}
	checkCounts(t, o)
	checkStory(t, o)
}

// -v shows every event, as text and as JSON.
func TestReplayVerbose(t *testing.T) {
	savedPlan(t)
	text, lines := call(t, "", "replay", "-v", savers), call(t, "", "replay", "-v", "-json", savers)
	all := objects(t, lines.out)
	if all[len(all)-1]["verdict"] != "violated" || lines.code != exitSafety {
		t.Errorf("exit code %d, the last line is %v", lines.code, all[len(all)-1])
	}
	shown := regexp.MustCompile(`(?m)^ *[0-9.]+[mµn]?s  [a-z]+( |$)`).FindAllString(text.out, -1)
	marks := map[string]int{}
	for _, o := range all[:len(all)-1] {
		marks[o["mark"].(string)]++
	}
	if n := len(all) - 1; len(shown) != n || n < 50 || marks["choice"] != 1 || marks["history"] < 10 || marks["send"] < 5 {
		t.Errorf("%d lines of text, %d of JSON: %v", len(shown), n, marks)
	}
	p, err := plan.Parse(read(t, savers))
	if err != nil || len(p.Deviations) != 1 {
		t.Fatalf("%v, %v", p, err)
	}
	for _, want := range []string{"choice   " + p.Deviations[0].String() + "\n", "history  charge     process=provider operation=order-1", "send     client-1 → server-1 request of client-1/order-1/try-1"} {
		if !strings.Contains(text.out, want) {
			t.Errorf("the log lacks %q:\n%s", want, text.out)
		}
	}
}

// What the plan states and what happens may differ; the verdict is of what
// happens.
func TestReplayOfAnotherRun(t *testing.T) {
	savedPlan(t)
	text := read(t, savers)
	head := "chargeonce plan v1\ndesign reference\nscenario one-payment\nprofile keyed\n"
	drop := func(prefix string) string {
		return regexp.MustCompile(`(?m)^`+prefix+` .*\n`).ReplaceAllString(text, "")
	}
	for _, tt := range []struct {
		name, plan string
		args       []string
		code       exitCode
		wants      []string
		members    map[string]any
	}{
		{
			"another hash", drop("hash") + "hash 0123456789abcdef\n", nil, exitSafety,
			[]string{"the plan says 0123456789abcdef: the code or the plan has changed since it was written"},
			map[string]any{"hash_met": false, "expect_met": true, "hash_stated": "0123456789abcdef"},
		},
		{
			"another expectation", drop("expect") + "expect Resolves\n", nil, exitSafety,
			[]string{"the plan expects Resolves, and that is not what happened"},
			map[string]any{"hash_met": true, "expect_met": false, "invariant": "SingleCharge"},
		},
		{
			"nothing stated", regexp.MustCompile(`(?m)^hash .*\n`).ReplaceAllString(drop("expect"), ""), nil, exitSafety,
			nil, map[string]any{"hash_met": nil, "expect_met": nil},
		},
		{
			"another design", text, []string{"-design", "reference"}, exitHeld,
			[]string{"the plan was made for " + saver}, map[string]any{"hash_met": nil, "expect_met": nil, "design": "reference", "verdict": "held"},
		},
		{
			"a site that the run does not come by", head + "crash server-2 after charge of client-1/order-1/try-9\nexpect held\n", nil, exitVacuous,
			[]string{"unmet crash server-2 after charge of client-1/order-1/try-9", "sites deviates crash server-2"},
			map[string]any{"verdict": "vacuous", "expect_met": false},
		},
		{
			"no fault at all", head + "expect held\n", nil, exitHeld,
			[]string{"held, as the plan says", "none of "}, map[string]any{"deviations": 0.0, "expect_met": true},
		},
		{
			"an invariant that stands beside a graver one", drop("expect") + "expect WindowGuarded\n", nil, exitSafety,
			[]string{"violated WindowGuarded", "breaks SingleCharge"}, map[string]any{"invariant": "WindowGuarded", "expect_met": true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := call(t, tt.plan, append(append([]string{"replay"}, tt.args...), "-")...)
			if r.code != tt.code || r.errors != "" {
				t.Errorf("exit code %d, want %d; standard error %q", r.code, tt.code, r.errors)
			}
			for _, want := range tt.wants {
				if !strings.Contains(strings.Join(strings.Fields(r.out), " "), want) {
					t.Errorf("the report does not say %q:\n%s", want, r.out)
				}
			}
			o := last(t, call(t, tt.plan, append(append([]string{"replay", "-json"}, tt.args...), "-")...).out)
			for name, want := range tt.members {
				if o[name] != want {
					t.Errorf("%s is %v, want %v", name, o[name], want)
				}
			}
		})
	}
}

// What a plan leaves out of its scenario is not there: not in the picture, not
// for a line that names it, and not twice.
func TestPlanOfLess(t *testing.T) {
	const crash = "crash server-1 during charge of client-3/order-3/try-1\n"
	head := "chargeonce plan v1\ndesign " + saver + "\nscenario mixed\nwithout client-1\nwithout client-2\nwithout order-4\nwithout server-2\n"
	for _, verb := range []string{"replay", "explain"} {
		r := call(t, head+crash, verb, "-")
		if r.code != exitSafety || !strings.Contains(r.out, "without     client-1, client-2, server-2, order-4\n") || !strings.Contains(r.out, "clnt3 srvr1 regis provd\n") {
			t.Errorf("%s: exit code %d\n%s%s", verb, r.code, r.errors, r.out)
		}
	}
	for lines, want := range map[string]string{
		"crash server-2 during charge of client-3/order-3/try-1\n": "there is no server-2: the plan leaves it out",
		"crash server-1 during charge of client-2/order-1/try-1\n": "there is no client-2: the plan leaves it out",
		"without server-1\n": "no server is left",
		"without client-7\n": "there is no client-7 to leave out",
		"without client-1\n": "without client-1 stands here a second time",
	} {
		for _, verb := range []string{"replay", "explain"} {
			if r := call(t, head+lines, verb, "-"); r.code != exitUsage || !strings.Contains(r.errors, want) {
				t.Errorf("%s of %q: exit code %d, %q; want %q", verb, lines, r.code, r.errors, want)
			}
		}
	}
}
