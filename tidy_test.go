package chargeonce_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// This file is the repository's own lint. A rule is a function from a package
// to complaints; each complaint says where, what, and what to do instead.
// TestRulesFire shows every rule a piece of code that breaks it.

const module = "github.com/chargeonce/chargeonce"

// source is one package as it stands in its directory.
type source struct {
	path    string // without the module's: "sim/plan"; "." is the module's root
	fset    *token.FileSet
	files   []*ast.File // without tests
	tests   []*ast.File
	imports types.Importer
	checked func() *types.Info // of files
}

func (s *source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", filepath.ToSlash(p.Filename), p.Line)
}

// typed adds the lazy type check to a package whose files are known.
func typed(s *source) *source {
	s.checked = sync.OnceValue(func() *types.Info {
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		cfg := types.Config{Importer: s.imports}
		if _, err := cfg.Check(path.Join(module, s.path), s.fset, s.files, info); err != nil {
			panic(err)
		}
		return info
	})
	return s
}

// repository reads every package of the module once.
var repository = sync.OnceValues(func() ([]*source, error) {
	fset := token.NewFileSet()
	imports := exports(fset, "./...")
	byDir := map[string]*source{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || nested(name)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		s := byDir[dir]
		if s == nil {
			s = typed(&source{path: dir, fset: fset, imports: imports})
			byDir[dir] = s
		}
		if strings.HasSuffix(name, "_test.go") {
			s.tests = append(s.tests, f)
		} else {
			s.files = append(s.files, f)
		}
		return nil
	})
	var all []*source
	for _, s := range byDir {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *source) int { return strings.Compare(a.path, b.path) })
	return all, err
})

// nested reports whether a directory is a module of its own.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// exports imports packages from what the go command has compiled.
func exports(fset *token.FileSet, patterns ...string) types.Importer {
	files := sync.OnceValues(func() (map[string]string, error) {
		cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, patterns...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		found := map[string]string{}
		for d := json.NewDecoder(bytes.NewReader(out)); err == nil; {
			var p struct{ ImportPath, Export string }
			if err = d.Decode(&p); err == nil {
				found[p.ImportPath] = p.Export
			}
		}
		if err == io.EOF {
			err = nil
		}
		return found, err
	})
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		found, err := files()
		if err != nil {
			return nil, err
		}
		return os.Open(found[path])
	})
}

// rules are what every package is held to.
var rules = map[string]func(*source) []string{
	"arrows":        arrows,
	"inside a run":  insideARun,
	"package docs":  packageDoc,
	"doc comments":  docComments,
	"testing":       importsTesting,
	"names of dirs": nothingNames,
}

// tolerated are parts of complaints about what is still to be mended, and why
// it is not yet.
var tolerated = map[string]string{
	"the doc comment of Nth begins with": "a slip",
}

func TestTidy(t *testing.T) {
	all, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d packages were read", len(all))
	}
	stale := maps.Clone(tolerated)
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, s := range all {
				for _, complaint := range rule(s) {
					if part := tolerable(complaint); part != "" {
						delete(stale, part)
						continue
					}
					t.Error(complaint)
				}
			}
		})
	}
	for part := range stale {
		t.Errorf("nothing complains of %q any more: tolerate it no longer", part)
	}
}

func tolerable(complaint string) string {
	for part := range tolerated {
		if strings.Contains(complaint, part) {
			return part
		}
	}
	return ""
}

// below reports whether a package is one of the given or inside of it.
func below(pkg string, roots ...string) bool {
	for _, r := range roots {
		if pkg == r || strings.HasPrefix(pkg, r+"/") {
			return true
		}
	}
	return false
}

// arrow says why one package of the module may not import another; "" is that
// it may. Imports point down only.
func arrow(from, to string) string {
	switch {
	case below(from, "cmd"):
		return ""
	case below(to, "cmd"):
		return "nothing imports the command: move what both need below it"
	case below(from, "model"):
		if !below(to, "model") {
			return "model knows nothing of what it judges: let sim translate"
		}
	case below(from, "impl"):
		if !below(to, "impl") {
			return "impl runs in production and knows neither model nor simulator: put a port between them"
		}
		if below(from, "impl/registry") && below(to, "impl/registry") && !below(to, from) {
			return "registries are siblings that do not know each other: move what both need to impl"
		}
	case below(from, "linearizability"):
		if !below(to, "linearizability", "model") {
			return "the judge knows only model: let sim/search join them"
		}
	case below(from, "tla"):
		if !below(to, "model", "tla") {
			return "the specification is compared with model alone"
		}
	case below(from, "sim/search"):
		if below(to, "sim/simtest") {
			return "sim/simtest stands above sim/search: turn the arrow round"
		}
	case below(from, "sim/simtest"):
		return ""
	case below(from, "sim"):
		if below(to, "linearizability", "tla") {
			return "the simulator does not judge: let sim/search join them"
		}
		if below(to, "impl/designs") {
			return "the simulator runs any design: take it from sim.Config"
		}
		if below(to, "sim/search", "sim/simtest") {
			return "strategies stand above the simulator: take a sim.Chooser"
		}
	}
	return ""
}

func arrows(s *source) (complaints []string) {
	for _, f := range s.files {
		for _, i := range f.Imports {
			to, ours := strings.CutPrefix(importPath(i), module+"/")
			if why := arrow(s.path, to); ours && why != "" {
				complaints = append(complaints, fmt.Sprintf("%s: %s imports %s: %s", s.at(i), s.path, to, why))
			}
		}
	}
	return complaints
}

func importPath(i *ast.ImportSpec) string {
	p, _ := strconv.Unquote(i.Path.Value)
	return p
}

// runs are the packages whose code is executed inside a run.
var runs = []string{
	"sim", "sim/kernel", "sim/network", "sim/plan", "sim/provider",
	"impl", "impl/designs", "impl/client", "impl/fingerprint", "impl/idemkey", "impl/registry/memory",
}

// instead is what to use inside of a run in the place of a function or of a
// whole package.
var instead = map[string]string{
	"time.Now":             "read the process's Clock port",
	"time.Since":           "subtract from the Clock port's Now",
	"time.Until":           "subtract the Clock port's Now",
	"time.Sleep":           "use the Clock port's Sleep",
	"time.After":           "use the Clock port's Sleep",
	"time.AfterFunc":       "schedule a kernel event",
	"time.NewTimer":        "use the Clock port's Sleep, or schedule a kernel event",
	"time.NewTicker":       "use the Clock port's Sleep, or schedule a kernel event",
	"time.Tick":            "use the Clock port's Sleep, or schedule a kernel event",
	"context.WithTimeout":  "leave time-outs to the adapter behind the port; a run's context has no Done channel",
	"context.WithDeadline": "leave time-outs to the adapter behind the port; a run's context has no Done channel",
	"math/rand":            "hash the site with plan.Mix, or draw from the IDs port",
	"math/rand/v2":         "hash the site with plan.Mix, or draw from the IDs port",
	"crypto/rand":          "hash the site with plan.Mix, or draw from the IDs port",
	"maps.Keys":            "sort them: slices.Sorted(maps.Keys(m))",
	"maps.Values":          "sort them, or keep a slice beside the map",
	"maps.All":             "range over slices.Sorted(maps.Keys(m))",
}

// exception is a place where a rule of a run does not hold, and why.
type exception struct{ pkg, function, what string }

var exceptions = map[exception]string{
	{"sim/kernel", "Enter", "select"}: "a goroutine that outlived its run is stopped for ever, outside of every run",
}

// insideARun holds that code behind the ports starts nothing, waits for
// nothing and asks nobody that the simulator does not know.
func insideARun(s *source) (complaints []string) {
	if !slices.Contains(runs, s.path) {
		return nil
	}
	info := s.checked()
	used := map[exception]bool{}
	for _, f := range s.files {
		function := "the package's variables"
		sorted := map[ast.Node]bool{} // what is sorted as soon as it is made
		complain := func(n ast.Node, what, instead string) {
			e := exception{s.path, function, what}
			if _, ok := exceptions[e]; ok {
				used[e] = true
				return
			}
			complaints = append(complaints, fmt.Sprintf("%s: %s in %s, inside a run: %s", s.at(n), what, function, instead))
		}
		for _, i := range f.Imports {
			if use := instead[importPath(i)]; use != "" {
				complain(i, "the import of "+importPath(i), use)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				function = n.Name.Name
			case *ast.GenDecl:
				if n.Tok == token.VAR && f.Scope != nil && slices.Contains(f.Decls, ast.Decl(n)) {
					function = "the package's variables"
				}
			case *ast.GoStmt:
				complain(n, "a go statement", "one handler runs per request; spawn a coroutine of the kernel")
			case *ast.SelectStmt:
				complain(n, "select", "park in the kernel until an event comes")
			case *ast.RangeStmt:
				if _, ok := info.Types[n.X].Type.Underlying().(*types.Map); ok {
					complain(n, "range over a map", "its order differs from run to run: range over slices.Sorted(maps.Keys(m)), or keep a slice beside it")
				}
			case *ast.CallExpr:
				if name := called(info, n.Fun); name == "slices.Sorted" || name == "slices.SortedFunc" {
					ast.Inspect(n, func(in ast.Node) bool { sorted[in] = true; return true })
				}
			case *ast.Ident:
				name := objectName(info.Uses[n])
				if use := instead[name]; use != "" && !(sorted[n] && strings.HasPrefix(name, "maps.")) {
					complain(n, name, use)
				}
			}
			return true
		})
	}
	for e, why := range exceptions {
		if e.pkg == s.path && !used[e] {
			complaints = append(complaints, fmt.Sprintf("%s: there is no %s in %s any more: drop the exception (%s)", s.path, e.what, e.function, why))
		}
	}
	return complaints
}

// objectName is "time.Now" of a function of a package, "" of everything else.
func objectName(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
		return ""
	}
	return f.Pkg().Path() + "." + f.Name()
}

func called(info *types.Info, fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		return objectName(info.Uses[fun.Sel])
	case *ast.Ident:
		return objectName(info.Uses[fun])
	case *ast.IndexExpr:
		return called(info, fun.X)
	}
	return ""
}

// packageDoc holds that a package says what it is, in exactly one file.
func packageDoc(s *source) []string {
	var documented []string
	for _, f := range s.files {
		if f.Doc != nil && !strings.HasPrefix(f.Doc.Text(), "Code generated") {
			documented = append(documented, s.at(f.Name))
		}
	}
	switch {
	case len(s.files) == 0 || len(documented) == 1:
		return nil
	case len(documented) == 0:
		return []string{s.path + ": the package has no doc: say in doc.go what it does, what it does not, and the rule it keeps"}
	}
	return []string{fmt.Sprintf("%s: the package doc stands in %s: leave it in one file", s.path, strings.Join(documented, " and "))}
}

// docComments holds that what a package exports is described. A function's
// description begins with its name.
func docComments(s *source) (complaints []string) {
	for _, f := range s.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() || !exportedReceiver(d) || d.Recv != nil && (d.Name.Name == "Error" || d.Name.Name == "Unwrap") {
					continue // what an error's methods do is known
				}
				if d.Doc == nil {
					complaints = append(complaints, fmt.Sprintf("%s: %s has no doc comment: say what it returns, in which unit, and which errors", s.at(d), d.Name.Name))
				} else if !strings.HasPrefix(d.Doc.Text(), d.Name.Name+" ") && !strings.HasPrefix(d.Doc.Text(), "Deprecated:") {
					complaints = append(complaints, fmt.Sprintf("%s: the doc comment of %s begins with %q: begin it with %q", s.at(d), d.Name.Name, firstWord(d.Doc.Text()), d.Name.Name))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if name := undescribed(d, spec); name != "" {
						complaints = append(complaints, fmt.Sprintf("%s: %s has no doc comment: say what it is and in which unit", s.at(spec), name))
					}
				}
			}
		}
	}
	return complaints
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.TrimSpace(word)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// undescribed returns the first exported name of a declaration that has no
// description of its own, nor its group.
func undescribed(d *ast.GenDecl, spec ast.Spec) string {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && spec.Doc == nil && (d.Doc == nil || len(d.Specs) > 1) && spec.Comment == nil {
			return spec.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			if n.IsExported() && spec.Doc == nil && spec.Comment == nil && d.Doc == nil {
				return n.Name
			}
		}
	}
	return ""
}

// testsOthers are packages that are for the tests of other packages.
var testsOthers = []string{"impl/registry/registrytest", "sim/simtest"}

func importsTesting(s *source) (complaints []string) {
	if slices.Contains(testsOthers, s.path) {
		return nil
	}
	for _, f := range s.files {
		for _, i := range f.Imports {
			if p := importPath(i); p == "testing" || strings.HasPrefix(p, "testing/") {
				complaints = append(complaints, fmt.Sprintf("%s: %s imports %s: move it to a _test.go file, or to a package for tests like %s", s.at(i), s.path, p, testsOthers[0]))
			}
		}
	}
	return complaints
}

var says = regexp.MustCompile(`(?i)util|common|helper|manager|misc`)

// nothingNames holds that a room is called by what is in it.
func nothingNames(s *source) (complaints []string) {
	if word := says.FindString(s.path); word != "" {
		complaints = append(complaints, fmt.Sprintf("%s: %q says nothing of what is in it: name the package by that", s.path, word))
	}
	for _, f := range append(slices.Clone(s.files), s.tests...) {
		name := path.Base(filepath.ToSlash(s.fset.Position(f.Pos()).Filename))
		if word := says.FindString(name); word != "" {
			complaints = append(complaints, fmt.Sprintf("%s/%s: %q says nothing of what is in it: name the file by that", s.path, name, word))
		}
	}
	return complaints
}

// unformatted says which of the files gofmt would change.
func unformatted(name string, text []byte) string {
	switch formatted, err := format.Source(text); {
	case err != nil:
		return fmt.Sprintf("%s: %v", name, err)
	case !bytes.Equal(formatted, text):
		return name + ": gofmt would change it: run gofmt -w " + name
	}
	return ""
}

func TestFilesAreFormatted(t *testing.T) {
	all, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, f := range append(slices.Clone(s.files), s.tests...) {
			name := s.fset.Position(f.Pos()).Filename
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if complaint := unformatted(name, text); complaint != "" {
				t.Error(complaint)
			}
		}
	}
}

// layout is what stands at the top, hidden files aside.
var layout = []string{
	"README.md", "cmd", "go.mod", "go.sum", "impl", "linearizability", "model", "readme_test.go", "sim", "tidy_test.go", "tla",
}

func misplaced(names []string) (complaints []string) {
	for _, name := range names {
		if !strings.HasPrefix(name, ".") && !slices.Contains(layout, name) {
			complaints = append(complaints, name+" stands at the top: move it into one of "+strings.Join(layout, ", "))
		}
	}
	return complaints
}

func TestLayout(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, complaint := range misplaced(names) {
		t.Error(complaint)
	}
	for _, name := range layout {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing at the top", name)
		}
	}
}

// pins are versions that must not move by themselves.
var pins = map[string]struct{ version, why string }{
	"modernc.org/libc":                  {"v1.80.1", "the one that this modernc.org/sqlite was built and tested with"},
	"modernc.org/sqlite":                {"v1.62.0", "the records of the adapter were tested on it"},
	"github.com/anishathalye/porcupine": {"v1.3.1", "verdicts are compared with it"},
	"pgregory.net/rapid":                {"v1.3.0", "saved failures replay only in it"},
}

func unpinned(mod string) (complaints []string) {
	for name, pin := range pins {
		require := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(name) + `\s+(\S+)`)
		found := require.FindStringSubmatch(mod)
		version := "missing"
		if found != nil {
			version = found[1]
		}
		if version != pin.version {
			complaints = append(complaints, fmt.Sprintf("go.mod: %s is %s, want exactly %s (%s): run go get %s@%s", name, version, pin.version, pin.why, name, pin.version))
		}
	}
	slices.Sort(complaints)
	return complaints
}

func TestVersionsArePinned(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range unpinned(string(mod)) {
		t.Error(complaint)
	}
}

// snippet is a package made of its text.
func snippet(t *testing.T, pkg string, imports types.Importer, fset *token.FileSet, texts ...string) *source {
	t.Helper()
	s := &source{path: pkg, fset: fset, imports: imports}
	for i, text := range texts {
		name := fmt.Sprintf("%d.go", i)
		if rest, ok := strings.CutPrefix(text, "// file: "); ok {
			name, _, _ = strings.Cut(rest, "\n")
			text = strings.TrimPrefix(text, "// file: "+name+"\n")
		}
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	return typed(s)
}

// Every rule is shown code that breaks it, and code that does not.
func TestRulesFire(t *testing.T) {
	fset := token.NewFileSet()
	std := exports(fset, "time", "context", "math/rand/v2", "maps", "slices")
	imports := func(path string) string { return "package p\nimport _ \"" + path + "\"\n" }
	ours := func(path string) string { return imports(module + "/" + path) }
	for _, tt := range []struct {
		rule, pkg string
		texts     []string
		want      []string // parts of the complaints, one each
	}{
		{"arrows", "model/history", []string{ours("impl")}, []string{"let sim translate"}},
		{"arrows", "model/protocol", []string{ours("model"), ours("sim/plan")}, []string{"let sim translate"}},
		{"arrows", "impl/client", []string{ours("impl"), ours("model/history")}, []string{"put a port"}},
		{"arrows", "impl", []string{ours("sim")}, []string{"put a port"}},
		{"arrows", "impl/registry/sqlite", []string{ours("impl"), ours("impl/registry/memory")}, []string{"siblings"}},
		{"arrows", "linearizability/invariant", []string{ours("model/history"), ours("impl"), ours("sim")}, []string{"sim/search join", "sim/search join"}},
		{"arrows", "sim/plan", []string{ours("impl"), ours("linearizability")}, []string{"does not judge"}},
		{"arrows", "sim", []string{ours("impl/designs"), ours("sim/search"), ours("sim/kernel")}, []string{"any design", "sim.Chooser"}},
		{"arrows", "sim/search", []string{ours("linearizability"), ours("sim"), ours("sim/simtest")}, []string{"turn the arrow"}},
		{"arrows", "sim/simtest", []string{ours("sim/search"), ours("cmd/chargeonce")}, []string{"nothing imports the command"}},
		{"arrows", "tla", []string{ours("model/explore"), ours("sim")}, []string{"model alone"}},
		{"arrows", "cmd/chargeonce", []string{ours("sim"), ours("impl/designs"), ours("linearizability")}, nil},

		{"inside a run", "impl", []string{"package p\nfunc F() { go func() {}() }"}, []string{"a go statement in F"}},
		{"inside a run", "impl", []string{"package p\nfunc F(c chan int) { select { case <-c: } }"}, []string{"park in the kernel"}},
		{"inside a run", "sim", []string{"package p\nimport clock \"time\"\nfunc F() { _ = clock.Now() }"}, []string{"time.Now in F, inside a run: read the process's Clock"}},
		{"inside a run", "sim", []string{"package p\nimport . \"time\"\nvar began = Now()"}, []string{"time.Now in the package's variables"}},
		{"inside a run", "sim/plan", []string{"package p\nimport \"time\"\nvar wait = time.Sleep\nfunc F() { <-time.After(1); time.NewTimer(1); time.Tick(1) }"}, []string{"time.Sleep", "time.After", "time.NewTimer", "time.Tick"}},
		{"inside a run", "impl/designs", []string{"package p\nimport \"math/rand/v2\"\nfunc F() int { return rand.Int() }"}, []string{"the import of math/rand/v2"}},
		{"inside a run", "impl/client", []string{"package p\nimport \"context\"\nfunc F(c context.Context) { context.WithTimeout(c, 1) }"}, []string{"leave time-outs to the adapter"}},
		{"inside a run", "sim/provider", []string{"package p\ntype table map[int]int\nfunc F(t table, s []int) { for range t {}; for range s {}; for range 3 {} }"}, []string{"range over a map in F"}},
		{"inside a run", "sim", []string{"package p\nimport (\"maps\"; \"slices\")\nfunc F(m map[int]int) { for range maps.Keys(m) {}; for range slices.Sorted(maps.Keys(m)) {} }"}, []string{"slices.Sorted(maps.Keys(m))"}},
		{"inside a run", "sim/kernel", []string{"package p\nfunc Enter() { select {} }"}, nil},
		{"inside a run", "sim/kernel", []string{"package p\nfunc Enter() {}\nfunc Leave() { select {} }"}, []string{"select in Leave", "drop the exception"}},
		{"inside a run", "sim/search", []string{"package p\nimport \"time\"\nfunc F() { go time.Now() }"}, nil},

		{"package docs", "model", []string{"package p"}, []string{"has no doc"}},
		{"package docs", "model", []string{"// Package p is.\npackage p", "// Package p is too.\npackage p"}, []string{"leave it in one file"}},
		{"package docs", "model", []string{"// Package p is.\npackage p", "// It is not.\n\npackage p"}, nil},

		{"doc comments", "impl", []string{"package p\nfunc F() {}\nfunc g() {}\ntype T int\nfunc (t *T) M() {}\ntype u int\nfunc (u) M() {}\nvar V = 1\nconst C, d = 1, 2"},
			[]string{"F has no doc", "T has no doc", "M has no doc", "V has no doc", "C has no doc"}},
		{"doc comments", "impl", []string{"package p\n\n// Gone is its old name.\nfunc F() {}\n\n// Numbers.\nconst (\n\tA = 1\n\tB = 2\n)\n\nvar V = 1 // of something\n\n// T is one.\ntype T[X any] int\n\n// M does.\nfunc (t *T[X]) M() {}"},
			[]string{`begin it with "F"`}},

		{"testing", "impl", []string{imports("testing"), imports("testing/iotest")}, []string{"imports testing:", "imports testing/iotest:"}},
		{"testing", "sim/simtest", []string{imports("testing")}, nil},

		{"names of dirs", "impl/httputil", []string{"package p"}, []string{`"util"`}},
		{"names of dirs", "impl", []string{"// file: Helpers_test.go\npackage p"}, []string{`"Helper"`}},
		{"names of dirs", "impl", []string{"package p"}, nil},
	} {
		got := rules[tt.rule](snippet(t, tt.pkg, std, fset, tt.texts...))
		ok := len(got) == len(tt.want)
		for i := range tt.want {
			ok = ok && i < len(got) && strings.Contains(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s of %s in\n%s\ncomplains\n%s\nwant %q", tt.rule, tt.pkg, strings.Join(tt.texts, "\n"), strings.Join(got, "\n"), tt.want)
		}
	}

	if got := unformatted("a.go", []byte("package p\nvar  A=1\n")); !strings.Contains(got, "gofmt -w a.go") {
		t.Errorf("a file that is not formatted: %q", got)
	}
	if got := unformatted("a.go", []byte("package p\n\nvar A = 1\n")); got != "" {
		t.Errorf("a file that is formatted: %q", got)
	}
	if got := misplaced([]string{".git", "go.mod", "pkg", "docs"}); len(got) != 2 || !strings.HasPrefix(got[0], "pkg ") {
		t.Errorf("what is misplaced: %q", got)
	}
	mod := "require modernc.org/libc v1.80.1\nrequire (\n\tmodernc.org/sqlite v1.62.0 // indirect\n\tgithub.com/anishathalye/porcupine v1.3.1\n\tpgregory.net/rapid v1.3.0\n)\n"
	if got := unpinned(mod); got != nil {
		t.Errorf("all versions are pinned: %q", got)
	}
	if got := unpinned(strings.ReplaceAll(mod, "v1.80.1", "v1.80.2")); len(got) != 1 || !strings.Contains(got[0], "go get modernc.org/libc@v1.80.1") {
		t.Errorf("a version that moved: %q", got)
	}
	if got := unpinned(""); len(got) != len(pins) {
		t.Errorf("versions that are missing: %q", got)
	}
}
