package designs

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/chargeonce/chargeonce/impl"
)

// floatAmounts is the reference with a comparison of canonical JSON as RFC
// 8785 has it.
func floatAmounts() impl.Design {
	d := decisions{known: sameAsFloats}
	return impl.Design{
		Name:    "float-amounts",
		Summary: "a request is the same if its canonical JSON is, and every number in it is a float64",
		Doc: `It believes that a standard for canonical JSON keeps apart what is not equal. RFC 8785 reads
each number as a float64, which has 53 bits: 9007199254740993 becomes ...992. Two amounts above
that share a form, and the client that asks for the one is told that the other was paid. Sums of
that size are rare in cents and common in the small units of tokens. An integer must keep its
digits, and a number that cannot be compared exactly is to be refused.`,
		Source:    "RFC 8785 section 3.2.2.3; evik42/serde-json-canonicalizer#13",
		Expect:    "FingerprintBound",
		Profiles:  []string{keyed},
		Scenarios: []string{equalAsFloats},

		Client: oneKey, Handler: d.handler, Reconciler: d.reconciler,
	}
}

// sameAsFloats is the defect. A tombstone has no request to compare with.
func sameAsFloats(r *run, rec *impl.Record, fingerprint string) bool {
	if rec.Tombstone {
		return rec.Fingerprint == fingerprint
	}
	return bytes.Equal(inFloats(rec.Request), inFloats(r.body))
}

// inFloats returns the canonical form of a body that was parsed before.
func inFloats(body []byte) []byte {
	form := jsontext.Value(bytes.Clone(body))
	_ = form.Canonicalize()
	return form
}
