package window

import "fmt"

// Slot is a place for one run at a time: 1, 2.
type Slot uint8

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

// Place is what a run does next.
type Place uint8

// The places.
const (
	AtIdle Place = iota
	AtCharge
	AtSent
	AtLookUp
	AtClock // only where a defect reads the clock late
	AtTakeOver
	AtComplete
	AtSettle
	AtReview
)

// ways are the places to which a look-up may lead.
var ways = []Place{AtComplete, AtTakeOver, AtSettle, AtReview, AtIdle}

var (
	stateNames = []string{"none", "claimed", "succeeded", "declined", "review"}
	placeNames = []string{"idle", "charge", "sent", "look-up", "clock", "take-over", "complete", "settle", "review"}
)

// String returns the state as the specification writes it.
func (s RecordState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// String returns the place as the specification writes it.
func (p Place) String() string {
	if int(p) < len(placeNames) {
		return placeNames[p]
	}
	return fmt.Sprintf("place(%d)", uint8(p))
}

// State is one state of the model. It is plain memory, without padding; two
// states are the same if they are equal. Instants are distances from now, in
// ticks.
type State struct {
	Record  Record
	runs    [maxRuns]Run
	sent    [maxRuns][2]uint8 // by whom and whether it waits: a bit for each life that is left
	Age     int8              // since when the provider knows the key; -1: it does not
	Charges uint8             // how many there are; 2 stands for more
}

// Record is the record in the registry.
type Record struct {
	State RecordState
	From  int8 // the reading at the claim
	Until int8 // the end of the lease
}

// Run is what one run has in memory.
type Run struct {
	At    Place
	Until int8 // the end of its own lease
	Read  int8 // the reading from which it resolves
	Can   bool // by that reading it may send
	Dead  bool // by that reading no send can land any more
	Found bool // the look-up before it has shown a charge
	First bool // it made the claim
	Fresh bool // the record is as it was read
}

// Message is a charge request on its way.
type Message struct {
	By    Slot
	Waits bool // the run that sent it waits for the answer
	Life  int8 // it may still live so long
}

// Initial returns the one state in which a behaviour begins.
func Initial(c *Config) State {
	s := State{Record: Record{From: c.FarFrom(), Until: c.FarUntil()}, Age: -1}
	for h := range c.Runs {
		s.runs[h] = c.idle()
	}
	return s
}

// idle is a run that is over, or has not begun.
func (c *Config) idle() Run { return Run{Until: c.FarUntil(), Read: c.FarRead()} }

// Run returns what runs in the slot.
func (s *State) Run(h Slot) *Run { return &s.runs[h-1] }

// Messages returns the charge requests on their way.
func (s *State) Messages() []Message {
	var all []Message
	for h := range s.sent {
		for waits := range s.sent[h] {
			for life := int8(0); life <= maxLife; life++ {
				if s.sent[h][waits]>>life&1 == 1 {
					all = append(all, Message{Slot(h + 1), waits == 1, life})
				}
			}
		}
	}
	return all
}

// Quiet reports whether nothing is on its way.
func (s *State) Quiet() bool { return s.sent == [maxRuns][2]uint8{} }

// place returns the bits that the message is one of.
func (s *State) place(m Message) *uint8 {
	waits := 0
	if m.Waits {
		waits = 1
	}
	return &s.sent[m.By-1][waits]
}

func (s *State) add(m Message)    { *s.place(m) |= 1 << m.Life }
func (s *State) remove(m Message) { *s.place(m) &^= 1 << m.Life }

// unattended is that nobody waits for the run's messages any more.
func (s *State) unattended(h Slot) {
	sent := &s.sent[h-1]
	sent[0], sent[1] = sent[0]|sent[1], 0
}

// awaited reports whether the run waits for a message that is on its way.
func (s *State) awaited(h Slot) bool { return s.sent[h-1][1] != 0 }
