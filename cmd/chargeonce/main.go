package main

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

func main() {
	// A campaign makes much garbage that dies young: fewer collections make
	// it faster, and the heap stays small all the same.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	c := &console{
		program: invocation(os.Args[0]),
		in:      os.Stdin, out: bufio.NewWriter(os.Stdout), err: os.Stderr,
		terminal: isTerminal(os.Stderr),
	}
	os.Exit(int(run(context.Background(), c, os.Args[1:])))
}

// invocation is how the command can be started once more. The file that "go
// run" starts is gone afterwards.
func invocation(arg0 string) string {
	if strings.Contains(filepath.ToSlash(arg0), "/go-build") {
		return "go run github.com/chargeonce/chargeonce/cmd/chargeonce"
	}
	return quote(arg0)
}

// isTerminal reports whether somebody may be watching. The null device looks
// like a terminal and is none.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
