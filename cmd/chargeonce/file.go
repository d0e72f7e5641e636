package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxPlan bounds the length of a plan's text, in bytes.
const maxPlan = 1 << 20

// open returns a file to read, or standard input for "-".
func (c *console) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.in), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, errors.Join(err, f.Close())
	case info.IsDir():
		return nil, errors.Join(fmt.Errorf("%s is a directory: want a file", name), f.Close())
	}
	return f, nil
}

// readPlan returns the text of a plan.
func (c *console) readPlan(name string) (string, error) {
	r, err := c.open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxPlan+1))
	if err := errors.Join(err, r.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxPlan {
		return "", fmt.Errorf("%s is longer than %d bytes: want a plan", name, maxPlan)
	}
	return string(text), nil
}

// writable finds out, before any work is done, whether a file could be
// written. It writes nothing.
func writable(name string) error {
	if name == "-" {
		return errors.New(`"-" is no name for a file to write`)
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory: want the name of a file", name)
	case err == nil:
		return nil
	}
	switch info, err := os.Stat(filepath.Dir(name)); {
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", name, err)
	case !info.IsDir():
		return fmt.Errorf("%s cannot be written: %s is no directory", name, filepath.Dir(name))
	}
	return nil
}

// writeFile makes a file, or replaces it: a reader finds the old content or
// the new, never a part. What is no regular file (a pipe, say) is written to.
func writeFile(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return writeTo(name, os.O_WRONLY, write)
		}
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	aside := fmt.Sprintf("%s.%d.new", name, os.Getpid())
	if err := writeTo(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, write); err != nil {
		return err
	}
	if err := os.Rename(aside, name); err != nil {
		return errors.Join(err, os.Remove(aside))
	}
	return nil
}

func writeTo(name string, how int, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, how, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		if how&os.O_CREATE != 0 {
			err = errors.Join(err, os.Remove(name))
		}
		return err
	}
	return nil
}
