package sim

import "github.com/chargeonce/chargeonce/sim/plan"

// slab hands out values at addresses that never move, and takes all of them
// back at once.
type slab[T any] struct {
	chunks []*[chunkSize]T
	used   uint32
}

const chunkSize = 64

func (s *slab[T]) reset() { s.used = 0 }

// take returns the next value, as it was left, and its index.
func (s *slab[T]) take() (*T, int32) {
	i := s.used
	s.used++
	if int(i/chunkSize) == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkSize]T))
	}
	return &s.chunks[i/chunkSize][i%chunkSize], int32(i)
}

func (s *slab[T]) at(i int32) *T { return &s.chunks[uint32(i)/chunkSize][uint32(i)%chunkSize] }

// siteCounter counts how often each site was asked: an open-addressing table
// of the last occurrence of each.
type siteCounter struct {
	slots []plan.Site // 0 is free; their number is a power of 2
	free  int         // how many more before it grows
}

func (c *siteCounter) reset() {
	if c.slots == nil {
		c.slots = make([]plan.Site, 512)
	}
	clear(c.slots)
	c.free = len(c.slots) / 2
}

// fresh counts a site that was surely not asked before, as most are, and
// reports whether it is one. The others are for next.
func (c *siteCounter) fresh(site plan.Site) bool {
	s := &c.slots[slotOf(site)&uint64(len(c.slots)-1)]
	if *s != 0 || c.free == 1 {
		return false
	}
	*s = site
	c.free--
	return true
}

// next returns the site with its occurrence.
func (c *siteCounter) next(first plan.Site) plan.Site {
	for i := slotOf(first); ; i++ {
		s := &c.slots[i&uint64(len(c.slots)-1)]
		if *s == 0 {
			*s = first
			if c.free--; c.free == 0 {
				c.grow()
			}
			return first
		}
		if s.Base() == first.Base() {
			*s = s.Nth(s.Occurrence() + 1)
			return *s
		}
	}
}

// slotOf hashes a site. Its upper half must be folded in: no bit of a product
// depends on higher bits of its factors.
func slotOf(s plan.Site) uint64 {
	base := uint64(s.Base())
	return (base ^ base>>32) * 0x9e3779b97f4a7c15 >> 40
}

func (c *siteCounter) grow() {
	old := c.slots
	c.slots = make([]plan.Site, 2*len(old))
	c.free = len(old) / 2
	mask := uint64(len(c.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := slotOf(s)
		for c.slots[i&mask] != 0 {
			i++
		}
		c.slots[i&mask] = s
	}
}
