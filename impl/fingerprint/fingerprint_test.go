package fingerprint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/chargeonce/chargeonce/impl/fingerprint"
	"pgregory.net/rapid"
)

const endpoint = "POST /payments"

func mustOf(t interface{ Fatalf(string, ...any) }, endpoint, body string) fingerprint.Print {
	p, err := fingerprint.Of(endpoint, []byte(body))
	if err != nil {
		t.Fatalf("Of(%q, %q): %v", endpoint, body, err)
	}
	return p
}

// The digest is stored for as long as a record lives: it must not change
// under anybody's hands.
func TestDigestIsStable(t *testing.T) {
	p := mustOf(t, endpoint, `{"currency":"EUR", "amount":1250}`)
	if want := `{"amount":1250,"currency":"EUR"}`; string(p.Canonical) != want {
		t.Errorf("canonical body is %s, want %s", p.Canonical, want)
	}
	// printf '\0\0\0\0\0\0\0\016POST /payments\0\0\0\0\0\0\0\040{"amount":1250,"currency":"EUR"}' |
	//   openssl dgst -sha256 -binary | basenc --base64url
	if want := "v1.c1bgbV0DvqXHQji2WCOjEsDscmMn8vRvikgX7DNrqdY"; p.Digest != want {
		t.Errorf("digest is %s, want %s", p.Digest, want)
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"members are sorted, at every depth", `{"b":{"z":1,"y":2},"a":[{"d":1,"c":2}]}`, `{"a":[{"c":2,"d":1}],"b":{"y":2,"z":1}}`},
		{"members are sorted by UTF-16 code units", `{"\uff61":1,"\ud83d\ude00":2}`, `{"😀":2,"｡":1}`},
		{"elements keep their order", `[3,1,2]`, `[3,1,2]`},
		{"white space goes", " { \"a\" :\t[ 1 ,\r\n2 ] } ", `{"a":[1,2]}`},
		{"escapes are the shortest", `"\u0041\u000a\/\u001f\u00e9\u003c"`, `"A\n/\u001fé<"`},
		{"a large integer keeps its digits", `9007199254740993`, `9007199254740993`},
		{"a very large integer keeps its digits", `10000000000000000000000`, `10000000000000000000000`},
		{"minus zero is zero", `-0`, `0`},
		{"minus zero is zero, as a fraction", `-0.0`, `0`},
		{"a whole fraction is an integer", `1.0`, `1`},
		{"an exponent is written out", `1e2`, `100`},
		{"an exponent is written out, capital", `1E+2`, `100`},
		{"trailing zeros go", `12.50`, `12.5`},
		{"a decimal fraction is what it says", `0.1`, `0.1`},
		{"the smallest float", `5e-324`, `5e-324`},
		{"the largest float", `1.7976931348623157e308`, `1.7976931348623157e+308`},
		{"an exact float beyond 2^53", `9007199254740994.0`, `9007199254740994`},
		{"zero with any exponent", `0e99999999999`, `0`},
		{"a small mantissa and a large exponent", `0.` + strings.Repeat("0", 400) + `1e401`, `1`},
		{"a large mantissa and a small exponent", `1` + strings.Repeat("0", 400) + `e-400`, `1`},
		{"scalars are values", `null`, `null`},
		{"digits in strings are no numbers", `["9007199254740993.0","\"1e400",1]`, `["9007199254740993.0","\"1e400",1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p := mustOf(t, endpoint, c.body); string(p.Canonical) != c.want {
				t.Errorf("canonical form of %s is %s, want %s", c.body, p.Canonical, c.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       error
	}{
		{"no body", "", fingerprint.ErrEmpty},
		{"white space only", " \n", fingerprint.ErrSyntax},
		{"malformed", `{"a":1,}`, fingerprint.ErrSyntax},
		{"two values", `1 2`, fingerprint.ErrSyntax},
		{"cut off", `{"a":[1,2`, fingerprint.ErrSyntax},
		{"byte order mark", "\ufeff{}", fingerprint.ErrSyntax},
		{"member twice", `{"a":1,"b":2,"a":1}`, fingerprint.ErrSyntax},
		{"member twice, escaped", `{"a":1,"\u0061":1}`, fingerprint.ErrSyntax},
		{"member twice, deep", `[{"x":{"a":1,"a":1}}]`, fingerprint.ErrSyntax},
		{"not UTF-8", "\"\xff\"", fingerprint.ErrSyntax},
		{"name is not UTF-8", "{\"\xc3\":1}", fingerprint.ErrSyntax},
		{"unpaired surrogate", `"\ud800"`, fingerprint.ErrSyntax},
		{"leading zero", `01`, fingerprint.ErrSyntax},
		{"not a number", `NaN`, fingerprint.ErrSyntax},
		{"too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), fingerprint.ErrSyntax},
		{"fraction between two floats", `9007199254740993.0`, fingerprint.ErrNumber},
		{"exponent between two floats", `9007199254740993e0`, fingerprint.ErrNumber},
		{"beyond the largest float", `1e400`, fingerprint.ErrNumber},
		{"beyond the smallest float", `-1e400`, fingerprint.ErrNumber},
		{"too near to zero", `1e-400`, fingerprint.ErrNumber},
		{"too many digits", `0.1000000000000000000001`, fingerprint.ErrNumber},
		{"absurd exponent", `1e99999999999999999999`, fingerprint.ErrNumber},
		{"absurd negative exponent", `1e-99999999999999999999`, fingerprint.ErrNumber},
		{"in an object", `{"amount":9007199254740993.0}`, fingerprint.ErrNumber},
		{"in an array, after an escaped quote", `["\"",1.0,1e400]`, fingerprint.ErrNumber},
		{"too long", `"` + strings.Repeat("a", fingerprint.MaxBody-1) + `"`, fingerprint.ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := fingerprint.Of(endpoint, []byte(c.body))
			if !errors.Is(err, c.want) {
				t.Errorf("Of(%.60q) returned %+v, %v, want %v", c.body, p, err, c.want)
			}
		})
	}
}

func TestLongestBody(t *testing.T) {
	mustOf(t, endpoint, `"`+strings.Repeat("a", fingerprint.MaxBody-2)+`"`)
}

func TestNumberErrorNamesTheLiteral(t *testing.T) {
	_, err := fingerprint.Of(endpoint, []byte(`{"amount":1.0,"fee":1e400}`))
	var number *fingerprint.NumberError
	if !errors.As(err, &number) || number.Literal != "1e400" || number.Offset != 20 {
		t.Errorf("got %v, want the literal 1e400 at offset 20", err)
	}
}

func TestNeighboursDiffer(t *testing.T) {
	for _, pair := range [][2]string{
		{`9007199254740993`, `9007199254740992`},
		{`10000000000000000000000`, `10000000000000000000001`},
		{`1`, `"1"`},
		{`[]`, `{}`},
		{`null`, `"null"`},
		{`{"a":null}`, `{}`},
		{`[1,2]`, `[2,1]`},
		{`[[1],2]`, `[1,[2]]`},
		{`"\u00e9"`, `"e\u0301"`}, // no Unicode normalization: the provider would not do it either
		{`1`, `-1`},
		{`0.1`, `0.10000000000000002`},
	} {
		if mustOf(t, endpoint, pair[0]).Digest == mustOf(t, endpoint, pair[1]).Digest {
			t.Errorf("%s and %s share a digest", pair[0], pair[1])
		}
	}
}

// A body may be written over once its fingerprint is taken.
func TestCanonicalSharesNoMemory(t *testing.T) {
	body := []byte(` { "a" : 1 } `)
	p, err := fingerprint.Of(endpoint, body)
	if err != nil {
		t.Fatal(err)
	}
	clear(body)
	if string(p.Canonical) != `{"a":1}` {
		t.Errorf("canonical body is now %q", p.Canonical)
	}
	if cap(p.Canonical) != len(p.Canonical) {
		t.Error("an append to the canonical body would write into a buffer that others may hold")
	}
}

func TestEndpointAndBodyDoNotRunTogether(t *testing.T) {
	if mustOf(t, "POST /a1", `1`).Digest == mustOf(t, "POST /a", `11`).Digest {
		t.Error("endpoint and body run together")
	}
}

// value is a JSON value that can be written in many ways.
type value struct {
	scalar  string   // a number or literal, already JSON
	text    *string  // or a string
	names   []string // or an object, with elems
	elems   []*value // or an array, if names is nil
	isArray bool
}

var names = rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\/\n\x00é😀｡")), 0, 3, -1)

func genValue(depth int) *rapid.Generator[*value] {
	return rapid.Custom(func(t *rapid.T) *value {
		kinds := []string{"integer", "float", "string", "literal"}
		if depth > 0 {
			kinds = append(kinds, "object", "array")
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "integer":
			return &value{scalar: rapid.StringMatching(`(0|-?[1-9][0-9]{0,25})`).Draw(t, "integer")}
		case "float":
			f := rapid.Float64().Draw(t, "float")
			return &value{scalar: strconv.FormatFloat(f, 'e', -1, 64)}
		case "string":
			s := rapid.OneOf(names, rapid.String()).Draw(t, "string")
			return &value{text: &s}
		case "object":
			v := &value{names: rapid.SliceOfNDistinct(names, 0, 4, rapid.ID[string]).Draw(t, "names")}
			for range v.names {
				v.elems = append(v.elems, genValue(depth-1).Draw(t, "member"))
			}
			return v
		case "array":
			return &value{isArray: true, elems: rapid.SliceOfN(genValue(depth-1), 0, 3).Draw(t, "elements")}
		default:
			return &value{scalar: rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")}
		}
	})
}

// write renders a value, drawing what must not matter: order of members,
// white space, escapes.
func (v *value) write(t *rapid.T, b *strings.Builder) {
	space := func() { b.WriteString(rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space")) }
	space()
	defer space()
	switch {
	case v.text != nil:
		writeString(t, b, *v.text)
	case v.isArray:
		b.WriteByte('[')
		space()
		for i, e := range v.elems {
			if i > 0 {
				b.WriteByte(',')
			}
			e.write(t, b)
		}
		b.WriteByte(']')
	case v.scalar == "":
		b.WriteByte('{')
		space()
		order := make([]int, len(v.names))
		for i := range order {
			order[i] = i
		}
		for i, member := range rapid.Permutation(order).Draw(t, "order") {
			if i > 0 {
				b.WriteByte(',')
				space()
			}
			writeString(t, b, v.names[member])
			space()
			b.WriteByte(':')
			v.elems[member].write(t, b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.scalar)
	}
}

func writeString(t *rapid.T, b *strings.Builder, s string) {
	escapeAll := rapid.Bool().Draw(t, "escape")
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case escapeAll || r < ' ' || r == '"' || r == '\\':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "case"), unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

func (v *value) render(t *rapid.T) string {
	var b strings.Builder
	v.write(t, &b)
	return b.String()
}

// leaves lists the values that have no parts.
func (v *value) leaves() []*value {
	if len(v.elems) == 0 {
		return []*value{v}
	}
	var all []*value
	for _, e := range v.elems {
		all = append(all, e.leaves()...)
	}
	return all
}

func TestSpellingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		a, b := v.render(t), v.render(t)
		p, q := mustOf(t, endpoint, a), mustOf(t, endpoint, b)
		if p.Digest != q.Digest || !bytes.Equal(p.Canonical, q.Canonical) {
			t.Fatalf("one value, two fingerprints: %s from %s, %s from %s", p.Canonical, a, q.Canonical, b)
		}
	})
}

func TestEveryLeafMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(3).Draw(t, "value")
		before := v.render(t)
		leaf := rapid.SampledFrom(v.leaves()).Draw(t, "leaf")
		old := *leaf
		// A change of type is always a change of meaning; so is one more.
		n, isInteger := new(big.Int).SetString(leaf.scalar, 10)
		switch {
		case isInteger:
			*leaf = value{scalar: n.Add(n, big.NewInt(1)).String()}
		case leaf.text != nil:
			s := *leaf.text + "x"
			*leaf = value{text: &s}
		default:
			s := leaf.scalar
			*leaf = value{text: &s}
		}
		after := v.render(t)
		if mustOf(t, endpoint, before).Digest == mustOf(t, endpoint, after).Digest {
			t.Fatalf("two values, one fingerprint (leaf was %+v): %s and %s", old, before, after)
		}
	})
}

func TestEveryAmountMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(-1<<62, 1<<62).Draw(t, "amount")
		one := mustOf(t, endpoint, fmt.Sprintf(`{"amount":%d,"currency":"EUR"}`, amount))
		next := mustOf(t, endpoint, fmt.Sprintf(`{"amount":%d,"currency":"EUR"}`, amount+1))
		if one.Digest == next.Digest {
			t.Fatalf("%d and the next amount share a digest", amount)
		}
	})
}

func TestEndpointMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := genValue(1).Draw(t, "value").render(t)
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if same := mustOf(t, a, body).Digest == mustOf(t, b, body).Digest; same != (a == b) {
			t.Fatalf("endpoints %q and %q: one digest is %v", a, b, same)
		}
	})
}

// Decimal fractions: two that differ have two digests or one is refused, and
// two spellings of one have one.
func TestFractionsNeverMeet(t *testing.T) {
	literal := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"900719925474099", "0", "1", "99999999999999"}).Draw(t, "head") +
			rapid.StringMatching(`[0-9]`).Draw(t, "digit") +
			rapid.StringMatching(`(\.[0-9]{1,3})?(e[+-]?[0-9]{1,2})?`).Draw(t, "tail")
	})
	rapid.Check(t, func(t *rapid.T) {
		a := strings.TrimPrefix(literal.Draw(t, "a"), "0")
		b := strings.TrimPrefix(literal.Draw(t, "b"), "0")
		p, errA := fingerprint.Of(endpoint, []byte(a))
		q, errB := fingerprint.Of(endpoint, []byte(b))
		if errA != nil || errB != nil {
			return
		}
		if p.Digest == q.Digest && rational(a).Cmp(rational(b)) != 0 {
			t.Fatalf("%s and %s share a digest", a, b)
		}
		if rational(a).Cmp(rational(string(p.Canonical))) != 0 {
			t.Fatalf("%s has the canonical form %s", a, p.Canonical)
		}
	})
}

func rational(literal string) *big.Rat {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		panic("fingerprint test: no number: " + literal)
	}
	return r
}

// FuzzOf holds the canonical form against another decoder: it means what the
// body meant, and is its own canonical form.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{
		`{"amount":1250,"currency":"EUR","order":"order-7"}`,
		`{"b":[1.0,-0,1e2,0.1],"a":{"\u0061":null,"b":"\ud83d\ude00"}}`,
		`9007199254740993`, `9007199254740993.0`, `1e400`, `5e-324`, `0.10e-3`, `{"a":1,"a":2}`, "\"\xff\"", ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		p, err := fingerprint.Of(endpoint, []byte(body))
		if err != nil {
			if p.Digest != "" || p.Canonical != nil {
				t.Fatalf("an error and a fingerprint for %q", body)
			}
			return
		}
		again := mustOf(t, endpoint, string(p.Canonical))
		if again.Digest != p.Digest {
			t.Fatalf("%q has the canonical form %q, which has another fingerprint", body, p.Canonical)
		}
		if want, got := decode(t, body), decode(t, string(p.Canonical)); !reflect.DeepEqual(want, got) {
			t.Fatalf("%q has the canonical form %q, which means something else", body, p.Canonical)
		}
	})
}

// decode reads a body with the standard library and every number as an exact
// fraction in lowest terms.
func decode(t *testing.T, body string) any {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("accepted %q, which the standard library refuses: %v", body, err)
	}
	return exactNumbers(v)
}

func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		// An exponent that is too large for a fraction can only belong to a
		// zero, since everything else was refused.
		if mantissa, _, _ := strings.Cut(strings.ToLower(v.String()), "e"); strings.Trim(mantissa, "-0.") == "" {
			return "0"
		}
		return rational(v.String()).String()
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exactNumbers(v[name])
		}
	}
	return v
}

func BenchmarkOf(b *testing.B) {
	body := []byte(`{"currency":"EUR","amount":1250,"order":"order-7","note":"two seats"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fingerprint.Of(endpoint, body); err != nil {
			b.Fatal(err)
		}
	}
}
