package protocol

import "slices"

// packer puts small numbers into one word, the first into the highest bits.
type packer struct{ word uint32 }

func (p *packer) put(v uint8, bits int) {
	if v >= 1<<bits {
		panic(OutOfRoom{"numbers"})
	}
	p.word = p.word<<bits | uint32(v)
}

func (p *packer) flag(b bool) {
	p.word <<= 1
	if b {
		p.word |= 1
	}
}

// unpacker takes them out again, the last first.
type unpacker struct{ word uint32 }

func (u *unpacker) take(bits int) uint8 {
	v := u.word & (1<<bits - 1)
	u.word >>= bits
	return uint8(v)
}

func (u *unpacker) flag() bool { return u.take(1) == 1 }

func (r Record) pack() uint32 {
	var p packer
	p.put(uint8(r.State), 3)
	p.put(r.Version, 5)
	p.put(uint8(r.Owner), 3)
	p.put(uint8(r.Lease), 2)
	p.put(uint8(r.Window), 2)
	p.put(uint8(r.Parameters), 2)
	p.put(uint8(r.Reply.Says), 3)
	p.put(r.Reply.Charge, 3)
	return p.word
}

func (r Run) pack() uint32 {
	var p packer
	p.put(uint8(r.At), 4)
	p.put(uint8(r.Step), 3)
	p.put(uint8(r.Parameters), 2)
	p.put(r.Version, 5)
	p.put(uint8(r.Answer.Says), 3)
	p.put(r.Answer.Charge, 3)
	p.flag(r.May)
	return p.word
}

// A reply that a write carries is nothing, a decline, or the number of a
// charge and one more.
func (w Write) pack() uint16 {
	var p packer
	p.put(uint8(w.Step), 3)
	p.put(w.Version, 5)
	p.put(uint8(w.Owner), 3)
	p.put(uint8(w.Parameters), 2)
	switch w.Reply.Says {
	case Nothing:
		p.put(0, 3)
	case Declined:
		p.put(1, 3)
	default:
		p.put(w.Reply.Charge+1, 3)
	}
	return uint16(p.word)
}

func unpackWrite(word uint16) Write {
	u := unpacker{uint32(word)}
	var w Write
	switch reply := u.take(3); reply {
	case 0:
	case 1:
		w.Reply = Answer{Says: Declined}
	default:
		w.Reply = Answer{Paid, reply - 1}
	}
	w.Parameters = Parameters(u.take(2))
	w.Owner = Slot(u.take(3))
	w.Version = u.take(5)
	w.Step = Step(u.take(3))
	return w
}

func (m Message) pack() uint16 {
	var p packer
	p.put(uint8(m.By), 3)
	p.put(m.Version, 5)
	p.put(m.Key, 5)
	p.flag(m.Copy)
	p.put(uint8(m.Parameters), 2)
	return uint16(p.word)
}

func unpackMessage(word uint16) Message {
	u := unpacker{uint32(word)}
	var m Message
	m.Parameters = Parameters(u.take(2))
	m.Copy = u.flag()
	m.Key = u.take(5)
	m.Version = u.take(5)
	m.By = Slot(u.take(3))
	return m
}

func (c Charge) pack() uint8 {
	var p packer
	p.put(c.Key, 5)
	p.put(uint8(c.Parameters), 2)
	p.flag(c.Known)
	return uint8(p.word)
}

// filled is the part of a sorted set that is in use.
func filled(set []uint16) []uint16 {
	if end := slices.Index(set, 0); end >= 0 {
		return set[:end]
	}
	return set
}

// addTo puts word into a sorted set.
func addTo(set []uint16, word uint16, what string) {
	for i, w := range set {
		switch {
		case w == word:
			return
		case w < word:
			if set[len(set)-1] != 0 {
				panic(OutOfRoom{what})
			}
			copy(set[i+1:], set[i:])
			set[i] = word
			return
		}
	}
	panic(OutOfRoom{what})
}

// removeFrom takes word out of a sorted set, and reports whether it was there.
func removeFrom(set []uint16, word uint16) bool {
	i := slices.Index(set, word)
	if i < 0 || word == 0 {
		return false
	}
	copy(set[i:], set[i+1:])
	set[len(set)-1] = 0
	return true
}
