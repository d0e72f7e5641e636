package idemkey_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/chargeonce/chargeonce/impl/idemkey"
	"pgregory.net/rapid"
)

func TestParseAccepts(t *testing.T) {
	for _, key := range []string{
		"a",
		"8e03978e-40d5-43e8-bc93-6894a57f9324",
		"order 7, second try",
		`quotes " and back\slashes`,
		"!~",
		strings.Repeat("k", idemkey.MaxLength),
	} {
		if got, err := idemkey.Parse(key); got != key || err != nil {
			t.Errorf("Parse(%q) returned %q, %v, want the key unchanged", key, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name, key string
		want      error
	}{
		{"nothing", "", idemkey.ErrEmpty},
		{"too long", strings.Repeat("k", idemkey.MaxLength+1), idemkey.ErrTooLong},
		{"a space", " ", idemkey.ErrCharacter},
		{"leading space", " a", idemkey.ErrCharacter},
		{"trailing space", "a ", idemkey.ErrCharacter},
		{"tab", "a\tb", idemkey.ErrCharacter},
		{"line break", "a\nb", idemkey.ErrCharacter},
		{"null byte", "a\x00b", idemkey.ErrCharacter},
		{"escape", "a\x1fb", idemkey.ErrCharacter},
		{"delete", "a\x7fb", idemkey.ErrCharacter},
		{"not ASCII", "clé", idemkey.ErrCharacter},
		{"not UTF-8", "a\xffb", idemkey.ErrCharacter},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := idemkey.Parse(c.key); got != "" || !errors.Is(err, c.want) {
				t.Errorf("Parse(%q) returned %q, %v, want %v", c.key, got, err, c.want)
			}
		})
	}
}

func TestCharacterErrorNamesThePlace(t *testing.T) {
	_, err := idemkey.Parse("ab\x00")
	var character *idemkey.CharacterError
	if !errors.As(err, &character) || *character != (idemkey.CharacterError{Offset: 2, Byte: 0}) {
		t.Errorf("got %v, want byte 0 at offset 2", err)
	}
}

// Whatever is accepted is what was sent, and is what an HTTP field can carry.
func TestParseChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(' ', '~'), rapid.Byte()), 0, 300).Draw(t, "key"))
		got, err := idemkey.Parse(s)
		wellFormed := len(s) >= 1 && len(s) <= 255 && regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`).MatchString(s) && !strings.HasSuffix(s, "\n")
		if (err == nil) != wellFormed {
			t.Fatalf("Parse(%q) returned the error %v", s, err)
		}
		if err == nil && got != s {
			t.Fatalf("Parse(%q) returned %q", s, got)
		}
	})
}

// A provider key that changes under an operation is a second charge, so a
// change of the derivation has to change this test too.
func TestDeriveIsStable(t *testing.T) {
	for _, c := range []struct {
		scope, key, verb string
		sequence         int
		want             string
	}{
		{"4:acme POST /payments", "order-7", "charge", 1, "v1-RMXW4EemBvi5Ct18AvSZoXKqpTTelSYMT_OgZkVoIJQ"},
		{"4:acme POST /payments", "order-7", "refund", 2, "v1-1elrD2IM_SfYGRxtjUWfmuGsiDrLV_JnjekyfZeon3k"},
		{"", "", "", 0, "v1-Zmh6rfhivXdsj8GLjp-OIAiXFIVu4jOzkCpZHQ1fKSU"},
	} {
		if got := idemkey.Derive(c.scope, c.key, c.verb, c.sequence); got != c.want {
			t.Errorf("Derive(%q, %q, %q, %d) is %s, want %s", c.scope, c.key, c.verb, c.sequence, got, c.want)
		}
	}
}

func TestDeriveIsInjective(t *testing.T) {
	type operation struct {
		scope, key, verb string
		sequence         int
	}
	for _, pair := range [][2]operation{
		{{"a", "bc", "charge", 1}, {"ab", "c", "charge", 1}},
		{{"a", "b", "charge", 1}, {"b", "a", "charge", 1}},
		{{"a", "bcharge", "", 1}, {"a", "b", "charge", 1}},
		{{"a", "b", "charge", 1}, {"a", "b", "charge", 11}},
		{{"a", "b", "charge", 1}, {"a", "b", "charge", -1}},
		{{"a", "b", "charge", 1}, {"a", "b", "charge", 257}},
		{{"a", "b", "charge", 1}, {"a", "b", "charge", 65537}},
		{{"a", "b", "charge", 1}, {"a", "b", "refund", 1}},
		{{"a", "b1", "charge", 1}, {"a", "b", "charge", 11}},
		{{"a", "", "charge", 1}, {"", "a", "charge", 1}},
		{{"a\x00", "b", "charge", 1}, {"a", "\x00b", "charge", 1}},
		{{strings.Repeat("a", 600), "b", "charge", 1}, {strings.Repeat("a", 601), "b", "charge", 1}},
	} {
		a, b := pair[0], pair[1]
		if idemkey.Derive(a.scope, a.key, a.verb, a.sequence) == idemkey.Derive(b.scope, b.key, b.verb, b.sequence) {
			t.Errorf("%+v and %+v share a provider key", a, b)
		}
	}

	// The pieces are drawn from a few letters and the length prefix's own
	// bytes, so that pairs which only their split tells apart are common.
	piece := rapid.StringOfN(rapid.RuneFrom([]rune("ab\x00\x01")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		all := piece.Draw(t, "all")
		split := func(label string) operation {
			i := rapid.IntRange(0, len(all)).Draw(t, label+" scope ends")
			j := rapid.IntRange(i, len(all)).Draw(t, label+" key ends")
			return operation{all[:i], all[i:j], all[j:], rapid.IntRange(0, 2).Draw(t, label+" sequence")}
		}
		a, b := split("a"), split("b")
		x := idemkey.Derive(a.scope, a.key, a.verb, a.sequence)
		y := idemkey.Derive(b.scope, b.key, b.verb, b.sequence)
		if (x == y) != (a == b) {
			t.Fatalf("%+v and %+v: one provider key is %v", a, b, x == y)
		}
	})
}

func TestDeriveFitsProviders(t *testing.T) {
	form := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		key := idemkey.Derive(rapid.String().Draw(t, "scope"), rapid.String().Draw(t, "key"), rapid.String().Draw(t, "verb"), rapid.Int().Draw(t, "sequence"))
		if !form.MatchString(key) {
			t.Fatalf("%q is no key that every provider takes", key)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := idemkey.Parse("8e03978e-40d5-43e8-bc93-6894a57f9324"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDerive(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		idemkey.Derive("4:acme POST /payments", "8e03978e-40d5-43e8-bc93-6894a57f9324", "charge", 1)
	}
}
