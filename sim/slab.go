package sim

import "github.com/chargeonce/chargeonce/sim/plan"

// slab hands out values at addresses that never move, and takes all of them
// back at once.
type slab[T any] struct {
	chunks [][]T
	used   int
}

const chunkSize = 64

func (s *slab[T]) reset() { s.used = 0 }

// take returns the next value, as it was left, and its index.
func (s *slab[T]) take() (*T, int32) {
	i := s.used
	s.used++
	if i/chunkSize == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, chunkSize))
	}
	return &s.chunks[i/chunkSize][i%chunkSize], int32(i)
}

func (s *slab[T]) at(i int) *T { return &s.chunks[i/chunkSize][i%chunkSize] }

// siteCounter counts how often each site was asked: an open-addressing table
// that is emptied by raising its generation.
type siteCounter struct {
	slots      []siteSlot
	used       int
	generation uint32
}

type siteSlot struct {
	base       plan.Site
	count      uint32
	generation uint32
}

func (c *siteCounter) reset() {
	c.used = 0
	c.generation++
	if c.slots == nil {
		c.slots = make([]siteSlot, 512)
	}
}

// next returns the site with its occurrence.
func (c *siteCounter) next(site plan.Site) plan.Site {
	base := site.Base()
	mask := uint64(len(c.slots) - 1)
	for i := (uint64(base) * 0x9e3779b97f4a7c15) >> 32 & mask; ; i = (i + 1) & mask {
		s := &c.slots[i]
		if s.generation != c.generation {
			s.base, s.count, s.generation = base, 1, c.generation
			if c.used++; c.used > len(c.slots)/2 {
				c.grow()
			}
			return base.Nth(1)
		}
		if s.base == base {
			s.count++
			return base.Nth(int(s.count))
		}
	}
}

func (c *siteCounter) grow() {
	old := c.slots
	c.slots = make([]siteSlot, 2*len(old))
	mask := uint64(len(c.slots) - 1)
	for _, s := range old {
		if s.generation != c.generation {
			continue
		}
		i := (uint64(s.base) * 0x9e3779b97f4a7c15) >> 32 & mask
		for c.slots[i].generation == c.generation {
			i = (i + 1) & mask
		}
		c.slots[i] = s
	}
}
