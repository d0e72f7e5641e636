package invariant

// none is the number of what is not there.
const none = -1

// scanned is up to how many names a table looks at one by one. A simulated
// run has fewer, and comparing them costs less than hashing one.
const scanned = 8

// table numbers names in the order of their first appearance and keeps one
// value for each. After reset the storage of old values is used again, so
// whoever adds a name must clear its value.
type table[K comparable, V any] struct {
	names  []K
	values []V
	last   int       // the number found last: the next question is often the same
	byName map[K]int // only beyond scanned names
}

// at returns the value; the pointer is good until the next name is added.
func (t *table[K, V]) at(i int) *V { return &t.values[i] }

// find returns the number of a name, or none.
func (t *table[K, V]) find(name K) int {
	if t.last < len(t.names) && t.names[t.last] == name {
		return t.last
	}
	return t.search(name)
}

func (t *table[K, V]) search(name K) int {
	if len(t.names) > scanned {
		if i, ok := t.byName[name]; ok {
			t.last = i
			return i
		}
		return none
	}
	for i := range t.names {
		if t.names[i] == name {
			t.last = i
			return i
		}
	}
	return none
}

// number returns the number of a name and whether it was added just now.
func (t *table[K, V]) number(name K) (i int, added bool) {
	if i := t.find(name); i != none {
		return i, false
	}
	i = len(t.names)
	t.names = append(t.names, name)
	if i < cap(t.values) {
		t.values = t.values[:i+1]
	} else {
		var zero V
		t.values = append(t.values, zero)
	}
	t.last = i
	t.remember(i)
	return i, true
}

func (t *table[K, V]) remember(i int) {
	switch {
	case i < scanned:
	case i == scanned:
		if t.byName == nil {
			t.byName = make(map[K]int, 4*scanned)
		}
		for j, name := range t.names {
			t.byName[name] = j
		}
	default:
		t.byName[t.names[i]] = i
	}
}

func (t *table[K, V]) reset() {
	t.names, t.values, t.last = t.names[:0], t.values[:0], 0
	if len(t.byName) > 0 {
		clear(t.byName)
	}
}
