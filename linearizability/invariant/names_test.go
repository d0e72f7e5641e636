package invariant

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range All() {
		if got, err := Parse(n.String()); err != nil || got != n {
			t.Errorf("Parse(%q) = %v, %v", n.String(), got, err)
		}
		if seen[n.String()] {
			t.Errorf("two invariants are called %s", n)
		}
		seen[n.String()] = true
		if doc := n.Doc(); !strings.HasSuffix(doc, ".") || strings.Count(doc, ". ") > 0 {
			t.Errorf("%s: the doc is not one sentence: %q", n, doc)
		}
		if live := n == Resolves || n == NotWedged; live != (n.Kind() == Liveness) {
			t.Errorf("%s is of kind %s", n, n.Kind())
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d invariants, want 16", len(seen))
	}
}

func TestParseRefuses(t *testing.T) {
	for _, name := range []string{"", "none", "held", "singlecharge", "SingleCharge "} {
		if n, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) = %s, want an error", name, n)
		} else if !strings.Contains(err.Error(), "SingleCharge, TruthfulReply") {
			t.Errorf("Parse(%q): the error does not list the names: %v", name, err)
		}
	}
}

func TestMoney(t *testing.T) {
	for _, test := range []struct {
		minor    int64
		currency string
		want     string
	}{
		{1200, "EUR", "12.00 EUR"}, {5, "USD", "0.05 USD"}, {0, "EUR", "0.00 EUR"}, {-150, "EUR", "-1.50 EUR"}, {-5, "EUR", "-0.05 EUR"},
		{1200, "JPY", "1200 JPY"}, {1200, "KWD", "1.200 KWD"}, {7, "CLF", "0.0007 CLF"}, {1200, "", "12.00"},
		{9223372036854775807, "EUR", "92233720368547758.07 EUR"}, {-9223372036854775808, "EUR", "-92233720368547758.08 EUR"},
	} {
		if got := money(test.minor, test.currency); got != test.want {
			t.Errorf("money(%d, %q) = %q, want %q", test.minor, test.currency, got, test.want)
		}
	}
}
