package retention

import "fmt"

// Sender is who sends an attempt.
type Sender uint8

// The senders: the client within its horizon and after it, somebody with other
// parameters within it and after it, and another operation under the key.
const (
	P Sender = iota
	LateP
	Q
	LateQ
	Again
	senders // how many there are
)

// RecordState is how far the record has come.
type RecordState uint8

// The states of a record.
const (
	NoRecord RecordState = iota
	Claimed
	Succeeded
	Declined
	InReview
)

// Said is what a final answer says.
type Said uint8

// The answers. InProgress is not final and not kept.
const (
	InProgress Said = iota
	SaidPaid
	SaidDeclined
	SaidMismatch
	SaidGone
	SaidGoneTooSoon // it was told within the horizon
	saidCount
)

var (
	senderNames = []string{"p", "lateP", "q", "lateQ", "again"}
	stateNames  = []string{"none", "claimed", "succeeded", "declined", "review"}
	saidNames   = []string{"in progress", "paid", "declined", "mismatch", "gone", "gone too soon"}
)

func nameOf[T ~uint8](v T, kind string, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

// String returns the sender as the specification writes it.
func (w Sender) String() string { return nameOf(w, "sender", senderNames) }

// String returns the state as the specification writes it.
func (s RecordState) String() string { return nameOf(s, "state", stateNames) }

// String returns the answer as the specification writes it.
func (s Said) String() string { return nameOf(s, "answer", saidNames) }

// Who is whose attempt it is, late or not: P, Q or Again.
func (w Sender) Who() Sender {
	switch w {
	case LateP:
		return P
	case LateQ:
		return Q
	default:
		return w
	}
}

// Parameters are those of the attempt: P or Q.
func (w Sender) Parameters() Sender {
	if w.Who() == Q {
		return Q
	}
	return P
}

// Operation is what the attempt is for: 0 is the first operation under the
// key, 1 the second.
func (w Sender) Operation() int {
	if w == Again {
		return 1
	}
	return 0
}

// State is one state of the model. It is plain memory, without padding; two
// states are the same if they are equal. Instants are distances from now, in
// ticks.
type State struct {
	Record   Record
	Until    int8          // the end of the horizon, by the client's clock
	Requests [senders]int8 // by sender, how long its requests may still live; Over: none does
	Inserts  [senders]int8 // the same of inserts
	Key      Key
	Charges  [2]uint8 // how many there are, by operation; 2 stands for more
	told     [(tellings + 7) / 8]uint8
	Forgot   uint8 // how many records were forgotten; 2 stands for more
	Stale    bool  // somebody may still hold a write on a record that was forgotten
}

// Record is the record in the registry.
type Record struct {
	State   RecordState
	By      Sender // whose it is: P, Q or Again; P if there is none
	Landed  bool   // the charge has landed
	Tomb    bool   // the body was dropped
	Print   bool   // the fingerprint is kept
	Expires int8   // the instant of expiry
}

// Exists reports whether there is a record.
func (r Record) Exists() bool { return r.State != NoRecord }

// Terminal reports whether the record is finished.
func (r Record) Terminal() bool { return r.State == Succeeded || r.State == Declined }

var noRecord = Record{Expires: Over}

// Key is what the provider knows of the key.
type Key struct {
	Age int8   // since when; -1: it does not know it
	Of  Sender // for which parameters, P or Q; P if it does not know it
}

// Telling is a final answer: to whom (P, Q, Again), what, and of whose record.
type Telling struct {
	To   Sender
	Says Said
	Of   Sender
}

// tellings is how many there may be.
const tellings = int(senders) * int(saidCount) * int(senders)

func (t Telling) bit() int {
	return (int(t.To)*int(saidCount)+int(t.Says))*int(senders) + int(t.Of)
}

func (s *State) tell(t Telling) { s.told[t.bit()/8] |= 1 << (t.bit() % 8) }

// Told returns the final answers that were told.
func (s *State) Told() []Telling {
	var all []Telling
	for bit := range tellings {
		if s.told[bit/8]>>(bit%8)&1 == 1 {
			both := bit / int(senders)
			all = append(all, Telling{Sender(both / int(saidCount)), Said(both % int(saidCount)), Sender(bit % int(senders))})
		}
	}
	return all
}

// Initial returns the states in which a behaviour begins: the first attempt is
// on its way.
func Initial(c *Config) []State {
	var all []State
	for e := range c.clientReadings() {
		s := State{Record: noRecord, Until: e + int8(c.Horizon), Key: Key{Age: -1}}
		for w := range senders {
			s.Requests[w], s.Inserts[w] = Over, Over
		}
		s.Requests[P] = int8(c.Life)
		all = append(all, s)
	}
	return all
}
