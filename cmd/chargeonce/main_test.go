package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// asCommand makes the test's own executable be the command.
const asCommand = "CHARGEONCE_TEST_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(asCommand) {
	case "command":
		main()
	case "interrupted":
		waitForTwoInterrupts()
	default:
		os.Exit(m.Run())
	}
}

// process returns the command as a process of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=command")
	return cmd
}

// result is what the command did.
type result struct {
	code        exitCode
	out, errors string
}

// call runs the command within this process. Tests that use it are not
// parallel: the simulator takes goroutines that begin beside a run for the
// work of the code under test.
func call(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return callWith(context.Background(), stdin, args...)
}

func callWith(ctx context.Context, stdin string, args ...string) result {
	var out, errors bytes.Buffer
	c := &console{program: "chargeonce", in: strings.NewReader(stdin), out: bufio.NewWriter(&out), err: &errors}
	code := run(ctx, c, args)
	return result{code, out.String(), errors.String()}
}

// inNewDirectory moves the test to an empty directory.
func inNewDirectory(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
}

// files lists what stands in the current directory.
func files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// objects decodes JSON Lines; anything else on the output fails the test.
func objects(t *testing.T, out string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(out) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, o)
	}
	if len(all) == 0 {
		t.Fatal("nothing was written")
	}
	return all
}

// last decodes the last line of JSON Lines.
func last(t *testing.T, out string) map[string]any {
	t.Helper()
	all := objects(t, out)
	return all[len(all)-1]
}

// wallClock is what differs from one machine and moment to another.
var wallClock = regexp.MustCompile(`in [0-9.]+ s, [0-9]+ a second`)

// golden compares text with a file in testdata.
func golden(t *testing.T, directory, name, got string) {
	t.Helper()
	got = wallClock.ReplaceAllString(got, "in X s, X a second")
	path := filepath.Join(directory, "testdata", name)
	if *update {
		write(t, path, got)
	}
	if want := read(t, path); got != want {
		t.Errorf("%s differs (rewrite it with go test ./cmd/chargeonce -update); got:\n%s\nwant:\n%s", name, got, want)
	}
}

func here(t *testing.T) string {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return directory
}
