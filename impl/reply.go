package impl

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// PaidReply is the reply to a charge of the record.
func PaidReply(rec *Record, chargeID string) Reply {
	amount, _ := ParseAmount(rec.Request) // checked before the claim
	b := make([]byte, 0, 96)
	b = append(b, `{"status":"paid","charge":`...)
	b = quoted(b, chargeID)
	b = append(b, `,"amount":`...)
	b = strconv.AppendInt(b, amount.Minor, 10)
	b = append(b, `,"currency":"`...)
	b = append(b, amount.Currency...)
	b = append(b, `"}`...)
	return Reply{Outcome: OutcomePaid, Status: 201, Header: jsonHeader, Body: b, ChargeID: chargeID}
}

// DeclinedReply is the reply when there is no charge and will be none.
func DeclinedReply(code string) Reply {
	b := make([]byte, 0, 64)
	b = append(b, `{"status":"declined","code":`...)
	b = quoted(b, code)
	b = append(b, '}')
	return Reply{Outcome: OutcomeDeclined, Status: 402, Header: jsonHeader, Body: b}
}

var jsonHeader = []HeaderField{{"Content-Type", "application/json"}}

// Equal reports whether two replies are the same to the client, the replay
// marker aside.
func (r *Reply) Equal(o *Reply) bool {
	if r.Outcome != o.Outcome || r.Status != o.Status || r.ChargeID != o.ChargeID || len(r.Header) != len(o.Header) {
		return false
	}
	for i := range r.Header {
		if r.Header[i] != o.Header[i] {
			return false
		}
	}
	return bytes.Equal(r.Body, o.Body)
}

// quoted appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
func quoted(b []byte, s string) []byte {
	if out, err := jsontext.AppendQuote(b, s); err == nil {
		return out
	}
	out, _ := jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD")) // now it cannot fail
	return out
}
