package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/sim"
	"github.com/chargeonce/chargeonce/sim/plan"
	"github.com/chargeonce/chargeonce/sim/provider"
	"github.com/chargeonce/chargeonce/sim/search"
)

// saver is a design that falls after a few runs, and savers is its plan.
const saver, savers = "charge-then-save", "charge-then-save.plan"

func TestSimHeld(t *testing.T) {
	directory := here(t)
	inNewDirectory(t)
	r := call(t, "", "sim", "-runs", "400", "-workers", "1", "-scenario", "one-payment,mixed", "-profile", "keyed", "-faults", "all,-lag")
	if r.code != exitHeld || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	if left := files(t); len(left) > 0 {
		t.Errorf("nothing fell, and files were written: %v", left)
	}
	head, tables, _ := strings.Cut(r.out, "\nfaults      how often")
	_, verdict, _ := strings.Cut(tables, "\nverdict")
	golden(t, directory, "sim-held.txt", head+"\n(…)\nverdict"+verdict)
}

func TestSimViolated(t *testing.T) {
	directory := here(t)
	inNewDirectory(t)
	r := call(t, "", "sim", "-design", saver, "-workers", "1")
	if r.code != exitSafety || r.errors != "" {
		t.Fatalf("exit code %d, standard error %q", r.code, r.errors)
	}
	golden(t, directory, "sim-violated.txt", r.out)
	if left := files(t); !slices.Equal(left, []string{savers}) {
		t.Errorf("files: %v", left)
	}
	if !strings.Contains(r.out, "\n  chargeonce replay "+savers+"\n") {
		t.Error("the report does not say how to replay the plan")
	}
	for line := range strings.Lines(r.out) {
		if n := len([]rune(line)) - 1; n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestSimJSON(t *testing.T) {
	inNewDirectory(t)
	reference, err := designs.ByName("reference")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		code   exitCode
		wants  map[string]any
		absent []string
	}{
		{
			"-runs 300", exitHeld,
			map[string]any{"verdict": "held", "design": "reference", "runs": 300.0, "planned": 300.0, "seed": 1.0, "registry": "memory", "profile": strings.Join(profilesOf(&reference), ",")},
			[]string{"invariant", "plan", "deviations", "sites", "hash", "finding"},
		},
		{
			"-design " + saver, exitSafety,
			map[string]any{"verdict": "violated", "design": saver, "invariant": "SingleCharge", "operation": "order-1", "plan_file": savers, "replay": "chargeonce replay " + savers, "expect": "SingleCharge"},
			[]string{"reason", "finding"},
		},
		{
			"-design no-retry", exitLiveness,
			map[string]any{"verdict": "violated", "invariant": "Resolves", "scenario": "one-payment", "profile": "keyed"},
			nil,
		},
		{
			"-runs 20 -faults none,drop,forget-keys -break A1 -scenario decline -profile keyed", exitVacuous,
			map[string]any{"verdict": "vacuous", "scenario": "decline", "profile": "keyed", "break": []any{"A1"}},
			[]string{"invariant", "plan"},
		},
	} {
		t.Run(tt.args, func(t *testing.T) {
			r := call(t, "", append([]string{"sim", "-json"}, strings.Fields(tt.args)...)...)
			if r.code != tt.code || r.errors != "" {
				t.Fatalf("exit code %d, want %d; standard error %q", r.code, tt.code, r.errors)
			}
			o := last(t, r.out)
			for name, want := range tt.wants {
				if fmt.Sprint(o[name]) != fmt.Sprint(want) {
					t.Errorf("%s is %v, want %v", name, o[name], want)
				}
			}
			for _, name := range tt.absent {
				if v, there := o[name]; there {
					t.Errorf("%s is %v, want none", name, v)
				}
			}
			for _, name := range []string{"runs", "runs_per_second", "faults", "situations"} {
				if _, there := o[name]; !there {
					t.Errorf("there is no %s", name)
				}
			}
			checkCounts(t, o)
			if o["verdict"] == "violated" {
				checkStory(t, o)
			}
		})
	}
}

// checkCounts checks that faults and situations are counted by name.
func checkCounts(t *testing.T, o map[string]any) {
	t.Helper()
	for name, n := range o["faults"].(map[string]any) {
		if _, err := plan.ParseClass(name); err != nil {
			t.Error(err)
		}
		n := n.(map[string]any)
		if n["chosen"].(float64) < n["effective"].(float64) && name != "hold-until" || len(n) != 2 {
			t.Errorf("%s: %v", name, n)
		}
	}
	if n := len(o["situations"].(map[string]any)); n != int(sim.SituationCount) {
		t.Errorf("%d situations, want %d", n, sim.SituationCount)
	}
}

// checkStory checks that the plan of a violation parses and agrees with what
// is said of it.
func checkStory(t *testing.T, o map[string]any) {
	t.Helper()
	p, err := plan.Parse(o["plan"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if p.Expect != o["invariant"] || hexadecimal(p.Hash) != o["hash"] || len(p.Deviations) != int(o["deviations"].(float64)) || p.Scenario != o["scenario"] {
		t.Errorf("the plan and its line disagree: %v", o)
	}
	if len(o["hash"].(string)) != 16 || o["sites"].(float64) < 1 {
		t.Errorf("hash %v, sites %v", o["hash"], o["sites"])
	}
	if o["sentence"] == "" {
		t.Error("no sentence says what fell")
	}
}

// What a campaign comes to depends on its options alone.
func TestSimDoesNotDependOnWorkers(t *testing.T) {
	inNewDirectory(t)
	for _, args := range []string{"-runs 500", "-design timeout-means-failed"} {
		var first string
		for _, workers := range []string{"1", "2", "3"} {
			r := call(t, "", append([]string{"sim", "-json", "-workers", workers}, strings.Fields(args)...)...)
			out := regexp.MustCompile(`"runs_per_second":[0-9]+`).ReplaceAllString(r.out, "")
			if first == "" {
				first = out
			} else if out != first {
				t.Errorf("%s: %s workers give\n%s\none gives\n%s", args, workers, out, first)
			}
		}
	}
}

// SQLite's own goroutines are not taken for those of a design, and its
// records give the same runs.
func TestSimOnSQLite(t *testing.T) {
	args := []string{"sim", "-json", "-workers", "2", "-runs", "800"}
	memory, real := call(t, "", args...), call(t, "", append(args, "-registry", "sqlite")...)
	m, r := last(t, memory.out), last(t, real.out)
	if real.code != exitHeld || fmt.Sprint(m["faults"], m["situations"]) != fmt.Sprint(r["faults"], r["situations"]) {
		t.Errorf("exit code %d\n%s\nin memory:\n%s", real.code, real.out, memory.out)
	}
}

func TestSimStopsAtTheTarget(t *testing.T) {
	inNewDirectory(t)
	target := last(t, call(t, "", "sim", "-json", "-design", "short-retention", "-seed", "2").out)
	any := last(t, call(t, "", "sim", "-json", "-design", "short-retention", "-seed", "2", "-any", "-scenario", "one-payment,retry-after-retention").out)
	if target["invariant"] != "SingleCharge" || any["invariant"] == "SingleCharge" {
		t.Errorf("with the target %v fell, without it %v", target["invariant"], any["invariant"])
	}
}

// Where a defect does not show, the verdict says where it does.
func TestSimHeldByAWrongDesign(t *testing.T) {
	r := call(t, "", "sim", "-design", "no-fingerprint", "-scenario", "mixed", "-runs", "50")
	if want := "verdict     held (the gallery says that FingerprintBound falls in other-amount)\n"; r.code != exitHeld || !strings.HasSuffix(r.out, want) {
		t.Errorf("exit code %d, want %q at the end of\n%s", r.code, want, r.out)
	}
}

func TestSimPlanFlag(t *testing.T) {
	inNewDirectory(t)
	write(t, "my plan", "an old file that is longer than any plan "+strings.Repeat("x", 4000))
	r := call(t, "", "sim", "-design", saver, "-plan", "my plan")
	if text := read(t, "my plan"); !strings.HasPrefix(text, "chargeonce plan v1\n") || strings.Contains(text, "xxx") {
		t.Errorf("the plan's file holds %q", text)
	}
	if !strings.Contains(r.out, "chargeonce replay 'my plan'\n") {
		t.Error("the printed command does not quote the name of the file")
	}
	r = call(t, "", "sim", "-design", saver, "-plan", "")
	if left := files(t); !slices.Equal(left, []string{"my plan"}) {
		t.Errorf("files: %v", left)
	}
	if !strings.Contains(r.out, "\nchargeonce replay - <<'EOF'\nchargeonce plan v1\n") {
		t.Error("the report does not print the plan for the shell")
	}
}

// The command that a report prints makes the same run in a new process.
func TestPrintedCommandReplays(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the printed command is for a POSIX shell")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"", "-plan=", "-plan=-odd", "-registry=sqlite"} {
		t.Run(args, func(t *testing.T) {
			inNewDirectory(t)
			var out strings.Builder
			c := &console{program: quote(exe), out: bufio.NewWriter(&out), err: io.Discard}
			if code := run(context.Background(), c, strings.Fields("sim -json -design "+saver+" "+args)); code != exitSafety {
				t.Fatalf("exit code %d", code)
			}
			o := last(t, out.String())
			command := o["replay"].(string)
			if strings.Contains(args, "registry") && !strings.Contains(command, " "+strings.ReplaceAll(args, "=", " ")+" ") {
				t.Errorf("%s does not say where records are kept", command)
			}
			shell := exec.Command("sh", "-c", command)
			shell.Env = append(os.Environ(), asCommand+"=command")
			said, err := shell.Output()
			if shell.ProcessState.ExitCode() != int(exitSafety) {
				t.Fatalf("%s: %v\n%s", command, err, said)
			}
			for _, want := range []string{o["hash"].(string) + ", as the plan says", "verdict     violated: SingleCharge"} {
				if !strings.Contains(string(said), want) {
					t.Errorf("%s does not say %q:\n%s", command, want, said)
				}
			}
		})
	}
}

func TestSimInterrupted(t *testing.T) {
	inNewDirectory(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{{"sim"}, {"sim", "-json"}, {"sim", "-history", "run.jsonl"}} {
		r := callWith(ctx, "", args...)
		if r.code != exitUndecided || !strings.Contains(r.out, "stopped after 0 of 50000 runs") {
			t.Errorf("%v: exit code %d, %s", args, r.code, r.out)
		}
		if lost := strings.Contains(r.errors, "run.jsonl is not written"); lost != slices.Contains(args, "-history") {
			t.Errorf("%v: standard error %q", args, r.errors)
		}
	}
}

// A campaign that is interrupted tells what it has found so far.
func TestSimInterruptedBySignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to another process")
	}
	cmd := process(t, "sim", "-runs", "100000000", "-workers", "1")
	cmd.Dir = t.TempDir()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); !strings.HasPrefix(line, "design ") {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code says more
	if code := cmd.ProcessState.ExitCode(); code != int(exitUndecided) || !strings.Contains(string(rest), "\nverdict     undecided: stopped after ") {
		t.Errorf("exit code %d\n%s", code, rest)
	}
}

// waitForTwoInterrupts is a process that does not end at the first.
func waitForTwoInterrupts() {
	ctx, stop := interruptible(context.Background())
	defer stop()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println("interrupted")
	select {}
}

func TestSecondInterruptKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to another process")
	}
	if signal.Ignored(os.Interrupt) {
		t.Skip("interrupts are ignored here, and in every process that is started from here")
	}
	cmd := process(t)
	cmd.Env = append(os.Environ(), asCommand+"=interrupted")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for _, want := range []string{"ready\n", "interrupted\n"} {
		if line, err := lines.ReadString('\n'); line != want {
			t.Fatalf("got %q, %v; want %q", line, err, want)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // how it ended is in its state
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

func TestChooseFaults(t *testing.T) {
	within := len((&faults{on: sim.Within()}).names())
	for _, tt := range []struct {
		list, broken string
		on           int
		asked        string
		off          string
	}{
		{list: "all", on: within},
		{list: "none", on: 0},
		{list: "drop,hold", on: 2, asked: "drop hold"},
		{list: "all,-duplicate", on: within - 1, off: "duplicate"},
		{list: "-duplicate,-drop", on: within - 2, off: "duplicate drop"},
		{list: "all,drop", on: within, asked: "drop"},
		{list: "drop,none,hold", on: 1, asked: "hold", off: "drop"},
		{list: "drop,-drop", on: 0, off: "drop"},
		{list: "all", broken: "A1", on: within + 1, asked: "forget-keys"},
		{list: "none", broken: "A2", on: 2, asked: "hold-beyond pause-beyond"},
		{list: "none,-hold-beyond", broken: "A2", on: 1, asked: "pause-beyond", off: "hold-beyond"},
		{list: "-forget-keys", on: within},
	} {
		var broken []impl.Assumption
		for _, a := range strings.Fields(tt.broken) {
			broken = append(broken, impl.Assumption(a))
		}
		f, err := chooseFaults(strings.Split(tt.list, ","), broken)
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		for _, c := range f.asked {
			asked = append(asked, c.String())
		}
		if on := f.names(); len(on) != tt.on || strings.Join(asked, " ") != tt.asked {
			t.Errorf("-faults %s -break %q: %d on (%v), asked %q; want %d, %q", tt.list, tt.broken, len(on), on, asked, tt.on, tt.asked)
		}
		for _, name := range strings.Fields(tt.off) {
			if slices.Contains(f.names(), name) {
				t.Errorf("-faults %s: %s is on", tt.list, name)
			}
		}
	}
}

// A configuration that breaks an assumption is refused before anything runs:
// the services take it for granted.
func TestUnfitConfigurationIsRefused(t *testing.T) {
	d, err := designs.ByName("reference")
	if err != nil {
		t.Fatal(err)
	}
	s := search.Subject{Design: d, Profile: provider.Profiles[0]}
	if err := validate(&s); err != nil {
		t.Error(err)
	}
	s.Design.Tune = func(cfg impl.Config) impl.Config { cfg.Retention = cfg.RetryHorizon; return cfg }
	if err := validate(&s); err == nil || !strings.Contains(err.Error(), "reference cannot run with the provider profile keyed: impl: config: A4") {
		t.Errorf("%v", err)
	}
	s.Break = []impl.Assumption{impl.A4}
	if err := validate(&s); err != nil {
		t.Error(err)
	}
}

// rogue is a design that breaks the rules of the simulator and no invariant.
func rogue(handle func(req impl.Request)) impl.Design {
	d, err := designs.ByName("reference")
	if err != nil {
		panic(err)
	}
	service := d.Handler
	d.Handler = func(cfg impl.Config, ports impl.Ports) impl.Handler {
		return &rogueHandler{service(cfg, ports), handle}
	}
	return d
}

type rogueHandler struct {
	impl.Handler
	handle func(req impl.Request)
}

func (h *rogueHandler) Handle(ctx context.Context, req impl.Request) (impl.Reply, error) {
	h.handle(req)
	return h.Handler.Handle(ctx, req)
}

func TestFindingIsToldWithItsPlan(t *testing.T) {
	inNewDirectory(t)
	hang := make(chan struct{})
	defer close(hang)
	for _, tt := range []struct {
		kind   string
		handle func(impl.Request)
	}{
		{"panic", func(impl.Request) { panic("no such card") }},
		{"goroutine", func(impl.Request) { go func() { <-hang }() }},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			o := simOptions{runs: count{50, 1, 50}, subjectOptions: subjectOptions{
				design: "reference", workers: count{1, 1, 1}, faults: names{"all"}, registry: word{"memory", stores}, scenarios: names{"one-payment"}, profiles: names{"keyed"},
			}}
			c, err := o.resolve()
			if err != nil {
				t.Fatal(err)
			}
			c.design = rogue(tt.handle)
			c.Subjects[0].Design = c.design
			for _, c.json = range []bool{false, true} {
				var out, said strings.Builder
				k := &console{program: "chargeonce", out: bufio.NewWriter(&out), err: &said}
				code, err := c.run(context.Background(), k)
				_ = k.out.Flush() // a Builder takes everything
				if code != exitSafety || err != nil || said.String() != "" {
					t.Fatalf("exit code %d, %v, %q", code, err, said.String())
				}
				for _, want := range []string{tt.kind, "chargeonce plan v1", "chargeonce replay reference.plan", "violated"} {
					if !strings.Contains(out.String(), want) {
						t.Errorf("%q is not told:\n%s", want, out.String())
					}
				}
			}
		})
	}
}

// A run that does not come back has no plan to show, and is no pass.
func TestStuckRunIsViolated(t *testing.T) {
	c := &campaign{registry: "memory", json: true}
	var out strings.Builder
	k := &console{program: "chargeonce", out: bufio.NewWriter(&out), err: io.Discard}
	code := c.conclude(k, &search.Report{
		Verdict: search.Undecided, Reason: "run 3 did not get on", Runs: 2, Planned: 10,
		Finding: &sim.Finding{Kind: "blocked"}, FindingAt: &plan.Plan{},
	})
	_ = k.out.Flush() // a Builder takes everything
	o := last(t, out.String())
	if _, shown := o["plan"]; code != exitSafety || shown || o["verdict"] != "violated" || o["reason"] != "run 3 did not get on" {
		t.Errorf("exit code %d, %v", code, o)
	}
}
