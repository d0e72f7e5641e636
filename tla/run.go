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
)

// Job is one run of TLC.
type Job struct {
	Dir    string // the directory of the module; if empty, the modules of Files
	Module string // without .tla
	Config string // the cfg file, relative to Dir
	HeapMB int    // the heap's bound in MiB; 0: 2048
	Dump   string // if not empty, the file that all states are written to
}

// Run checks the job's module with one worker, so that the depth and the
// length of a counterexample are exact, and stops with the context. The
// scratch files of the run are gone when it returns. An error says that TLC
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
	var output bytes.Buffer
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
	report, err := ParseReport(cmd.ProcessState.ExitCode(), output.String())
	if err != nil {
		return Report{}, fmt.Errorf("tla: %s: %w", j.Config, err)
	}
	return report, nil
}

func (t Tools) arguments(j Job, scratch string) []string {
	heap := j.HeapMB
	if heap == 0 {
		heap = 2048
	}
	args := []string{
		// Most runs are over before a better compiler has paid for itself.
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx" + strconv.Itoa(heap) + "m", "-Djava.io.tmpdir=" + scratch,
		"-cp", t.Jar, "tlc2.TLC",
		"-workers", "1", "-nowarning", "-metadir", filepath.Join(scratch, "states"), "-config", j.Config,
	}
	if j.Dump != "" {
		args = append(args, "-dump", j.Dump)
	}
	return append(args, j.Module)
}
