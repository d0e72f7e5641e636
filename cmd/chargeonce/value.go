package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// count is a flag for a whole number within bounds.
type count struct {
	n           int
	least, most int
}

func (c *count) String() string { return strconv.Itoa(c.n) }

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < c.least || n > c.most {
		if c.most == math.MaxInt {
			return fmt.Errorf("want a whole number, %d or more", c.least)
		}
		return fmt.Errorf("want a whole number from %d to %d", c.least, c.most)
	}
	c.n = n
	return nil
}

// seed is a flag for a whole number of 64 bits.
type seed uint64

func (n *seed) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *seed) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("want a whole number from 0 to 18446744073709551615")
	}
	*n = seed(v)
	return nil
}

// names is a flag for names that are separated by commas.
type names []string

func (l *names) String() string { return strings.Join(*l, ",") }

func (l *names) Set(s string) error {
	*l = nil
	for _, name := range strings.Split(s, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return errors.New("want names with commas between them")
		}
		if !slices.Contains(*l, name) {
			*l = append(*l, name)
		}
	}
	return nil
}

// word is a flag for one of a few words.
type word struct {
	value string
	words []string
}

func (w *word) String() string { return w.value }

func (w *word) Set(s string) error {
	if !slices.Contains(w.words, s) {
		return fmt.Errorf("want %s", strings.Join(w.words, " or "))
	}
	w.value = s
	return nil
}

// span is a flag for a positive duration.
type span time.Duration

func (d *span) String() string { return time.Duration(*d).String() }

func (d *span) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil || v <= 0 {
		return errors.New("want a duration of more than 0, for example 10s")
	}
	*d = span(v)
	return nil
}
