package tla

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// Job is one run of TLC.
type Job struct {
	Dir    string // the directory of the module; if empty, the modules of Files
	Module string // without .tla
	Config string // the cfg file, relative to Dir
	HeapMB int    // the heap's bound in MiB; 0: 2048
	Dump   string // if not empty, the file that all states are written to

	// Racing lets TLC do its best: the JVM compiles as well as it can, which
	// pays off after some seconds. Workers is how many threads search then.
	Racing  bool
	Workers int
}

// Run checks the job's module, with one worker unless it is racing, so that
// the depth and the length of a counterexample are exact, and stops with the
// context. The scratch files of the run are gone when it returns. An error says that TLC
// could not be run or did not come to an end; a violation is a Report.
func (t Tools) Run(ctx context.Context, j Job) (Report, error) {
	scratch, err := os.MkdirTemp("", "chargeonce-tlc-")
	if err != nil {
		return Report{}, fmt.Errorf("tla: %w", err)
	}
	defer os.RemoveAll(scratch)
	if j.Dir == "" {
		j.Dir = filepath.Join(scratch, "files")
		if err := os.CopyFS(j.Dir, Files); err != nil {
			return Report{}, fmt.Errorf("tla: %w", err)
		}
	}
	var output stopwatch
	cmd := exec.CommandContext(ctx, t.Java, t.arguments(j, scratch)...)
	cmd.Dir = j.Dir
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Report{}, fmt.Errorf("tla: %s: stopped: %w", j.Config, ctx.Err())
	case err != nil && !errors.As(err, &exit):
		return Report{}, fmt.Errorf("tla: %s: %w", j.Config, err)
	}
	report, err := ParseReport(cmd.ProcessState.ExitCode(), output.text.String())
	if err != nil {
		return Report{}, fmt.Errorf("tla: %s: %w", j.Config, err)
	}
	report.Searched = output.between()
	return report, nil
}

// stopwatch keeps what TLC writes, and when it wrote that it begins to search
// and that it is done.
type stopwatch struct {
	text         bytes.Buffer
	begun, ended time.Time
}

// Write is that of an io.Writer.
func (s *stopwatch) Write(p []byte) (int, error) {
	s.text.Write(p)
	if s.begun.IsZero() && bytes.Contains(s.text.Bytes(), []byte(begins)) {
		s.begun = time.Now()
	}
	if s.ended.IsZero() && bytes.Contains(s.text.Bytes(), []byte(passed)) {
		s.ended = time.Now()
	}
	return len(p), nil
}

// between is how long TLC searched; 0 if it did not say when it began or was
// done.
func (s *stopwatch) between() time.Duration {
	if s.begun.IsZero() || s.ended.IsZero() {
		return 0
	}
	return s.ended.Sub(s.begun)
}

func (t Tools) arguments(j Job, scratch string) []string {
	heap := j.HeapMB
	if heap == 0 {
		heap = 2048
	}
	// Most runs are over before a better compiler has paid for itself.
	jvm, workers := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}, 1
	if j.Racing {
		jvm, workers = []string{"-XX:+UseParallelGC"}, j.Workers // what TLC asks for
	}
	args := append(jvm,
		"-Xmx"+strconv.Itoa(heap)+"m", "-Djava.io.tmpdir="+scratch,
		"-cp", t.Jar, "tlc2.TLC",
		"-workers", strconv.Itoa(workers), "-nowarning", "-metadir", filepath.Join(scratch, "states"), "-config", j.Config,
	)
	if j.Dump != "" {
		args = append(args, "-dump", j.Dump)
	}
	return append(args, j.Module)
}
