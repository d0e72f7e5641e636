package explore

import (
	"math/bits"
	"unsafe"
)

const (
	partitionBits  = 8
	partitionCount = 1 << partitionBits
	partitionShift = 64 - partitionBits

	// blockLength is how many states are kept together: a block is freed
	// when all of them are expanded.
	blockLength = 64
)

// candidate is a step on its way to the partition of its state.
type candidate[S comparable] struct {
	fingerprint uint64
	parent      uint64 // a reference; its own fingerprint if there is none
	state       S
}

type (
	block[S comparable] [blockLength]S
	parentBlock         [blockLength]uint64
)

// partition is the part of the set whose fingerprints share their top bits,
// and the log of its states in the order in which they were found. Only one
// goroutine at a time touches it.
//
// A reference names a state that is in the set. With fingerprints it is the
// fingerprint; with exact states, the partition's number and the place in the
// log.
type partition[S comparable] struct {
	exact bool

	// The table. A slot is free if its fingerprint is 0. The first slot of
	// a fingerprint grows with it, so that a bigger table is filled in order.
	fingerprints []uint64
	values       []uint64 // the parent's reference; if exact, the place in the log
	count        int

	// The log. Blocks before first are freed unless exact.
	blocks  []*block[S]
	parents []*parentBlock // if exact
	length  int
	first   int
	free    []*block[S]

	// Places in the log: [from, to) is the level that is being expanded,
	// [judged, length) is what the last commit added.
	from, to, judged int

	finding             // the first in the last commit
	shown   []reference // the first state for each Sometimes
}

func (p *partition[S]) state(place int) *S {
	return &p.blocks[place/blockLength][place%blockLength]
}

func (p *partition[S]) slot(fingerprint uint64) int {
	hi, _ := bits.Mul64(fingerprint<<partitionBits, uint64(len(p.fingerprints)))
	return int(hi)
}

// batchLength is how many candidates are looked up together. Their first slots
// do not depend on one another, so the memory is read for many at once; most
// candidates are repetitions, which end there.
const batchLength = 32

// commit takes in what is not there yet, in order. The table must have room.
func (p *partition[S]) commit(candidates []candidate[S]) {
	if p.exact {
		p.commitExact(candidates)
		return
	}
	fingerprints := p.fingerprints
	var slots [batchLength]int
	for len(candidates) > 0 {
		batch := candidates[:min(batchLength, len(candidates))]
		candidates = candidates[len(batch):]
		known := uint32(0)
		for i := range batch {
			slots[i] = p.slot(batch[i].fingerprint)
			if fingerprints[slots[i]] == batch[i].fingerprint {
				known |= 1 << i
			}
		}
		for i := range batch {
			if known>>i&1 == 0 {
				p.commitFrom(slots[i], &batch[i])
			}
		}
	}
}

// commitFrom takes a candidate in, or finds it, at its first slot or after.
func (p *partition[S]) commitFrom(slot int, c *candidate[S]) {
	fingerprints := p.fingerprints
	for {
		there := fingerprints[slot]
		if there == c.fingerprint {
			return
		}
		if there == 0 {
			fingerprints[slot] = c.fingerprint
			p.values[slot] = c.parent
			p.count++
			p.keep(&c.state)
			return
		}
		if slot++; slot == len(fingerprints) {
			slot = 0
		}
	}
}

func (p *partition[S]) commitExact(candidates []candidate[S]) {
	for i := range candidates {
		c := &candidates[i]
		slot, found := p.find(c.fingerprint, &c.state)
		if found {
			continue
		}
		p.fingerprints[slot] = c.fingerprint
		p.values[slot] = uint64(p.length)
		p.count++
		if p.length%blockLength == 0 {
			p.parents = append(p.parents, new(parentBlock))
		}
		p.parents[p.length/blockLength][p.length%blockLength] = c.parent
		p.keep(&c.state)
	}
}

// find returns the slot of a state, or the free one where it belongs.
func (p *partition[S]) find(fingerprint uint64, s *S) (slot int, found bool) {
	for slot = p.slot(fingerprint); ; {
		there := p.fingerprints[slot]
		if there == 0 {
			return slot, false
		}
		if there == fingerprint && (!p.exact || *p.state(int(p.values[slot])) == *s) {
			return slot, true
		}
		if slot++; slot == len(p.fingerprints) {
			slot = 0
		}
	}
}

func (p *partition[S]) keep(s *S) {
	at := p.length % blockLength
	if at == 0 {
		p.blocks = append(p.blocks, p.newBlock())
	}
	p.blocks[len(p.blocks)-1][at] = *s
	p.length++
}

func (p *partition[S]) newBlock() *block[S] {
	if last := len(p.free) - 1; last >= 0 {
		b := p.free[last]
		p.free = p.free[:last]
		return b
	}
	return new(block[S])
}

// nextLevel makes what was found since the last call the level to expand, and
// returns how much that is.
func (p *partition[S]) nextLevel() int {
	p.from, p.to = p.to, p.length
	if !p.exact {
		for ; p.first < p.from/blockLength; p.first++ {
			p.free = append(p.free, p.blocks[p.first])
			p.blocks[p.first] = nil
		}
	}
	return p.to - p.from
}

const minimalTable = 16

// room returns how long the table must be to take in more candidates.
func (p *partition[S]) room(more int) int {
	length := len(p.fingerprints)
	if need := p.count + more; need > length/4*3 {
		return max(length/2*3, (need+2)/3*4+4, minimalTable)
	}
	return length
}

// grow makes the table length slots long.
func (p *partition[S]) grow(length int) {
	fingerprints, values := p.fingerprints, p.values
	p.fingerprints, p.values = make([]uint64, length), make([]uint64, length)
	for i, fingerprint := range fingerprints {
		if fingerprint == 0 {
			continue
		}
		slot := p.slot(fingerprint)
		for p.fingerprints[slot] != 0 {
			if slot++; slot == length {
				slot = 0
			}
		}
		p.fingerprints[slot] = fingerprint
		p.values[slot] = values[i]
	}
}

const slotBytes = 16

// bytes is what the partition takes with a table of the given length, if up
// to more states are added.
func (p *partition[S]) bytes(length, more int) uint64 {
	var s S
	held := len(p.blocks) - p.first + len(p.free)
	needed := (p.length+more+blockLength-1)/blockLength - p.first
	stateBytes := uint64(max(held, needed)) * blockLength * uint64(unsafe.Sizeof(s))
	if p.exact {
		stateBytes += uint64(needed) * blockLength * 8
	}
	return uint64(length)*slotBytes + uint64(cap(p.blocks)+cap(p.parents)+cap(p.free))*8 + stateBytes
}
