package designs

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/chargeonce/chargeonce/impl"
)

// rawByteFingerprint is the reference with a comparison of bytes, and clients
// that render their request anew for each attempt.
func rawByteFingerprint() impl.Design {
	d := decisions{claim: keepBytes, known: sameBytes}
	return impl.Design{
		Name:    "raw-byte-fingerprint",
		Summary: "a request is the same if its bytes are the same",
		Doc: `It believes that a client sends the same bytes again. Many render the object anew for each
attempt, and the order of its members is that of a hash table. The retry of a request whose
answer was lost is told that the key was used with other parameters: the customer has paid,
and the client will never know. The fingerprint must be of what the JSON means.`,
		Source:    "aws-powertools/powertools-lambda-python#638",
		Expect:    "FingerprintBound",
		Profiles:  []string{keyed},
		Scenarios: []string{retryOtherReplica, onePayment},

		Client: rerendering, Handler: d.handler, Reconciler: d.reconciler,
	}
}

func keepBytes(req *impl.Request, fresh *impl.Record) { fresh.Request = bytes.Clone(req.Body) }

// sameBytes is the defect.
func sameBytes(r *run, rec *impl.Record, _ string) bool { return bytes.Equal(rec.Request, r.body) }

// rerendering is the client of most designs on a transport that writes the
// members of every second attempt in the opposite order.
func rerendering(cfg impl.Config, ports impl.ClientPorts) impl.Client {
	ports.Transport = &renderer{Transport: ports.Transport}
	return oneKey(cfg, ports)
}

type renderer struct {
	impl.Transport
	sends int
}

func (t *renderer) Send(ctx context.Context, req impl.Request) (impl.Reply, error) {
	if t.sends++; t.sends%2 == 0 {
		req.Body = reversed(req.Body)
	}
	return t.Transport.Send(ctx, req)
}

// reversed returns a JSON object with its members in the opposite order, and
// what is no object as it is.
func reversed(body []byte) []byte {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	if _, err := dec.ReadToken(); err != nil || dec.StackDepth() != 1 {
		return body
	}
	var out []byte
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return body
		}
		member := append(bytes.Clone(name), ':')
		value, err := dec.ReadValue()
		if err != nil {
			return body
		}
		member = append(member, value...)
		if out != nil {
			member = append(append(member, ','), out...)
		}
		out = member
	}
	return append(append([]byte{'{'}, out...), '}')
}
