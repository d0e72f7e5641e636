package sim

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/chargeonce/chargeonce/impl"
	"github.com/chargeonce/chargeonce/model/history"
	"github.com/chargeonce/chargeonce/sim/plan"
)

// Sink is told what a judge may see, in order. The event is only valid during
// the call; its strings may be kept.
type Sink interface {
	Event(*history.Event)
}

// Mark is what a line of the trace tells.
type Mark uint8

// The marks. Send to Lost are a message's fate, the others a process's. The
// value of Send, Answer and of what becomes of them is the call's number.
const (
	MarkNone    Mark = iota
	MarkSend         // a message leaves Who for Peer
	MarkAnswer       // an answer leaves Who for Peer
	MarkDeliver      // a request arrives at Who from Peer
	MarkReturn       // an answer arrives at Who from Peer and its call goes on
	MarkStray        // an answer arrives at Who and nobody waits for it any more
	MarkLost         // a message is lost on its way from Who to Peer
	MarkTimeout      // Who waits no longer for an answer of Peer
	MarkChoice       // a choice that is not benign, at Who
	MarkCrash        // Who dies
	MarkRestart      // Who starts again
	MarkPause        // Who stands still
	MarkSettle       // the registry's or the provider's state changes, for Who
	MarkHeal         // the faults are over
	MarkEnd          // nothing more will happen
	MarkHistory      // an event of the history, see Line.Value
	markCount
)

var markNames = [markCount]string{
	"none", "send", "answer", "deliver", "return", "stray", "lost", "timeout", "choice", "crash", "restart", "pause",
	"settle", "heal", "end", "history",
}

// String returns the mark's name.
func (m Mark) String() string { return markNames[m] }

// Line is one line of the trace.
type Line struct {
	At      int64 // virtual nanoseconds
	Mark    Mark
	Who     plan.Process
	Peer    plan.Process
	Step    impl.Step
	Attempt plan.Attempt
	// Value is canonical and depends on the mark: the id of the call, a
	// digest of the payload, the number of the history event.
	Value uint64
}

// hash is the running checksum of the trace.
type hash uint64

func (h *hash) word(v uint64) {
	hi, lo := bits.Mul64(uint64(*h)^v, 0x9e3779b97f4a7c15)
	*h = hash(hi ^ lo ^ v>>7)
}

func (h *hash) words(a, b, c uint64) {
	h.word(a)
	h.word(b)
	h.word(c)
}

func (h *hash) text(s string) {
	h.word(uint64(len(s)))
	for len(s) >= 8 {
		h.word(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56)
		s = s[8:]
	}
	var v uint64
	for i := range len(s) {
		v = v<<8 | uint64(s[i])
	}
	h.word(v)
}

// bytes adds what text adds of the same bytes.
func (h *hash) bytes(b []byte) {
	h.word(uint64(len(b)))
	for len(b) >= 8 {
		h.word(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	h.word(v)
}

// digest is a checksum of bytes, the same on every machine.
func digest(b []byte) uint64 {
	h := hash(1)
	h.bytes(b)
	return uint64(h)
}

// digestRequest is the digest of a provider request.
func (w *World) digestRequest(b []byte) uint64 {
	if w.lastDigest == 0 || !bytes.Equal(b, w.lastRequest) {
		w.lastRequest, w.lastDigest = append(w.lastRequest[:0], b...), digest(b)
	}
	return w.lastDigest
}

// digestReply is a checksum of what a client is told.
func digestReply(r *impl.Reply) uint64 {
	h := hash(2)
	for _, f := range r.Header {
		h.text(f.Name)
		h.text(f.Value)
	}
	h.bytes(r.Body)
	return uint64(h) | 1 // 0 means "no body"
}
