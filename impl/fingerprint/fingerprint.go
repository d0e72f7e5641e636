// Package fingerprint digests the significant parameters of a request.
package fingerprint

// Print is what a request is known by.
type Print struct {
	Digest    string // hex or base64 of a SHA-256
	Canonical []byte // the body as canonical JSON
}

// Of returns the fingerprint of a request to an endpoint.
func Of(endpoint string, body []byte) (Print, error) { return Print{string(body), body}, nil }
