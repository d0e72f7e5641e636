//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// A pipe is written to, and stays one.
func TestWriteFileToPipe(t *testing.T) {
	inNewDirectory(t)
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile("pipe") // the text tells
		got <- string(b)
	}()
	if err := put("pipe", "new"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat("pipe"); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v, %v", info, err)
	}
	if text := <-got; text != "new" {
		t.Errorf("the reader got %q", text)
	}
}
