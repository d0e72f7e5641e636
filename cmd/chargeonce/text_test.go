package main

import "testing"

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"":             "''",
		"a-b/c.plan":   "a-b/c.plan",
		"my plan":      "'my plan'",
		"it's":         `'it'\''s'`,
		"$HOME;rm":     "'$HOME;rm'",
		"~/x":          "'~/x'",
		"prüfung.plan": "'prüfung.plan'",
	} {
		if got := quote(word); got != want {
			t.Errorf("quote(%q) = %s, want %s", word, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	long := "0123456789012345678901234567890123456789"
	for text, want := range map[string]string{
		"":                                    "\n",
		"one  two\nthree":                     "  one two three\n",
		long + " " + long + " 0123456789 x":   "  " + long + " " + long + " 0123456789 x\n",
		long + " " + long + " 012345678901 x": "  " + long + " " + long + " 012345678901\n  x\n",
		long + " " + long + " äöüäöüäöüäöüä": "  " + long + " " + long + "\n  äöüäöüäöüäöüä\n",
	} {
		if got := wrap(text, "  "); got != want {
			t.Errorf("wrap(%q) = %q, want %q", text, got, want)
		}
	}
}
