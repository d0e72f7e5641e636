package explore

import "testing"

// TestCollision puts two states of one fingerprint into a partition: as
// fingerprints they are one state, as states they are two.
func TestCollision(t *testing.T) {
	candidates := []candidate[uint16]{{99, rootParent, 1}, {99, rootParent, 2}, {99, rootParent, 1}}
	for _, exact := range []bool{false, true} {
		p := partition[uint16]{exact: exact}
		p.grow(p.room(len(candidates)))
		p.commit(candidates)
		want := 1
		if exact {
			want = 2
		}
		if p.count != want || p.length != want {
			t.Errorf("exact %v: %d states, %d in the log; want %d", exact, p.count, p.length, want)
		}
		second := uint16(2)
		if slot, found := p.find(99, &second); found && exact && *p.state(int(p.values[slot])) != 2 {
			t.Errorf("state 2 was found as %d", *p.state(int(p.values[slot])))
		} else if !found {
			t.Errorf("exact %v: state 2 was lost", exact)
		}
	}
}

// TestGrow fills a partition through many sizes, with fingerprints that crowd
// at the top, so that slots run over the end.
func TestGrow(t *testing.T) {
	p := partition[uint64]{}
	const crowd = 2_000
	for i := range uint64(crowd) {
		if length := p.room(1); length != len(p.fingerprints) {
			p.grow(length)
		}
		p.commit([]candidate[uint64]{{^uint64(0)>>partitionBits - i, i, i}})
		if free := len(p.fingerprints) - p.count; free < len(p.fingerprints)/4 {
			t.Fatalf("%d of %d slots are free", free, len(p.fingerprints))
		}
	}
	for i := range uint64(crowd) {
		slot, found := p.find(^uint64(0)>>partitionBits-i, nil)
		if !found || p.values[slot] != i {
			t.Fatalf("fingerprint %d was lost or has another parent", i)
		}
	}
	if p.count != crowd || p.length != crowd || *p.state(crowd - 1) != crowd-1 {
		t.Errorf("%d states, %d in the log", p.count, p.length)
	}
}

// TestFingerprints: each byte of a state matters, whatever its size, and close
// states are spread over partitions and slots.
func TestFingerprints(t *testing.T) {
	each(t, [1]uint8{})
	each(t, [3]uint8{})
	each(t, [7]uint8{})
	each(t, [8]uint8{})
	each(t, [13]uint8{})
	each(t, [16]uint8{})
	each(t, [31]uint8{})
	each(t, [40]uint8{})

	var partitions [partitionCount]int
	for s := range uint64(partitionCount * 100) {
		partitions[fingerprint(&s)>>partitionShift]++
	}
	for i, n := range partitions {
		if n < 50 || n > 150 {
			t.Errorf("%d of every 100 numbers are in partition %d", n, i)
		}
	}
}

// each changes every byte of a state in every way.
func each[S interface {
	[1]uint8 | [3]uint8 | [7]uint8 | [8]uint8 | [13]uint8 | [16]uint8 | [31]uint8 | [40]uint8
}](t *testing.T, s S) {
	seen := map[uint64]bool{fingerprint(&s): true}
	n := 1
	for i := range len(s) {
		for b := range 255 {
			changed := s
			set(&changed, i, uint8(b+1))
			seen[fingerprint(&changed)] = true
			n++
		}
	}
	if len(seen) != n {
		t.Errorf("%d states of %d bytes have %d fingerprints", n, len(s), len(seen))
	}
}

func set[S interface {
	[1]uint8 | [3]uint8 | [7]uint8 | [8]uint8 | [13]uint8 | [16]uint8 | [31]uint8 | [40]uint8
}](s *S, i int, b uint8) {
	(*s)[i] = b
}
