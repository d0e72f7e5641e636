// Package tla runs the specifications that stand beside it, the files whose
// names end in .tla, under TLC, and says what came out.
//
// Every file in cfg is one question to a specification, and manifest.json
// has one entry for it: what must come out, how many states there are, and how
// long the shortest counterexample is where one is wanted. The tests ask TLC
// all of them, expected failures included; the table in README.md is made from
// the manifest.
//
// The files are part of what is compiled, so whoever imports the package can
// run them anywhere. A [Twin] is a module's model in Go, which is asked the same
// questions.
//
// The package does not download anything and does not judge: it finds Java and
// the jar, runs TLC in a heap that is bounded, and reads its report. The rule
// it keeps: what TLC did not say clearly is an error, never a pass.
package tla
