package explore

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"
)

// plainMemory says what about S keeps its bytes from being its identity, or "".
// Padding is refused because its bytes are not defined, floats because two
// zeros are equal, blank fields because == passes over them.
func plainMemory[S comparable]() string {
	return problemOf(reflect.TypeFor[S]())
}

func problemOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return ""
	case reflect.Array:
		return problemOf(t.Elem())
	case reflect.Struct:
		var used uintptr
		for f := range t.Fields() {
			if f.Name == "_" {
				return fmt.Sprintf("state type %v has a blank field", t)
			}
			if problem := problemOf(f.Type); problem != "" {
				return problem
			}
			used += f.Type.Size()
		}
		if used != t.Size() {
			return fmt.Sprintf("state type %v has %d bytes of padding; name them as a field that stays zero", t, t.Size()-used)
		}
		return ""
	}
	return fmt.Sprintf("state type has a %v in it, which is not plain memory", t)
}

// Odd constants with about as many ones as zeros, the fractional digits of
// well-known irrational numbers.
const (
	golden  = 0x9e3779b97f4a7c15
	silver  = 0x6a09e667f3bcc909
	circle  = 0x243f6a8885a308d3
	avalanA = 0xff51afd7ed558ccd // Appleby's 64-bit finalizer
	avalanB = 0xc4ceb9fe1a85ec53
)

// fingerprint digests the bytes of s. It is never 0, which marks a free slot.
// Up to 8 bytes it is one-to-one but for that.
func fingerprint[S comparable](s *S) uint64 {
	size := unsafe.Sizeof(*s)
	b := unsafe.Slice((*byte)(unsafe.Pointer(s)), size)
	h := uint64(size) ^ golden
	for ; len(b) >= 16; b = b[16:] {
		h = fold(binary.LittleEndian.Uint64(b)^silver, binary.LittleEndian.Uint64(b[8:])^h)
	}
	if len(b) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(b)) * circle
		h ^= h >> 32
		b = b[8:]
	}
	if len(b) > 0 {
		h = (h ^ remainder(b)) * circle
		h ^= h >> 32
	}
	h ^= h >> 33
	h *= avalanA
	h ^= h >> 33
	h *= avalanB
	h ^= h >> 33
	if h == 0 {
		return golden
	}
	return h
}

// remainder is the last 1 to 7 bytes as a number.
func remainder(b []byte) uint64 {
	var w uint64
	if len(b) >= 4 {
		w = uint64(binary.LittleEndian.Uint32(b))
		b = b[4:]
	}
	if len(b) >= 2 {
		w = w<<16 | uint64(binary.LittleEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) >= 1 {
		w = w<<8 | uint64(b[0])
	}
	return w
}

// fold is the high half of the product mixed into the low half: each bit of
// the result depends on all bits of both.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
