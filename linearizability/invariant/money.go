package invariant

import (
	"fmt"
	"strconv"
	"strings"
)

// exponents lists the currencies of ISO 4217 whose minor unit is not a
// hundredth.
var exponents = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
	"RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// money writes an amount of minor units as people do: 1200 EUR is
// "12.00 EUR".
func money(minor int64, currency string) string {
	exponent, ok := exponents[currency]
	if !ok {
		exponent = 2
	}
	sign, digits := "", strconv.FormatInt(minor, 10)
	if minor < 0 {
		sign, digits = "-", digits[1:]
	}
	if missing := exponent + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if exponent > 0 {
		point := len(digits) - exponent
		digits = digits[:point] + "." + digits[point:]
	}
	return strings.TrimSpace(sign + digits + " " + currency)
}

// times says how often: once, twice, 3 times.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	default:
		return fmt.Sprintf("%d times", n)
	}
}

// list joins items as a sentence does: "a", "a and b", "a, b and c".
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// or returns the name, or the word for one that is not there.
func or(name, absent string) string {
	if name == "" {
		return absent
	}
	return name
}
