package search

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl/designs"
	"github.com/chargeonce/chargeonce/linearizability/invariant"
)

// FuzzPlan looks for a script that breaks the reference. Its seeds are the
// scripts of testdata/fuzz/FuzzPlan, each of which breaks a wrong design and
// is called after it; what go test -fuzz finds joins them there.
//
//	go test -fuzz FuzzPlan ./sim/search
func FuzzPlan(f *testing.F) {
	all := subjects(f, "reference")
	f.Fuzz(func(t *testing.T, script []byte) {
		v, err := Bytes(all, script, openMemory)
		if err != nil {
			t.Fatal(err)
		}
		if v != nil {
			t.Fatalf("%v: %s\n%s", v.Invariant, v.Sentence, v.Plan)
		}
	})
}

// scripted are the designs that have a script in the corpus.
var scripted = []string{
	"charge-then-save", "timeout-means-failed", "unfenced-completion", "not-found-means-failed", "get-classify-set", "settles-while-sending",
	"volatile-key", "short-retention",
}

const corpus = "testdata/fuzz/FuzzPlan"

// readScript reads a file of the corpus.
func readScript(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, name))
	if err != nil {
		t.Fatal(err)
	}
	literal, found := strings.CutPrefix(string(text), "go test fuzz v1\n[]byte(")
	script, err := strconv.Unquote(strings.TrimSuffix(literal, ")\n"))
	if !found || err != nil {
		t.Fatalf("%s is no script: %v", name, err)
	}
	return []byte(script)
}

// The corpus is worth its name: its scripts, which the reference survives,
// break most of the wrong designs that they are called after. To write them
// anew after the world has changed:
//
//	CHARGEONCE_REWRITE=1 go test -run Corpus ./sim/search
func TestCorpusBreaksWrongDesigns(t *testing.T) {
	broken := 0
	for _, name := range scripted {
		d, err := designs.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		target, err := invariant.Parse(d.Expect)
		if err != nil {
			t.Fatal(err)
		}
		all := subjects(t, name)[:7] // the scenarios with the first profile, as the reference's first
		if os.Getenv("CHARGEONCE_REWRITE") != "" {
			script := findScript(t, all, target)
			text := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", script)
			if err := os.MkdirAll(corpus, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(corpus, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if breaks(t, all, readScript(t, name), target) {
			broken++
		} else {
			t.Logf("the script of %s breaks it no longer", name)
		}
	}
	if broken < len(scripted)/2+1 {
		t.Errorf("only %d of %d scripts break the design that they are called after", broken, len(scripted))
	}
}

// breaks reports whether the run of a script violates the target.
func breaks(t *testing.T, all []Subject, script []byte, target invariant.Name) bool {
	t.Helper()
	registry, empty, _, _ := openMemory()
	a, err := newArena(all[int(script[0])%len(all)], registry, empty)
	if err != nil {
		t.Fatal(err)
	}
	defer a.world.Close()
	a.run(NewScript(script[1:]), how{})
	return a.broke(target)
}

// findScript draws scripts until one violates the target, and drops what it
// does not need.
func findScript(t *testing.T, all []Subject, target invariant.Name) []byte {
	t.Helper()
	source := &randomScript{}
	for run := range uint64(50_000) {
		source.Reset(1, run, 0)
		script := append([]byte{byte(run % uint64(len(all)))}, source.bytes...)
		if !breaks(t, all, script, target) {
			continue
		}
		for i := len(script) - 2; i >= 1; i -= 2 {
			if fewer := append(bytes.Clone(script[:i]), script[i+2:]...); breaks(t, all, fewer, target) {
				script = fewer
			}
		}
		return script
	}
	t.Fatalf("no script breaks %v", target)
	return nil
}

// Any bytes are a script, and the run of one violates what its plan does.
func TestBytesMakeViolationsSmall(t *testing.T) {
	all := subjects(t, "charge-then-save")
	v, err := Bytes(all, readScript(t, "charge-then-save"), openMemory)
	if err != nil || v == nil || v.Invariant != invariant.SingleCharge || len(v.Plan.Deviations) > 4 {
		t.Fatalf("%+v, %v", v, err)
	}
	r, err := Run(*v.Subject, v.Plan, openMemory)
	if err != nil || r.Verdict != Violated || r.Result.Hash != v.Plan.Hash {
		t.Errorf("%v: %+v", err, r)
	}
	for _, script := range [][]byte{nil, {}, {200}, {0, 1}, {3, 255, 255}, bytes.Repeat([]byte{0}, 99)} {
		if v, err := Bytes(subjects(t, "reference"), script, openMemory); v != nil || err != nil {
			t.Errorf("%v: %+v, %v", script, v, err)
		}
	}
}
