package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// put writes text with writeFile.
func put(name, text string) error {
	return writeFile(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

func TestWriteFile(t *testing.T) {
	inNewDirectory(t)
	write(t, "target", "old")
	if err := os.Symlink("target", "link"); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := put("link", "new"); err != nil || read(t, "target") != "new" {
		t.Errorf("through a link: %v, %q", err, read(t, "target"))
	}
	if info, err := os.Lstat("link"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	failed := writeFile("target", func(w io.Writer) error {
		_, _ = io.WriteString(w, "half") // the error comes below
		return io.ErrUnexpectedEOF
	})
	if failed == nil || read(t, "target") != "new" {
		t.Errorf("a failed write left %q, %v", read(t, "target"), failed)
	}
	if left := files(t); !slices.Equal(left, []string{"link", "target"}) {
		t.Errorf("files: %v", left)
	}
	if err := put(filepath.Join("nowhere", "x"), "x"); err == nil {
		t.Error("a file was written to a directory that is not there")
	}
}
