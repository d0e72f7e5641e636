package chargeonce_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The README's code is the code that is compiled and run; -rewrite puts it
// there.
func TestReadmeShowsTheFiles(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)<!-- file: (\S+) -->\n.*?<!-- end -->`)
	want := block.ReplaceAllStringFunc(string(text), func(old string) string {
		name := block.FindStringSubmatch(old)[1]
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return "<!-- file: " + name + " -->\n```go\n" + strings.TrimSpace(string(code)) + "\n```\n<!-- end -->"
	})
	if want == string(text) {
		return
	}
	if os.Getenv("CHARGEONCE_REWRITE") != "" {
		if err := os.WriteFile("README.md", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("README.md does not show the files as they are: run CHARGEONCE_REWRITE=1 go test -run Readme .")
}
