package tla

import (
	"fmt"
	"io/fs"
	"strings"
)

// Config is a cfg file of TLC, as far as this package's files use the format:
// one keyword or one name a line.
type Config struct {
	Specification string
	Constants     map[string]string
	Names         []string // of the constants, in the order of the file
	Invariants    []string
	Properties    []string
}

// ReadConfig reads a cfg file, of Files or of a copy of them.
func ReadConfig(files fs.FS, path string) (Config, error) {
	text, err := fs.ReadFile(files, path)
	if err != nil {
		return Config{}, fmt.Errorf("tla: %w", err)
	}
	c := Config{Constants: make(map[string]string)}
	section := ""
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, `\*`)
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case len(words) == 1 && (words[0] == "CONSTANTS" || words[0] == "INVARIANTS" || words[0] == "PROPERTIES"):
			section = words[0]
		case len(words) == 2 && words[0] == "SPECIFICATION":
			c.Specification = words[1]
		case len(words) == 2 && words[0] == "CHECK_DEADLOCK":
		case len(words) == 3 && section == "CONSTANTS" && words[1] == "=":
			if _, twice := c.Constants[words[0]]; twice {
				return Config{}, fmt.Errorf("tla: %s:%d: %s is given twice", path, i+1, words[0])
			}
			c.Constants[words[0]] = words[2]
			c.Names = append(c.Names, words[0])
		case len(words) == 1 && section == "INVARIANTS":
			c.Invariants = append(c.Invariants, words[0])
		case len(words) == 1 && section == "PROPERTIES":
			c.Properties = append(c.Properties, words[0])
		default:
			return Config{}, fmt.Errorf("tla: %s:%d: cannot read %q", path, i+1, strings.TrimSpace(line))
		}
	}
	return c, nil
}
