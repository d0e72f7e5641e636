package protocol

import "encoding/binary"

// The bounds of what a state has room for.
const (
	maxSlots   = 6
	maxLate    = 8
	maxMsgs    = 11
	maxCharges = 6
	maxVersion = 31 // of versions and provider keys
	maxCount   = 15 // of attempts
)

// OutOfRoom is what [Next] and [Take] panic with when a step leads to a state
// that there is no room for: more messages on their way, late writes, charges
// or versions than a State can hold. Nothing is said of the step then; whoever
// follows a behaviour that it did not choose recovers and gives up.
type OutOfRoom struct {
	Of string // what there is too much of
}

// Error says what there is too much of.
func (o OutOfRoom) Error() string { return "protocol: a state has no room for more " + o.Of }

// State is one state of the protocol, packed. It is plain memory, without
// padding; two states are the same if they are equal.
type State struct {
	rec     uint32
	runs    [maxSlots]uint32
	refused uint32          // a bit for each provider key
	late    [maxLate]uint16 // sorted, the largest first; 0 is none
	msgs    [maxMsgs]uint16 // sorted, the largest first; 0 is none
	told    uint16          // a bit for each reply and whom it was told
	ledger  [maxCharges]uint8
	tries   uint8
	rest    uint8 // asking and budget
}

// Record is the record of the operation in the registry. Its zero value is
// that there is none.
type Record struct {
	State      RecordState
	Version    uint8 // goes up by one at every write; 0 is no record
	Owner      Slot
	Lease      Lease
	Window     Window
	Parameters Parameters // as claimed
	Reply      Answer     // terminal records
}

// Terminal reports whether the record is finished.
func (r Record) Terminal() bool { return r.State == Succeeded || r.State == DeclinedState }

// Exists reports whether there is a record.
func (r Record) Exists() bool { return r.Version > 0 }

func (r Record) unfinished() bool { return r.Exists() && !r.Terminal() }

// Run is what one run of the handler, or of the reconciler on one record, has
// in memory. Its zero value is that there is none.
type Run struct {
	At         Place
	Step       Step       // AtReadBack: what was written; AtReply: what led to it
	Parameters Parameters // of the attempt, or of the record that is swept
	Version    uint8      // of the record as the run has read it
	Answer     Answer     // to be saved, or to be told
	May        bool       // until no clock permits it any more: the run may still send
}

// Write is a write that was not acknowledged.
type Write struct {
	Step       Step
	Version    uint8 // what it must find; 0 for a claim
	Owner      Slot
	Parameters Parameters // of a claim
	Reply      Answer
}

// Message is a charge request on its way to the provider.
type Message struct {
	By         Slot // the run that sent it and may still wait, or Gone
	Version    uint8
	Key        uint8
	Copy       bool // the network made it
	Parameters Parameters
}

// Charge is a line of the provider's ledger.
type Charge struct {
	Key        uint8
	Parameters Parameters
	Known      bool // the provider still collapses the key with it
}

// Telling is a final reply and the parameters that it was told to.
type Telling struct {
	Parameters Parameters
	Reply      Answer
}

// Record returns the record.
func (s *State) Record() Record {
	u := unpacker{s.rec}
	var r Record
	r.Reply.Charge = u.take(3)
	r.Reply.Says = Said(u.take(3))
	r.Parameters = Parameters(u.take(2))
	r.Window = Window(u.take(2))
	r.Lease = Lease(u.take(2))
	r.Owner = Slot(u.take(3))
	r.Version = u.take(5)
	r.State = RecordState(u.take(3))
	return r
}

func (s *State) setRecord(r Record) { s.rec = r.pack() }

// Run returns what runs in the slot.
func (s *State) Run(h Slot) Run {
	u := unpacker{s.runs[h-1]}
	var r Run
	r.May = u.flag()
	r.Answer.Charge = u.take(3)
	r.Answer.Says = Said(u.take(3))
	r.Version = u.take(5)
	r.Parameters = Parameters(u.take(2))
	r.Step = Step(u.take(3))
	r.At = Place(u.take(4))
	return r
}

func (s *State) idle(h Slot) bool { return s.runs[h-1] == 0 }

func (s *State) setRun(h Slot, r Run) { s.runs[h-1] = r.pack() }

// Late returns the writes that were not acknowledged and may still be applied.
func (s *State) Late() []Write {
	var all []Write
	for _, word := range filled(s.late[:]) {
		all = append(all, unpackWrite(word))
	}
	return all
}

func (s *State) addLate(w Write) { addTo(s.late[:], w.pack(), "late writes") }

// Messages returns the charge requests on their way.
func (s *State) Messages() []Message {
	var all []Message
	for _, word := range filled(s.msgs[:]) {
		all = append(all, unpackMessage(word))
	}
	return all
}

func (s *State) quiet() bool { return s.msgs[0] == 0 }

// awaited reports whether a message of the run in a slot is on its way.
func (s *State) awaited(h Slot) bool {
	for _, word := range filled(s.msgs[:]) {
		if unpackMessage(word).By == h {
			return true
		}
	}
	return false
}

// sentUpTo reports whether a message is on its way that was sent on that
// version of the record or on an earlier one.
func (s *State) sentUpTo(version uint8) bool {
	for _, word := range filled(s.msgs[:]) {
		if unpackMessage(word).Version <= version {
			return true
		}
	}
	return false
}

func (s *State) addMessage(m Message) { addTo(s.msgs[:], m.pack(), "messages") }

// retire takes the owner token of a run that is over out of the state.
func (s *State) retire(h Slot) {
	if r := s.Record(); r.Owner == h {
		r.Owner = Gone
		s.setRecord(r)
	}
	all := s.late
	for _, word := range filled(all[:]) {
		if w := unpackWrite(word); w.Owner == h {
			removeFrom(s.late[:], word)
			w.Owner = Gone
			s.addLate(w)
		}
	}
}

// orphan makes nobody wait any more for what the run in a slot has sent.
func (s *State) orphan(h Slot) {
	all := s.msgs
	for _, word := range filled(all[:]) {
		if m := unpackMessage(word); m.By == h {
			removeFrom(s.msgs[:], word)
			m.By = Gone
			s.addMessage(m)
		}
	}
}

// Charge returns a line of the ledger, counted from 1, and false if there are
// fewer.
func (s *State) Charge(number uint8) (Charge, bool) {
	if number == 0 || number > maxCharges || s.ledger[number-1] == 0 {
		return Charge{}, false
	}
	u := unpacker{uint32(s.ledger[number-1])}
	var c Charge
	c.Known = u.flag()
	c.Parameters = Parameters(u.take(2))
	c.Key = u.take(5)
	return c, true
}

// charges is how many lines the ledger has.
func (s *State) charges() uint8 {
	n := uint8(0)
	for n < maxCharges && s.ledger[n] != 0 {
		n++
	}
	return n
}

// Ledger returns the provider's charges, in the order in which they were made.
func (s *State) Ledger() []Charge {
	var all []Charge
	for number := uint8(1); number <= s.charges(); number++ {
		c, _ := s.Charge(number)
		all = append(all, c)
	}
	return all
}

func (s *State) setCharge(number uint8, c Charge) {
	if number > maxCharges {
		panic(OutOfRoom{"charges"})
	}
	s.ledger[number-1] = c.pack()
}

// Refused returns the keys under which the provider has stored a decline.
func (s *State) Refused() []uint8 {
	var all []uint8
	for key := uint8(0); key <= maxVersion; key++ {
		if s.refuses(key) {
			all = append(all, key)
		}
	}
	return all
}

func (s *State) refuses(key uint8) bool { return s.refused>>key&1 == 1 }

// Told returns the final replies that were told.
func (s *State) Told() []Telling {
	var all []Telling
	for i := range 16 {
		if s.told>>i&1 == 0 {
			continue
		}
		t := Telling{P, Answer{Declined, 0}}
		if i >= 8 {
			t.Parameters = Q
		}
		if charge := uint8(i % 8); charge > 0 {
			t.Reply = Answer{Paid, charge}
		}
		all = append(all, t)
	}
	return all
}

func (s *State) tell(t Telling) {
	i := t.Reply.Charge // 0: declined
	if t.Parameters == Q {
		i += 8
	}
	s.told |= 1 << i
}

func (s *State) toldTo(p Parameters) bool {
	if p == Q {
		return s.told>>8 != 0
	}
	return s.told&0xff != 0
}

// Tries returns how many attempts with the parameters P or Q are left.
func (s *State) Tries(p Parameters) int {
	if p == Q {
		return int(s.tries >> 4)
	}
	return int(s.tries & 15)
}

func (s *State) setTries(p Parameters, n int) {
	if p == Q {
		s.tries = s.tries&15 | uint8(n)<<4
		return
	}
	s.tries = s.tries&^15 | uint8(n)
}

// Asking reports whether the retry horizon is not over.
func (s *State) Asking() bool { return s.rest>>7 == 1 }

// Budget returns how many faults are left.
func (s *State) Budget() int { return int(s.rest & 127) }

func (s *State) setAsking(on bool) {
	s.rest &= 127
	if on {
		s.rest |= 128
	}
}

// Encode appends the canonical encoding of the state, which has the same
// length for all states and is the same on all machines.
func (s *State) Encode(to []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, s.rec)
	for _, w := range s.runs {
		to = binary.BigEndian.AppendUint32(to, w)
	}
	to = binary.BigEndian.AppendUint32(to, s.refused)
	for _, set := range [][]uint16{s.late[:], s.msgs[:], {s.told}} {
		for _, w := range set {
			to = binary.BigEndian.AppendUint16(to, w)
		}
	}
	to = append(to, s.ledger[:]...)
	return append(to, s.tries, s.rest)
}
