package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/chargeonce/chargeonce/sim/search"
)

// standing is how far an exhaustive search has come, as a file keeps it.
type standing struct {
	identity []string // lines that say which search it is
	worlds   []worldStanding
}

// worldStanding is how far it has come in one world.
type worldStanding struct {
	scenario, profile string
	root              uint64 // see search.Root
	cursor            search.Cursor
}

const standingFirst = "chargeonce search v2"

const standingLine = "at %s %s root %016x layer %d unit %d skip %d plans %d of %d pruned %d %d done %d next %d pruned %d"

// write writes the file.
func (s *standing) write(w io.Writer) error {
	var b strings.Builder
	b.WriteString(standingFirst + "\n")
	for _, line := range s.identity {
		b.WriteString(line + "\n")
	}
	for _, at := range s.worlds {
		c := at.cursor
		fmt.Fprintf(&b, standingLine+"\n", at.scenario, at.profile, at.root, c.Layer, c.Unit, c.Skip, c.Plans, c.Of, c.Pruned, c.PrunedBelow, c.Done, c.Next, c.NextPruned)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// read takes the cursors of a file, which must be of the same search. Its
// error is one line that says what is not the same.
func (s *standing) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	next := func() string {
		if lines.Scan() {
			return lines.Text()
		}
		return ""
	}
	if line := next(); line != standingFirst {
		return fmt.Errorf("want the first line %q", standingFirst)
	}
	for _, want := range s.identity {
		if line := next(); line != want {
			return fmt.Errorf("it belongs to another search: it says %q, and this one is %q", line, want)
		}
	}
	for i := range s.worlds {
		at, line := &s.worlds[i], next()
		var got worldStanding
		c := &got.cursor
		_, err := fmt.Sscanf(line, standingLine, &got.scenario, &got.profile, &got.root, &c.Layer, &c.Unit, &c.Skip, &c.Plans, &c.Of, &c.Pruned, &c.PrunedBelow, &c.Done, &c.Next, &c.NextPruned)
		switch {
		case err != nil || min(c.Layer, c.Unit, c.Skip, c.Plans, c.Of, c.Pruned, c.PrunedBelow, c.Done, c.Next, c.NextPruned) < 0:
			return fmt.Errorf("the line %q does not say how far a search has come", line)
		case got.scenario != at.scenario || got.profile != at.profile:
			return fmt.Errorf("it belongs to another search: it is about %s with %s, and this one about %s with %s", got.scenario, got.profile, at.scenario, at.profile)
		case got.root != at.root:
			return fmt.Errorf("the code has changed since it was written: in scenario %s with profile %s the search begins otherwise", at.scenario, at.profile)
		}
		at.cursor = got.cursor
	}
	if lines.Scan() {
		return fmt.Errorf("it belongs to another search: there is a line too much, %q", lines.Text())
	}
	return lines.Err()
}

// keeper writes a standing to its file now and then.
type keeper struct {
	file string // "" keeps nothing
	*standing
	last time.Time
	warn func(error)
}

// keepEvery is how often the file is written while a search runs.
const keepEvery = 10 * time.Second

// load reads the file if there is one, and reports whether there was. Then it
// writes it: what cannot be kept is to be known before a night's work.
func (k *keeper) load() (there bool, err error) {
	if k.file == "" {
		return false, nil
	}
	f, err := os.Open(k.file)
	switch {
	case err == nil:
		if err := errors.Join(writable(k.file), k.read(f), f.Close()); err != nil {
			return false, fmt.Errorf("%s: %w", k.file, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	default:
		if err := writable(k.file); err != nil {
			return false, err
		}
	}
	there = err == nil
	k.last = time.Now()
	if err := writeFile(k.file, k.write); err != nil {
		return false, fmt.Errorf("%s cannot be written: %w", k.file, err)
	}
	return there, nil
}

// save writes the file. If that fails the search goes on.
func (k *keeper) save() {
	if k.file == "" {
		return
	}
	k.last = time.Now()
	if err := writeFile(k.file, k.write); err != nil {
		k.warn(fmt.Errorf("%s is not written: %w", k.file, err))
	}
}

// saveNow writes the file if it was not written for some time.
func (k *keeper) saveNow() {
	if time.Since(k.last) >= keepEvery {
		k.save()
	}
}
