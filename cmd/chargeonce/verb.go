package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
)

// console is what a verb reads and writes.
type console struct {
	program  string // how the command was started, ready for a shell
	in       io.Reader
	out      *bufio.Writer
	err      io.Writer
	terminal bool // somebody watches err
}

// verb is one thing that the command does.
type verb struct {
	name     string
	operands string // what follows the flags, as help shows it
	summary  string // one line
	doc      string // what help adds to it
	examples []string
	codes    []exitCode // those that it can return
	// command registers the verb's flags and returns what runs it.
	command func(fs *flag.FlagSet) action
}

// action runs a verb with its flags set. An error is bad input, told in one
// line; nothing was written then.
type action func(ctx context.Context, c *console, operands []string) (exitCode, error)

// verbs lists the verbs in the order of the help.
func verbs() []verb {
	return []verb{
		simVerb(), searchVerb(), replayVerb(), explainVerb(), matrixVerb(), compareVerb(), checkVerb(), traceVerb(), coverageVerb(), exploreVerb(), tlaVerb(), designsVerb(), scenariosVerb(), profilesVerb(), faultsVerb(), invariantsVerb(), helpVerb(),
	}
}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, c *console, args []string) exitCode {
	code := dispatch(ctx, c, args)
	switch err := c.out.Flush(); {
	case err == nil, errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return code // whoever read the output has had enough of it
	default:
		return c.refuse("", fmt.Errorf("the output is not complete: %w", err))
	}
}

func dispatch(ctx context.Context, c *console, args []string) exitCode {
	if len(args) == 0 || slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		args = append([]string{"help"}, args[min(1, len(args)):]...)
	}
	v, err := findVerb(args[0])
	if err != nil {
		return c.refuse("", err)
	}
	fs := v.flags()
	act := v.command(fs)
	operands, err := parse(fs, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		v.help(c.out)
		return exitHeld
	case err != nil:
		return c.refuse(v.name, fmt.Errorf("%w (see %s help %s)", err, c.program, v.name))
	}
	code, err := act(ctx, c, operands)
	if err != nil {
		return c.refuse(v.name, err)
	}
	return code
}

// refuse tells of bad input in one line.
func (c *console) refuse(verb string, err error) exitCode {
	c.warn(verb, err)
	return exitUsage
}

// warn writes one line to standard error.
func (c *console) warn(verb string, err error) {
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	fmt.Fprintln(c.err, strings.TrimSpace("chargeonce "+verb)+":", text)
}

// line writes one JSON object.
func (c *console) line(object any) {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil && !isWriteError(c, err) {
		panic(fmt.Sprintf("chargeonce: an object that JSON cannot show: %v", err))
	}
}

// isWriteError reports whether the output is broken; run tells of it.
func isWriteError(c *console, err error) bool { return errors.Is(c.out.Flush(), err) }

func findVerb(name string) (*verb, error) {
	var names []string
	for _, v := range verbs() {
		if v.name == name {
			return &v, nil
		}
		names = append(names, v.name)
	}
	return nil, fmt.Errorf("there is no verb %q%s", name, instead(name, names))
}

func (v *verb) flags() *flag.FlagSet {
	fs := flag.NewFlagSet(v.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse reads flags and operands in any order; after "--" all are operands.
func parse(fs *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, flagError(fs, err)
		}
		rest := fs.Args()
		switch read := args[:len(args)-len(rest)]; {
		case len(rest) == 0:
			return operands, nil
		case len(read) > 0 && read[len(read)-1] == "--":
			return append(operands, rest...), nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// flagError says what would be right instead of an unknown flag.
func flagError(fs *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: ")
	if !unknown {
		return err
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, "-"+f.Name) })
	if len(names) == 0 {
		return fmt.Errorf("there is no flag %s: %s takes none", name, fs.Name())
	}
	return fmt.Errorf("there is no flag %s%s", name, instead(name, names))
}

// noOperands refuses what follows the flags of a verb that takes only flags.
func noOperands(operands []string) error {
	if len(operands) > 0 {
		return fmt.Errorf("%q is too much: want only flags", operands[0])
	}
	return nil
}

// oneOperand returns the operand of a verb that takes exactly one.
func oneOperand(operands []string, what string) (string, error) {
	switch {
	case len(operands) == 0:
		return "", fmt.Errorf("want %s, or - for standard input", what)
	case len(operands) > 1:
		return "", fmt.Errorf("%q is too much: want one %s", operands[1], what)
	}
	return operands[0], nil
}
