package impl

import (
	"errors"

	"github.com/go-json-experiment/json"
)

// Amount is what a payment moves.
type Amount struct {
	Minor    int64  `json:"amount"`   // minor units (cents), at least 1
	Currency string `json:"currency"` // three capital letters, ISO 4217
}

// ParseAmount reads the members "amount" and "currency" of a JSON object;
// names are case-sensitive and other members are passed over. It returns an
// error when one is missing or is not a positive integer or three capital
// letters.
func ParseAmount(body []byte) (Amount, error) {
	var a Amount
	if err := json.Unmarshal(body, &a); err != nil {
		// The library words its errors differently from build to build.
		return Amount{}, errors.New("want a JSON object with an integer amount and a currency")
	}
	if a.Minor <= 0 {
		return Amount{}, errors.New(`member "amount": want a positive integer of minor units`)
	}
	if len(a.Currency) != 3 || !isCapital(a.Currency[0]) || !isCapital(a.Currency[1]) || !isCapital(a.Currency[2]) {
		return Amount{}, errors.New(`member "currency": want three capital letters`)
	}
	return a, nil
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }
